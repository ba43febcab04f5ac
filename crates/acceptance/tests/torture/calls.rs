//! The record of the outside world, call by call.

use jiff::Timestamp;
use kcp_acceptance::torture::wire::Request;

use crate::ledger::{CallEvent, Event, OperationReading};

/// One call as the outside world saw it.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub request: &'a Request,
    /// The place of its arrival in the record.
    pub seq: u64,
    pub received_at: Timestamp,
    /// The state in the database while the caller waited.
    pub seen: Option<&'a OperationReading>,
    pub refused: bool,
    pub applied: bool,
    /// The place of the last that was recorded of it.
    pub last_seq: u64,
}

/// Puts together what belongs together; `Err` when the record has gaps.
pub(crate) fn calls(events: &[Event]) -> Result<Vec<Call<'_>>, String> {
    let mut calls: Vec<(u64, Call<'_>)> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if event.seq != at as u64 + 1 {
            return Err(format!("entry {} of the record is numbered {}", at + 1, event.seq));
        }
        if let CallEvent::Received(request) = &event.what {
            let call = Call {
                request,
                seq: event.seq,
                received_at: event.at,
                seen: None,
                refused: false,
                applied: false,
                last_seq: event.seq,
            };
            calls.push((event.call, call));
            continue;
        }
        let known = calls.binary_search_by_key(&event.call, |(number, _)| *number);
        let Ok(known) = known else {
            return Err(format!("call {} was answered and never received", event.call));
        };
        let call = &mut calls[known].1;
        call.last_seq = event.seq;
        match &event.what {
            CallEvent::Saw(seen) => call.seen = Some(seen),
            CallEvent::Refused => call.refused = true,
            CallEvent::Applied => call.applied = true,
            _ => {}
        }
    }
    Ok(calls.into_iter().map(|(_, call)| call).collect())
}
