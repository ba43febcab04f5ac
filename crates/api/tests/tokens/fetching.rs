//! Fetches of an issuer's keys: one for all who wait; a client that hangs up does not end it.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use api::auth::TokenRejection;
use futures::future::join_all;
use jsonwebtoken::Algorithm;

use crate::{drafts::Draft, support::tokens::KeyServer};

/// Polls a future so many times and drops it; tells whether it was ready by then.
async fn dropped_after(polls: usize, future: impl Future) -> bool {
    let (mut future, mut left) = (pin!(future), polls);
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_client_that_hangs_up_during_the_key_fetch_locks_nobody_out() {
    let server = KeyServer::start().await;
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);

    for polls in 0.. {
        let verifier = server.verifier();
        let asked = server.asked();
        let ready = dropped_after(polls, verifier.verify(&token)).await;

        let next = verifier.verify(&token).await;
        assert!(next.is_ok(), "hung up after {polls} polls: {next:?}");
        assert_eq!(server.asked(), asked + 1, "hung up after {polls} polls");
        if ready {
            assert!(polls > 1, "the fetch was waited for");
            break;
        }
    }
}

#[tokio::test]
async fn clients_that_keep_hanging_up_do_not_make_the_key_server_look_dead() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);
    server.hold();

    for _ in 0..100 {
        dropped_after(1, verifier.verify(&token)).await;
    }
    let (good, ()) = tokio::join!(verifier.verify(&token), async {
        server.asked_times(1).await;
        server.release();
    });

    assert!(good.is_ok(), "{good:?}");
    assert_eq!(server.asked(), 1);
}

#[tokio::test]
async fn all_who_wait_for_a_dead_key_server_wait_for_the_same_fetch() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);
    server.hold();
    server.go_down();

    let waiting = join_all((0..50).map(|_| verifier.verify(&token)));
    let (answers, ()) = tokio::join!(waiting, async {
        server.asked_times(1).await;
        server.release();
    });

    assert!(answers.iter().all(|answer| matches!(answer, Err(TokenRejection::Unavailable(_)))));
    assert_eq!(server.asked(), 1);
    assert!(matches!(verifier.verify(&token).await, Err(TokenRejection::Unavailable(_))));
    assert_eq!(server.asked(), 1, "a failure counts for five seconds");
}

#[tokio::test]
async fn requests_with_a_known_key_do_not_wait_for_a_refresh_of_another_request() {
    let server = KeyServer::start().await;
    let verifier = server.verifier();
    let token = Draft::good(&server).signed(Algorithm::RS256, &server.rsa.private);
    assert!(verifier.verify(&token).await.is_ok());
    server.clock.advance(Duration::from_mins(11));
    server.hold();

    dropped_after(1, verifier.verify(&token)).await;
    assert!(verifier.verify(&token).await.is_ok());

    server.asked_times(2).await;
    server.release();
}
