//! Expected results of a client for every fault of one call.

use std::{fmt::Debug, time::Duration};

use clients::{Error, Kind};
pub(crate) use simulators::testing::{Fault, Speaks};
use simulators::{
    ledger::{Filter, Ledger},
    trouble::{Cut, Rule, Troubles},
};

/// The usual result for clients, unless their row says otherwise.
fn usually(fault: Fault, changes: bool) -> Expected {
    let unanswered = if changes { Kind::AnswerLost } else { Kind::Unavailable };
    Expected::Fails(match fault {
        Fault::Reset(Cut::AfterBody) | Fault::Mistyped | Fault::Phantom | Fault::Duplicate => {
            return Expected::Works;
        }
        Fault::Reset(_) | Fault::Truncated | Fault::LostAnswer | Fault::Silent => unanswered,
        Fault::HalfJson | Fault::Empty => Kind::Malformed,
        Fault::BusyForSeconds | Fault::BusyUntil => {
            Kind::Throttled { retry_after: Some(Fault::WAIT) }
        }
        Fault::Status(status) | Fault::AppliedThen(status) => match status {
            401 | 403 => Kind::Unauthorized,
            404 => Kind::NotFound,
            409 => Kind::Conflict,
            429 => Kind::Throttled { retry_after: None },
            408 | 425 | 500.. => Kind::Unavailable,
            status => Kind::Refused { status },
        },
    })
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// As if nothing had happened.
    Works,
    /// With this kind of failure.
    Fails(Kind),
}

/// One request of one call: what the fault happens to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) system: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// A text in the body, where path and method do not say enough.
    pub(crate) body: &'static str,
    /// How many such requests meet it.
    pub(crate) times: u64,
    pub(crate) speaks: Speaks,
    /// Whether the request changes something.
    pub(crate) changes: bool,
}

/// Lets every fault happen to a request of a call, and then makes the call again without it.
///
/// `except` says where this call differs from what is usual. `call` gets a number that is another one
/// for each fault and the same for the repetition; what the repetition gives goes to `check`.
pub(crate) async fn for_each_fault<T: Debug>(
    (troubles, ledger): (&Troubles, &Ledger),
    row: Row,
    except: impl Fn(Fault) -> Option<Expected>,
    call: impl AsyncFn(usize) -> Result<T, Error>,
    check: impl Fn(usize, T),
) {
    for (number, fault) in Fault::ALL.into_iter().enumerate() {
        let kind = fault.trouble(row.speaks);
        let name = kind.name();
        let before = *ledger.last().borrow();
        let rule = Rule::next(row.times, kind).of(row.system).on(row.method, row.path);
        troubles.add(rule.holding(row.body)).unwrap();

        let first = call(number).await;
        troubles.clear(None).unwrap();
        let again = call(number).await;

        let met = ledger.page(before, &Filter::default(), 1_000).unwrap().entries;
        assert!(met.iter().any(|line| line.trouble.as_deref() == Some(name)), "{fault:?} is met");
        let expected = except(fault).unwrap_or_else(|| usually(fault, row.changes));
        assert!(fits(&first, expected), "{row:?} {fault:?}: {first:?} is not {expected:?}");
        let again = again.unwrap_or_else(|error| panic!("{row:?} after {fault:?}: {error:?}"));
        check(number, again);
    }
}

fn fits<T>(found: &Result<T, Error>, expected: Expected) -> bool {
    match (found, expected) {
        (Ok(_), Expected::Works) => true,
        (Err(error), Expected::Fails(kind)) => match (error.kind, kind) {
            // A date has whole seconds, and some time passes on the way.
            (
                Kind::Throttled { retry_after: Some(found) },
                Kind::Throttled { retry_after: Some(wanted) },
            ) => found <= wanted && found + Duration::from_secs(10) >= wanted,
            (found, wanted) => found == wanted,
        },
        _ => false,
    }
}
