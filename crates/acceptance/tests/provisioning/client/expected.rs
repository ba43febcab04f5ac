//! The expected result of a call for each fault.
//!
//! What a reader would get wrong: questions are POST requests too, so that a client that gets no answer is told that something
//! may have been done.

use std::time::Duration;

use base::failure::StepError;
use clients::{Error, Kind};
use simulators::{testing::Fault, trouble::Cut};

/// What happens to a call of the provisioner. The trouble of an answer that pretends is left out: it is made by what keeps
/// the state of a simulated system, and this one keeps its own.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    Fault::ALL.into_iter().filter(|fault| *fault != Fault::Phantom)
}

/// The kind of failure that a fault is to the caller; none where the call works all the same.
pub(super) fn expected(fault: Fault) -> Option<Kind> {
    Some(match fault {
        Fault::Reset(Cut::AfterBody) | Fault::Mistyped | Fault::Duplicate | Fault::Phantom => {
            return None;
        }
        // One new token, and it is let in.
        Fault::Status(401) => return None,
        Fault::Reset(_) | Fault::Truncated | Fault::LostAnswer | Fault::Silent => Kind::AnswerLost,
        Fault::HalfJson | Fault::Empty => Kind::Malformed,
        Fault::BusyForSeconds | Fault::BusyUntil => {
            Kind::Throttled { retry_after: Some(Fault::WAIT) }
        }
        Fault::Status(status) | Fault::AppliedThen(status) => match status {
            403 => Kind::Unauthorized,
            409 => Kind::Conflict,
            429 => Kind::Throttled { retry_after: None },
            408 | 425 | 500.. => Kind::Unavailable,
            // There is one endpoint: that it is not there says nothing about a runtime.
            status => Kind::Refused { status },
        },
    })
}

/// How many requests a call and its repetition are.
pub(super) fn requests(fault: Fault) -> usize {
    match fault {
        // Delivered twice, or sent twice.
        Fault::Duplicate | Fault::Status(401) => 3,
        _ => 2,
    }
}

/// Fails unless the failure is what the fault should be, and the step is told to go on or to stop.
pub(super) fn check(error: &Error, fault: Fault, kind: Kind) {
    match (error.kind, kind) {
        // A date has whole seconds, and some time passes on the way.
        (
            Kind::Throttled { retry_after: Some(found) },
            Kind::Throttled { retry_after: Some(wanted) },
        ) => assert!(found <= wanted && found + Duration::from_secs(15) >= wanted, "{error:?}"),
        (found, wanted) => assert_eq!(found, wanted, "{fault:?}: {error:?}"),
    }
    let stops = matches!(fault, Fault::Status(400 | 404 | 409 | 422));
    let asks_to_wait = matches!(fault, Fault::BusyForSeconds | Fault::BusyUntil);
    match StepError::from(error.clone()) {
        StepError::Fatal(_) => assert!(stops, "{fault:?} is worth another try"),
        StepError::Transient { retry_after, .. } => {
            assert!(!stops, "{fault:?} is final");
            assert_eq!(retry_after.is_some(), asks_to_wait, "{fault:?}");
        }
        StepError::NotHeld => panic!("{fault:?}: nobody took the operation away"),
    }
}
