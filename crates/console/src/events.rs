//! What happens to operations, as server-sent events for open pages: which operation, of which instance, and nothing else.
//!
//! A page that hears of what it shows loads itself again. Nothing is asked for while nothing happens. What another replica has changed is
//! known a moment later, on PostgreSQL by its notifications.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{
        Sse,
        sse::{Event, KeepAlive},
    },
};
use broker::operations::view::{self, ChangedElsewhere};
use futures::{
    Stream, StreamExt,
    stream::{self, select},
};
use serde_json::{Value, json};
use tokio_stream::wrappers::{BroadcastStream, errors::BroadcastStreamRecvError};

use crate::{
    Console,
    access::{OPERATIONS_READ, Person},
    error::PageError,
};

/// How often a connection on which nothing happens is proven to be there.
const QUIET: Duration = Duration::from_secs(15);

pub(crate) async fn events(
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
    let operations = &console.parts().operations;
    let own = BroadcastStream::new(operations.events()).map(own);
    let elsewhere = BroadcastStream::new(operations.changed_elsewhere())
        .map(|changed| elsewhere(changed.ok().as_deref()));
    let events = select(own, elsewhere)
        .flat_map(stream::iter)
        .filter_map(async |data| Event::default().event("operation").json_data(data).ok().map(Ok))
        .take_until(ends);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(QUIET)))
}

/// What this replica has done. Something that was missed is a reason to look as well.
fn own(event: Result<Arc<view::Event>, BroadcastStreamRecvError>) -> Vec<Value> {
    vec![event.map_or_else(
        |_| any(),
        |event| json!({"operation": event.operation, "instance": event.instance}),
    )]
}

/// What other replicas have changed; none for something that was missed.
fn elsewhere(changed: Option<&ChangedElsewhere>) -> Vec<Value> {
    match changed {
        Some(ChangedElsewhere::Operations(named)) => named
            .iter()
            .map(|it| json!({"operation": it.operation, "instance": it.instance}))
            .collect(),
        Some(ChangedElsewhere::Any) | None => vec![any()],
    }
}

/// Anything may have happened.
fn any() -> Value {
    json!({"operation": null, "instance": null})
}

#[cfg(test)]
mod tests {
    use broker::operations::view::ChangedOperation;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn changes_of_other_replicas_are_named_one_by_one_and_what_was_missed_is_anything() {
        let named = |n, instance: Option<&str>| ChangedOperation {
            operation: Uuid::from_u128(n),
            instance: instance.map(str::to_owned),
        };
        let changed = ChangedElsewhere::Operations(vec![named(1, Some("i")), named(2, None)]);

        assert_eq!(
            elsewhere(Some(&changed)),
            [
                json!({"operation": Uuid::from_u128(1), "instance": "i"}),
                json!({"operation": Uuid::from_u128(2), "instance": null}),
            ]
        );
        for anything in [elsewhere(Some(&ChangedElsewhere::Any)), elsewhere(None)] {
            assert_eq!(anything, [json!({"operation": null, "instance": null})]);
        }
    }
}
