//! A step counts when the ledger shows its call and its undo. Steps that have neither are listed here, with the reason.
//!
//! What a reader would get wrong: what is made by a step is found in the ledger and not in this file. The lists only say what
//! goes with it: a step that makes something and is not listed, and one that is listed and makes nothing, fail the test.

use std::collections::BTreeSet;

use broker::operations::{Env, Limits};
use engine::{Operation, Plan};
use simulators::ledger::{Filter, Phase};

use crate::{
    made::{Broker, Ended, Plans},
    older,
    orders::Wish,
    outside::Outside,
    seen::View,
    service::SYSTEM,
};

/// Steps that call nobody, and why.
const CALL_FREE: [(&str, &str); 8] = [
    ("Starting", "takes the operation out of `pending`"),
    ("Init_Kyma_Template", "keeps what an earlier step has read"),
    ("BTPOperatorOverrides", "adds to what is collected"),
    ("BusolaMigratorOverrides", "adds to what is collected"),
    ("ServiceManagerOverrides", "adds to what is collected"),
    ("Create_Runtime_For_Own_Cluster", "draws an id for a cluster that is brought along"),
    ("Init_Step", "reads the broker's own rows"),
    ("Remove_Instance", "writes the broker's own row"),
];

/// Steps that make something, and the steps of which one undoes it; each plan of a removal has one of them.
const UNDONE: [(&str, &[&str]); 15] = [
    ("Resolve_Target_Secret", &["Release_Subscription", "Deprovision_Initialization"]),
    ("AVS_Create_Internal_Eval_Step", &["De-provision_AVS_Evaluations"]),
    ("AVS_Create_External_Eval_Step", &["De-provision_AVS_Evaluations"]),
    ("AVS_Tags", &["De-provision_AVS_Evaluations"]),
    ("AVS_Configuration_Step", &["De-provision_AVS_Evaluations"]),
    ("EDP_Registration", &["EDP_Deregistration"]),
    ("IAS_Registration", &["IAS_Deregistration"]),
    ("Initialization", &["IAS_Deregistration"]),
    ("Provision Azure Event Hubs", &["Deprovision Azure Event Hubs"]),
    ("Create_Runtime_Without_Kyma", &["Remove_Runtime"]),
    ("Create_Runtime", &["Remove_Runtime"]),
    ("Inject_BTP_Operator_Credentials", &["Remove_Runtime"]),
    ("Sync_Kubeconfig", &["Delete_Kubeconfig"]),
    ("Create_Cluster_Configuration", &["Deregister_Cluster"]),
    ("Apply_Kyma", &["Delete_Kyma_Resource"]),
];

/// Steps that make something that stays, and why.
const KEPT: [(&str, &str); 2] = [
    ("Create_LMS_Tenant", "the tenant is the global account's, and its other runtimes use it"),
    ("Request_LMS_Certificates", "a certificate ends by itself"),
];

/// An order and its end, and what the ledger says about them.
struct Lived {
    outside: Outside,
    made: Ended,
    removed: Ended,
    /// Steps of the plans, first those that make.
    steps: [Vec<String>; 2],
}

fn steps<O: Operation>(plan: Plan<O>) -> Vec<String> {
    let shape = plan.check().unwrap().shape;
    let steps = shape.stages.iter().flat_map(|stage| &stage.steps);
    steps.map(|step| step.name.clone()).collect()
}

impl Lived {
    async fn by(plans: fn(&Env) -> Plans) -> Self {
        let outside = Outside::start(&["aws", "azure"], 2).await;
        let env = outside.older(&outside.clock).await;
        let named = plans(&env);
        let steps = [steps(named.provisioning), steps(named.deprovisioning)];
        let plans = plans(&env);
        let broker = Broker::serving(&outside, env, plans).await;
        let made = broker.provision(&outside, &Wish::aws("proof")).await.completed();
        let removed = broker.deprovision(&made.order).await.completed();
        let left = View::of(&outside, &broker.store, &made.order).left().await;
        assert_eq!(left, Vec::<String>::new());
        Self { outside, made, removed, steps }
    }

    /// The steps of an operation that have called somebody.
    fn calling(&self, ended: &Ended) -> BTreeSet<String> {
        self.in_ledger(ended, Phase::Received)
    }

    /// The steps of an operation that have changed something outside. The provisioner's changes are its own.
    fn changing(&self, ended: &Ended) -> BTreeSet<String> {
        let mut changing = self.in_ledger(ended, Phase::Applied);
        let ordering = ["Create_Runtime_Without_Kyma", "Create_Runtime", "Remove_Runtime"];
        let operation = Some(ended.operation());
        let calls = self.outside.calls().into_iter();
        let calls = calls.filter(|call| call.system == SYSTEM && call.operation == operation);
        let ordered = calls.filter_map(|call| call.step);
        changing.extend(ordered.filter(|step| ordering.contains(&step.as_str())));
        changing
    }

    fn in_ledger(&self, ended: &Ended, phase: Phase) -> BTreeSet<String> {
        let operation = Some(ended.operation());
        let filter = Filter { operation, phase: Some(phase), ..Filter::default() };
        let all = self.outside.running.landscape.ledger().all(&filter).unwrap();
        all.into_iter().filter_map(|entry| entry.about.step).collect()
    }

    /// Every step calls somebody or is said to call nobody.
    fn no_step_is_silent(&self) {
        for (steps, ended) in self.steps.iter().zip([&self.made, &self.removed]) {
            let calling = self.calling(ended);
            let free = |step: &&String| CALL_FREE.iter().any(|(free, _)| free == step);
            let silent: Vec<_> =
                steps.iter().filter(|step| !calling.contains(*step) && !free(step)).collect();
            assert!(silent.is_empty(), "{silent:?} call nobody");
            let talking: Vec<_> = calling.iter().filter(free).collect();
            assert!(talking.is_empty(), "{talking:?} call somebody");
        }
    }

    /// What a step makes is undone by the step that is said to undo it, or said to stay.
    fn everything_is_undone(&self) {
        let (makes, removes) = (self.changing(&self.made), self.changing(&self.removed));
        let undone = |step: &str| UNDONE.iter().find(|(makes, _)| *makes == step);
        for step in &makes {
            match undone(step) {
                Some((_, undo)) => {
                    let undone = undo.iter().any(|undo| removes.contains(*undo));
                    assert!(undone, "none of {undo:?} undoes {step}");
                }
                None => {
                    assert!(KEPT.iter().any(|(kept, _)| kept == step), "nobody undoes {step}");
                }
            }
        }
        let kept = KEPT.iter().map(|(step, _)| *step);
        let listed = UNDONE.iter().map(|(step, _)| *step).chain(kept).map(str::to_owned);
        let idle: Vec<_> =
            listed.filter(|step| self.steps[0].contains(step) && !makes.contains(step)).collect();
        assert!(idle.is_empty(), "{idle:?} make nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_shows_the_calls_of_every_step_and_their_undoing() {
    let lived = Box::pin(Lived::by(|env| Plans::of(env, Limits::default()))).await;

    lived.no_step_is_silent();
    lived.everything_is_undone();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_shows_the_calls_of_every_step_of_the_older_documents_and_their_undoing() {
    let lived = Box::pin(Lived::by(older::plans)).await;

    lived.no_step_is_silent();
    lived.everything_is_undone();
}
