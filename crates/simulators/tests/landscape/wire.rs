//! Cut responses on the wire, seen by a client without HTTP.

use std::io::ErrorKind;

use simulators::trouble::{Cut, Kind, Rule};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::world::World;

/// Everything that comes back on a connection that stays open unless the server ends it, and how
/// it ends.
async fn received(world: &World, kind: Kind) -> (String, Option<ErrorKind>) {
    world.trouble(Rule::next(1, kind));
    let mut stream = TcpStream::connect(&world.address).await.unwrap();
    let request = format!("GET /.well-known/jwks.json HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes).await;
    (String::from_utf8(bytes).unwrap(), end.err().map(|error| error.kind()))
}

const RESET: Option<ErrorKind> = Some(ErrorKind::ConnectionReset);
const CLOSED: Option<ErrorKind> = None;

fn announced(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn nothing_comes_back_when_the_cut_is_before_the_headers() {
    let world = World::new().await;

    for (kind, end) in [
        (Kind::Reset { when: Cut::BeforeHeaders }, RESET),
        (Kind::Down { refuse: true }, RESET),
        (Kind::LostAnswer { status: None }, CLOSED),
    ] {
        assert_eq!(received(&world, kind).await, (String::new(), end));
    }
}

#[tokio::test]
async fn only_headers_come_back_when_the_cut_is_after_them() {
    let world = World::new().await;

    let (text, end) = received(&world, Kind::Reset { when: Cut::AfterHeaders }).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();

    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(announced(head) > 100);
    assert_eq!((body, end), ("", RESET));
}

#[tokio::test]
async fn a_truncated_body_is_shorter_than_announced() {
    let world = World::new().await;

    for (kind, expected) in [(Kind::Truncated, CLOSED), (Kind::Reset { when: Cut::InBody }, RESET)]
    {
        let (text, end) = received(&world, kind).await;
        let (head, body) = text.split_once("\r\n\r\n").unwrap();

        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        assert_eq!((body.len(), end), (announced(head) / 2, expected));
    }
}

#[tokio::test]
async fn a_whole_answer_can_be_followed_by_a_reset() {
    let world = World::new().await;

    let (text, end) = received(&world, Kind::Reset { when: Cut::AfterBody }).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();

    assert_eq!((body.len(), end), (announced(head), RESET));
}

#[tokio::test]
async fn whoever_hangs_up_on_a_silent_system_leaves_nothing_behind() {
    let mut world = World::new().await;
    world.trouble(Rule::next(1, Kind::Silent));
    let mut stream = TcpStream::connect(&world.address).await.unwrap();
    let request = format!("GET /.well-known/jwks.json HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut last = world.landscape.ledger().last();
    last.wait_for(|last| *last == 1).await.unwrap();

    drop(stream);

    world.open().wait_for(|open| *open == 0).await.unwrap();
    let sums = world.landscape.ledger().sums("issuer");
    assert_eq!((sums.received, sums.replied, sums.lost), (1, 0, 1));
}
