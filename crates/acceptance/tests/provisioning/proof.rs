//! A step counts when the ledger shows its call and its undo. Steps that have neither are listed here, with the reason.
//! A call counts when its step declares the system.
//!
//! What a reader would get wrong: what is made by a step is found in the ledger and not in this file. The lists only say what
//! goes with it: a step that makes something and is not listed, and one that is listed and makes nothing, fail the test.

use std::collections::{BTreeMap, BTreeSet};

use ::provisioner::{limits::StageLimits, operations as of_provisioner};
use broker::operations::{Env, ProvisioningLimits};
use engine::{Operation, Plan};
use simulators::ledger::{Filter, Phase};

use crate::{
    legacy,
    orders::OrderSpec,
    outside::Outside,
    service::SYSTEM,
    test_broker::{Broker, EndedOperation, Plans},
    view::View,
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

/// Systems of the landscape whose names in the plans are others.
const NAMES: [(&str, &[&str]); 3] = [
    ("control-plane", &["control plane", "lifecycle manager"]),
    ("runtimes", &["runtime", "btp operator"]),
    ("kyma-releases", &["kyma releases"]),
];

/// The systems that each step declares to call.
type DeclaredCalls = BTreeMap<String, BTreeSet<String>>;

/// An order and its end, and what the ledger says about them.
struct CompletedOrder {
    outside: Outside,
    made: EndedOperation,
    removed: EndedOperation,
    /// Steps of the plans, first those that make.
    steps: [Vec<String>; 2],
    /// What these steps declare.
    declared: DeclaredCalls,
}

/// The names of a plan's steps; what they declare is added.
fn steps<O: Operation>(plan: Plan<O>, declared: &mut DeclaredCalls) -> Vec<String> {
    let shape = plan.check().unwrap().shape;
    let steps = shape.stages.clone().into_iter().flat_map(|stage| stage.steps);
    steps
        .map(|step| {
            declared.entry(step.name.clone()).or_default().extend(step.calls);
            step.name
        })
        .collect()
}

/// What the steps of the provisioner declare.
fn declared_by_provisioner() -> DeclaredCalls {
    use of_provisioner::{deprovisioning, provisioning};
    let (limits, mut declared) = (StageLimits::default(), DeclaredCalls::new());
    steps(provisioning::plan(&limits), &mut declared);
    steps(provisioning::plan_no_install(&limits), &mut declared);
    steps(deprovisioning::plan(&limits), &mut declared);
    steps(deprovisioning::plan_no_install(&limits), &mut declared);
    declared
}

impl CompletedOrder {
    async fn by(plans: fn(&Env) -> Plans) -> Self {
        let outside = Outside::start(&["aws", "azure"], 2).await;
        let env = outside.older(&outside.clock).await;
        let named = plans(&env);
        let mut declared = DeclaredCalls::new();
        let steps =
            [steps(named.provisioning, &mut declared), steps(named.deprovisioning, &mut declared)];
        let plans = plans(&env);
        let broker = Broker::serving(&outside, env, plans).await;
        let made = broker.provision(&outside, &OrderSpec::aws("proof")).await.completed();
        let removed = broker.deprovision(&made.order).await.completed();
        let left = View::of(&outside, &broker.store, &made.order).left().await;
        assert_eq!(left, Vec::<String>::new());
        Self { outside, made, removed, steps, declared }
    }

    /// The steps of an operation that have made outside calls.
    fn calling(&self, ended: &EndedOperation) -> BTreeSet<String> {
        self.in_ledger(ended, Phase::Received)
    }

    /// The steps of an operation that have changed something outside. The provisioner's changes are its own.
    fn changing(&self, ended: &EndedOperation) -> BTreeSet<String> {
        let mut changing = self.in_ledger(ended, Phase::Applied);
        let ordering = ["Create_Runtime_Without_Kyma", "Create_Runtime", "Remove_Runtime"];
        let operation = Some(ended.operation());
        let calls = self.outside.calls().into_iter();
        let calls = calls.filter(|call| call.system == SYSTEM && call.operation == operation);
        let ordered = calls.filter_map(|call| call.step);
        changing.extend(ordered.filter(|step| ordering.contains(&step.as_str())));
        changing
    }

    fn in_ledger(&self, ended: &EndedOperation, phase: Phase) -> BTreeSet<String> {
        let operation = Some(ended.operation());
        let filter = Filter { operation, phase: Some(phase), ..Filter::default() };
        let all = self.outside.running.landscape.ledger().all(&filter).unwrap();
        all.into_iter().filter_map(|entry| entry.about.step).collect()
    }

    /// Every step makes an outside call or is declared to make none.
    fn no_step_is_silent(&self) {
        for (steps, ended) in self.steps.iter().zip([&self.made, &self.removed]) {
            let calling = self.calling(ended);
            let free = |step: &&String| CALL_FREE.iter().any(|(free, _)| free == step);
            let silent: Vec<_> =
                steps.iter().filter(|step| !calling.contains(*step) && !free(step)).collect();
            assert!(silent.is_empty(), "{silent:?} call nobody");
            let talking: Vec<_> = calling.iter().filter(free).collect();
            assert!(talking.is_empty(), "{talking:?} make outside calls");
        }
    }

    /// Every step declares the systems that it calls: the documents and `kcp check` know them from there.
    fn every_call_is_declared(&self) {
        let of_broker = [self.made.operation(), self.removed.operation()];
        let of_provisioner = declared_by_provisioner();
        let (mut undeclared, mut seen) = (BTreeSet::new(), BTreeSet::new());
        for call in self.outside.calls() {
            // Tokens are fetched by clients, whichever step needs them first.
            let (Some(operation), Some(step)) = (call.operation, call.step) else { continue };
            if call.system == "issuer" {
                continue;
            }
            let is_of_broker = of_broker.contains(&operation);
            let declared = if is_of_broker { &self.declared } else { &of_provisioner };
            let names = NAMES.iter().find(|(system, _)| *system == call.system);
            let is_declared = declared.get(&step).is_some_and(|calls| match names {
                Some((_, names)) => names.iter().any(|name| calls.contains(*name)),
                None => calls.contains(&call.system),
            });
            if !is_declared {
                undeclared.insert(format!("{step} calls {}", call.system));
            }
            seen.insert((is_of_broker, step));
        }
        assert!(undeclared.is_empty(), "{undeclared:?}, and the step does not declare it");
        assert!(seen.iter().any(|(is_of_broker, _)| *is_of_broker), "{seen:?}");
        assert!(seen.iter().any(|(is_of_broker, _)| !is_of_broker), "{seen:?}");
    }

    /// Every object that a step makes is removed by its counterpart, or declared to stay.
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
    let lived =
        Box::pin(CompletedOrder::by(|env| Plans::of(env, ProvisioningLimits::default()))).await;

    lived.no_step_is_silent();
    lived.every_call_is_declared();
    lived.everything_is_undone();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_shows_the_calls_of_every_step_of_the_older_documents_and_their_undoing() {
    let lived = Box::pin(CompletedOrder::by(legacy::plans)).await;

    lived.no_step_is_silent();
    lived.every_call_is_declared();
    lived.everything_is_undone();
}
