//! A client that hangs up at any moment of a bind or an unbind leaves no binding that nobody works on.
//!
//! What a reader would get wrong: time stands still for the bindings, so one that is held by nobody stays so.

use std::{
    future::poll_fn,
    pin::pin,
    task::Poll::{Pending, Ready},
    time::Duration,
};

use broker::instances::Error;

use super::BoundRuntime;

on_both_databases! {
    a_client_that_hangs_up_during_a_bind_holds_nothing,
    a_client_that_hangs_up_during_an_unbind_holds_nothing,
}

/// Drops a future that has been polled so often, when it would go on; whether it was ready before.
async fn dropped_after<F: Future>(mut polls: usize, future: F) -> bool {
    let mut future = pin!(future);
    poll_fn(|context| {
        if polls == 0 {
            return Ready(false);
        }
        polls -= 1;
        if future.as_mut().poll(context).is_ready() { Ready(true) } else { Pending }
    })
    .await
}

/// Removes the binding, which somebody may still be at.
async fn removed(runtime: &BoundRuntime, polls: usize) {
    let removing = async {
        loop {
            match runtime.unbind("b-1").await {
                Ok(()) | Err(Error::Gone | Error::Busy) => {}
                Err(error) => panic!("{polls} polls: {error}"),
            }
            if (runtime.made().len(), runtime.stored().await) == (0, 0) {
                return;
            }
            runtime.outside.clock.sleep(Duration::from_millis(5)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_mins(2), removing).await;
    assert!(ended.is_ok(), "nobody works on the binding that was dropped after {polls} polls");
}

async fn a_client_that_hangs_up_during_a_bind_holds_nothing(runtime: BoundRuntime) {
    for polls in 1.. {
        let ended = dropped_after(polls, Box::pin(runtime.bind("b-1"))).await;
        removed(&runtime, polls).await;
        if ended {
            return;
        }
    }
}

async fn a_client_that_hangs_up_during_an_unbind_holds_nothing(runtime: BoundRuntime) {
    for polls in 1.. {
        runtime.bind("b-1").await.unwrap();
        let ended = dropped_after(polls, Box::pin(runtime.unbind("b-1"))).await;
        removed(&runtime, polls).await;
        if ended {
            return;
        }
    }
}
