//! What happens to operations, as server-sent events for open pages: which operation, of which instance, and nothing else.
//!
//! A page that hears of what it shows loads itself again. Nothing is asked for while nothing happens.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    response::{
        Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{Stream, StreamExt};
use serde_json::json;
use tokio_stream::wrappers::BroadcastStream;

use crate::{
    Console,
    access::{OPERATIONS_READ, Person},
    error::PageError,
};

/// How often a connection on which nothing happens is proven to be there.
const QUIET: Duration = Duration::from_secs(15);

pub(crate) async fn stream(
    State(console): State<Console>,
    person: Person,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let place = console.streams().take(&person.form).map_err(PageError::TooMany)?;
    let clock = console.parts().broker.parts().clock.clone();
    let until = person.until;
    let ends = async move {
        // Held for as long as the stream is.
        let _place = place;
        match until {
            Some(until) => clock.sleep_until(until).await,
            None => std::future::pending().await,
        }
    };
    let events = BroadcastStream::new(console.parts().operations.events())
        .filter_map(|event| async {
            // One that was missed is a reason to look as well.
            let data = match event {
                Ok(event) => json!({"operation": event.operation, "instance": event.instance}),
                Err(_) => json!({"operation": null, "instance": null}),
            };
            Event::default().event("operation").json_data(data).ok().map(Ok)
        })
        .take_until(ends);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(QUIET)))
}
