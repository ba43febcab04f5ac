//! All that can happen to one call, and what a client should make of it.

use std::{fmt::Debug, time::Duration};

use clients::{Error, Kind};
use serde_json::json;
use simulators::{
    ledger::{Filter, Ledger},
    trouble::{self, Cut, Rule, Troubles},
};

/// Something that happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is reset when so much of the answer has left.
    Reset(Cut),
    /// The body is shorter than announced.
    Truncated,
    /// Applied, and the connection ends without an answer.
    LostAnswer,
    /// Applied, and answered with this status.
    AppliedThen(u16),
    /// Not applied, and answered with this status.
    Status(u16),
    /// 429 with the time to wait in seconds.
    BusyForSeconds,
    /// 429 with the time to wait as a date.
    BusyUntil,
    /// Applied, and answered with half a JSON text.
    HalfJson,
    /// Applied, and answered with nothing.
    Empty,
    /// Applied and answered, under another media type.
    Mistyped,
    /// Never answered, and not applied.
    Silent,
    /// Answered as if it were applied.
    Phantom,
    /// Delivered twice.
    Duplicate,
}

/// How long 429 asks to wait.
pub(crate) const WAIT: Duration = Duration::from_secs(30);

impl Fault {
    /// Every fault.
    pub(crate) const ALL: [Self; 28] = [
        Self::Reset(Cut::BeforeHeaders),
        Self::Reset(Cut::AfterHeaders),
        Self::Reset(Cut::InBody),
        Self::Reset(Cut::AfterBody),
        Self::Truncated,
        Self::LostAnswer,
        Self::AppliedThen(500),
        Self::AppliedThen(504),
        Self::Status(400),
        Self::Status(401),
        Self::Status(403),
        Self::Status(404),
        Self::Status(408),
        Self::Status(409),
        Self::Status(422),
        Self::Status(425),
        Self::Status(429),
        Self::BusyForSeconds,
        Self::BusyUntil,
        Self::Status(500),
        Self::Status(502),
        Self::Status(503),
        Self::HalfJson,
        Self::Empty,
        Self::Mistyped,
        Self::Silent,
        Self::Phantom,
        Self::Duplicate,
    ];

    pub(crate) fn trouble(self, speaks: Speaks) -> trouble::Kind {
        let retry_after_seconds = WAIT.as_secs();
        match self {
            Self::Reset(when) => trouble::Kind::Reset { when },
            Self::Truncated => trouble::Kind::Truncated,
            Self::LostAnswer => trouble::Kind::LostAnswer { status: None },
            Self::AppliedThen(status) => trouble::Kind::LostAnswer { status: Some(status) },
            Self::Status(status) => trouble::Kind::Status { status, body: speaks.refusal(status) },
            Self::BusyForSeconds => trouble::Kind::Busy { retry_after_seconds, as_date: false },
            Self::BusyUntil => trouble::Kind::Busy { retry_after_seconds, as_date: true },
            Self::HalfJson => trouble::Kind::Malformed { body: None },
            Self::Empty => trouble::Kind::Malformed { body: Some(String::new()) },
            Self::Mistyped => trouble::Kind::Mistyped { media: "text/html".into() },
            Self::Silent => trouble::Kind::Silent,
            Self::Phantom => trouble::Kind::Phantom,
            Self::Duplicate => trouble::Kind::Duplicate,
        }
    }

    /// What clients make of it unless their row says otherwise.
    fn usually(self, changes: bool) -> Expected {
        let unanswered = if changes { Kind::AnswerLost } else { Kind::Unavailable };
        Expected::Fails(match self {
            Self::Reset(Cut::AfterBody) | Self::Mistyped | Self::Phantom | Self::Duplicate => {
                return Expected::Works;
            }
            Self::Reset(_) | Self::Truncated | Self::LostAnswer | Self::Silent => unanswered,
            Self::HalfJson | Self::Empty => Kind::Malformed,
            Self::BusyForSeconds | Self::BusyUntil => Kind::Throttled { retry_after: Some(WAIT) },
            Self::Status(status) | Self::AppliedThen(status) => match status {
                401 | 403 => Kind::Unauthorized,
                404 => Kind::NotFound,
                409 => Kind::Conflict,
                429 => Kind::Throttled { retry_after: None },
                408 | 425 | 500.. => Kind::Unavailable,
                status => Kind::Refused { status },
            },
        })
    }
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// As if nothing had happened.
    Works,
    /// With this kind of failure.
    Fails(Kind),
}

/// How a system words its refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// As a gateway: a page.
    Html,
    /// As an API server: a Status.
    Kubernetes,
}

impl Speaks {
    fn refusal(self, status: u16) -> Option<String> {
        let reason = match status {
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            409 => "Conflict",
            422 => "Invalid",
            429 => "TooManyRequests",
            500 => "InternalError",
            503 => "ServiceUnavailable",
            // What API servers do not say themselves comes from a gateway.
            _ => return None,
        };
        let said = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
            "reason": reason, "message": "no", "details": {"name": "c-1"},
        });
        (self == Self::Kubernetes).then(|| said.to_string())
    }
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
        let expected = except(fault).unwrap_or_else(|| fault.usually(row.changes));
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
