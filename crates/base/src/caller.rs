//! The caller of an outside system, and its idempotency keys.
//!
//! The engine puts a [`Caller`] around every run of a step; clients wrap each outside call in
//! [`call`]. What a reader would get wrong: the key has no run number in it, because it must be the
//! same in every run of the step. A call that makes something has a named [`Key`]; the others are
//! numbered in the order of the run, so their keys change with every call that is added before them.

mod key;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use uuid::Uuid;

pub use key::Key;

tokio::task_local! {
    static CALLER: Caller;
}

/// One run of one step, as outside systems may see it.
#[derive(Clone)]
pub struct Caller {
    /// The operation that runs.
    pub operation: Uuid,
    /// The operation it continues, or itself.
    pub root: Uuid,
    /// The step that runs.
    pub step: String,
    /// Which run of the operation this is.
    pub run: i64,
    /// The epoch under which this replica holds the operation.
    pub epoch: i64,
    /// The replica that runs it.
    pub replica: Uuid,
    /// How many outside calls this run has made.
    pub calls: Arc<AtomicU32>,
    /// Set by tests that plant a bug: puts the run number into the key.
    pub key_per_run: bool,
    /// Called before and after each call.
    pub guard: Arc<dyn Guard>,
}

/// Decides whether a call may begin, and sees it end.
pub trait Guard: Send + Sync {
    /// Asked right before the call leaves the process.
    fn before<'a>(&'a self, call: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;
    /// Called when the answer is here.
    fn after<'a>(&'a self, call: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;
}

/// The verdict of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Go,
    /// This replica does not own the operation any more, or is stopping: no further call may begin.
    Stop,
    /// Tests only: treat the answer as lost.
    Lose,
}

/// One outside call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Stable over all runs of the step: root operation, step, and the call's name or its number in the run.
    pub key: String,
    /// The operation that runs.
    pub operation: Uuid,
    /// The step that runs.
    pub step: String,
    /// Which run of the operation this is.
    pub run: i64,
    /// The epoch under which the operation is held.
    pub epoch: i64,
    /// The replica that calls.
    pub replica: Uuid,
}

impl Call {
    /// The headers that carry the caller; real systems ignore them.
    pub fn headers(&self) -> [(&'static str, String); 6] {
        [
            ("idempotency-key", self.key.clone()),
            ("x-kcp-operation", self.operation.to_string()),
            ("x-kcp-step", self.step.clone()),
            ("x-kcp-run", self.run.to_string()),
            ("x-kcp-epoch", self.epoch.to_string()),
            ("x-kcp-replica", self.replica.to_string()),
        ]
    }
}

/// Why a call has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallInterruption {
    /// The replica does not own the operation any more, or is stopping.
    #[error("the operation is not held here any more")]
    NotHeld,
    /// The call may have been applied; its answer is gone.
    #[error("the answer was lost")]
    AnswerLost,
}

impl Caller {
    /// Runs `work` as this caller.
    pub fn scope<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        CALLER.scope(self, work)
    }

    fn next_call(&self) -> Call {
        let next_number = || self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let name = key::of_next_call(next_number);
        let mut key = format!("{}/{}/{name}", self.root, self.step);
        if self.key_per_run {
            key = format!("{key}/{}", self.run);
        }
        Call {
            key,
            operation: self.operation,
            step: self.step.clone(),
            run: self.run,
            epoch: self.epoch,
            replica: self.replica,
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("operation", &self.operation)
            .field("step", &self.step)
            .field("run", &self.run)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

/// The caller of the step that runs in this task, if one does.
pub fn current() -> Option<Caller> {
    CALLER.try_with(Clone::clone).ok()
}

/// Makes one outside call: `make` gets the call's key and headers, or `None` outside of steps.
pub async fn call<T, F>(make: impl FnOnce(Option<Call>) -> F) -> Result<T, CallInterruption>
where
    F: Future<Output = T>,
{
    let Some(caller) = current() else {
        return Ok(make(None).await);
    };
    let call = caller.next_call();
    if caller.guard.before(&call).await != Verdict::Go {
        return Err(CallInterruption::NotHeld);
    }
    let answer = make(Some(call.clone())).await;
    match caller.guard.after(&call).await {
        // An answer that is here is never thrown away: it may hold the only id of something that was made. Nothing can be
        // done with it but to write it down, because no further call begins.
        Verdict::Go | Verdict::Stop => Ok(answer),
        Verdict::Lose => Err(CallInterruption::AnswerLost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedVerdict(Verdict);

    impl Guard for FixedVerdict {
        fn before<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
            Box::pin(std::future::ready(self.0))
        }
        fn after<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
            Box::pin(std::future::ready(self.0))
        }
    }

    fn caller(verdict: Verdict, run: i64) -> Caller {
        Caller {
            operation: Uuid::nil(),
            root: Uuid::nil(),
            step: "Create_Runtime".into(),
            run,
            epoch: 1,
            replica: Uuid::nil(),
            calls: Arc::default(),
            key_per_run: false,
            guard: Arc::new(FixedVerdict(verdict)),
        }
    }

    async fn keys_of_two_calls() -> [String; 2] {
        let key = async |call: Option<Call>| call.unwrap().key;
        [call(key).await.unwrap(), call(key).await.unwrap()]
    }

    #[tokio::test]
    async fn keys_are_the_same_in_every_run_and_differ_between_calls() {
        let first = caller(Verdict::Go, 1).scope(keys_of_two_calls()).await;
        let second = caller(Verdict::Go, 2).scope(keys_of_two_calls()).await;

        assert_eq!(first, second);
        assert_ne!(first[0], first[1]);
    }

    #[tokio::test]
    async fn a_call_that_is_added_changes_the_numbers_behind_it_and_no_name() {
        let key = async |call: Option<Call>| call.unwrap().key;
        let order = async || Key::named("order").scope(call(key)).await.unwrap();
        let before = caller(Verdict::Go, 1).scope(order()).await;

        let (order_key, other_key) = caller(Verdict::Go, 1)
            .scope(async {
                call(key).await.unwrap();
                (order().await, call(key).await.unwrap())
            })
            .await;

        assert_eq!(order_key, before);
        assert!(order_key.ends_with("/Create_Runtime/order"), "{order_key}");
        assert!(other_key.ends_with("/Create_Runtime/2"), "{other_key}");
    }

    #[tokio::test]
    async fn a_call_that_was_released_under_its_number_keeps_it() {
        let key = async |call: Option<Call>| call.unwrap().key;
        let numbered = caller(Verdict::Go, 1).scope(call(key)).await.unwrap();
        let named = async || Key::named("order").formerly(1).scope(call(key)).await.unwrap();

        let (order_key, next_key) =
            caller(Verdict::Go, 2).scope(async { (named().await, call(key).await.unwrap()) }).await;

        assert_eq!(order_key, numbered);
        assert!(next_key.ends_with("/Create_Runtime/2"), "it counts as it did: {next_key}");
    }

    #[tokio::test]
    async fn several_calls_under_one_name_have_keys_of_their_own() {
        let key = async |call: Option<Call>| call.unwrap().key;
        let both = async || (call(key).await.unwrap(), call(key).await.unwrap());

        let third = Key::named("order").nth(3);
        let (first, second) = caller(Verdict::Go, 1).scope(third.scope(both())).await;

        assert!(first.ends_with("/Create_Runtime/order/3"), "{first}");
        assert!(second.ends_with("/Create_Runtime/order/3/call-2"), "{second}");
    }

    #[tokio::test]
    async fn no_call_begins_once_the_operation_is_not_held() {
        let made = caller(Verdict::Stop, 1)
            .scope(call(async |_| unreachable!("the call must not be made")))
            .await;

        assert_eq!(made, Err::<(), _>(CallInterruption::NotHeld));
    }

    struct StopsMeanwhile;

    impl Guard for StopsMeanwhile {
        fn before<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
            Box::pin(std::future::ready(Verdict::Go))
        }
        fn after<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
            Box::pin(std::future::ready(Verdict::Stop))
        }
    }

    #[tokio::test]
    async fn an_answer_that_has_arrived_is_given_even_when_the_lease_ended_meanwhile() {
        let caller = Caller { guard: Arc::new(StopsMeanwhile), ..caller(Verdict::Go, 1) };

        let answer = caller.scope(call(async |_| 910_003)).await;

        assert_eq!(answer, Ok(910_003));
    }

    #[tokio::test]
    async fn outside_of_steps_calls_go_through_without_a_key() {
        assert_eq!(call(async |call: Option<Call>| call.is_none()).await, Ok(true));
    }
}
