//! Questions: answered after every fault, and nothing comes of them.

use super::{
    call::{Call, Subject},
    side::Side,
};

const QUESTIONS: [Call; 3] = [Call::OperationStatus, Call::RuntimeStatus, Call::Check];

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_after_every_fault_and_changes_nothing() {
    let side = Side::start().await;
    let subject = side.made("c-1").await;
    let worked = side.worked();

    let asked = subject.clone();
    let trials = side
        .for_each_fault(|side, fault, name| {
            let subject = Subject { name, ..asked.clone() };
            async move {
                let mut trials = Vec::new();
                for question in QUESTIONS {
                    let trial = side.meet(question, fault, &subject).await;
                    if question != Call::Check {
                        assert_eq!(trial.operation(), subject.operation, "{question:?} {fault:?}");
                    }
                    trials.push(trial);
                }
                trials
            }
        })
        .await;

    side.judge(&trials);
    assert_eq!(side.worked(), worked);
    let entries = ["registerRuntime", "unregisterRuntime"].map(|what| side.in_director(what));
    assert_eq!(entries, [1, 0]);
    assert_eq!(side.shoots().into_iter().collect::<Vec<_>>(), [subject.name]);
}
