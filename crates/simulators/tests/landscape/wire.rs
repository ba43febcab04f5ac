//! What cut answers look like on the wire, to a client that knows nothing of HTTP.

use simulators::trouble::{Cut, Kind, Rule};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::world::World;

/// Everything that comes back on a connection that stays open unless the server ends it.
async fn received(world: &World, kind: Kind) -> String {
    world.trouble(Rule::next(1, kind));
    let mut stream = TcpStream::connect(&world.address).await.unwrap();
    let request = format!("GET /.well-known/jwks.json HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // Whether the end comes as a reset or as a plain close is up to the system.
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).unwrap()
}

fn announced(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn nothing_comes_back_when_the_cut_is_before_the_headers() {
    let world = World::new().await;

    for kind in [
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Down { refuse: true },
        Kind::LostAnswer { status: None },
    ] {
        assert_eq!(received(&world, kind).await, "");
    }
}

#[tokio::test]
async fn only_headers_come_back_when_the_cut_is_after_them() {
    let world = World::new().await;

    let text = received(&world, Kind::Reset { when: Cut::AfterHeaders }).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();

    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(announced(head) > 100);
    assert_eq!(body, "");
}

#[tokio::test]
async fn a_truncated_body_is_shorter_than_announced() {
    let world = World::new().await;

    let text = received(&world, Kind::Truncated).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();

    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert_eq!(body.len(), announced(head) / 2);
}
