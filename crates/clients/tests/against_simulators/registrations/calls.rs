//! Every call of the five clients: how it is made, what it must look like on the wire, what is answered.

mod avs;
mod edp;
mod ias;
mod lms;
mod spc;

use clients::Error;
use futures::future::BoxFuture;

use super::test_systems::TestSystems;

/// One call.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) make: fn(TestSystems) -> BoxFuture<'static, Result<(), Error>>,
    /// Method and path, with the query if there is one.
    pub(crate) asked: &'static str,
    /// JSON, or a form.
    pub(crate) body: Option<&'static str>,
    pub(crate) answer: (u16, &'static str),
    /// Statuses that are not what they usually are.
    pub(crate) special: &'static [(u16, Special)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// Nothing is wrong.
    Fine,
    /// The thing is there already.
    Exists,
}

const GONE_IS_FINE: &[(u16, Special)] = &[(404, Special::Fine)];
const TAKEN_IS_THERE: &[(u16, Special)] = &[(409, Special::Exists)];

macro_rules! call {
    ($name:literal, $asked:literal, $body:expr, $answer:expr, $special:expr, |$place:ident| $make:expr) => {
        Call {
            name: $name,
            make: |$place| Box::pin(async move { $make.await.map(drop) }),
            asked: $asked,
            body: $body,
            answer: $answer,
            special: $special,
        }
    };
}

use call;

pub(crate) fn all() -> Vec<Call> {
    [avs::all(), edp::all(), ias::all(), lms::all(), spc::all()].into_iter().flatten().collect()
}
