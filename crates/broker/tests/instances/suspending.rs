//! Suspension, return and expiry: which operation comes of which request, in every state of an instance.

use std::time::Duration;

use broker::{
    catalog::Defaults,
    instances::{Broker, Caller, Error, Progress, Update, pairs},
    runtimes::RuntimesQuery,
};
use domain::OperationId;
use engine::{
    State, Storage,
    storage::{Acceptance, Outcome},
};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    updating::change,
    world::{StepReport, TRIAL, World, request, tenant},
};

impl World {
    async fn suspend(&self, instance: &str) -> OperationId {
        self.broker.suspend(&Caller::default(), instance).await.unwrap()
    }

    async fn unsuspend(&self, instance: &str) -> Option<OperationId> {
        self.broker.unsuspend(&Caller::default(), instance).await.unwrap()
    }

    async fn suspended(&self, instance: &str) -> OperationId {
        self.made(instance).await;
        let operation = self.suspend(instance).await;
        self.end(&operation, State::Succeeded, vec![]).await;
        operation
    }

    /// An instance of the trial plan that was made.
    pub(crate) async fn trial(&self, instance: &str) {
        let ordered = self.broker.provision(&Caller::default(), request(instance, TRIAL)).await;
        self.end(&ordered.unwrap().operation.unwrap(), State::Succeeded, vec![]).await;
    }

    /// Lets the first step of an operation be done.
    pub(crate) async fn begin(&self, operation: &OperationId) {
        self.say(operation, &StepReport { step: "Starting", outcome: Outcome::Done, note: None })
            .await;
        // The hand lets it sleep for half a minute.
        self.clock.advance(Duration::from_secs(31));
    }

    async fn ordered_as(&self, operation: &OperationId) -> Value {
        serde_json::from_slice(&self.read(operation).await.input).unwrap()
    }

    pub(crate) async fn state(&self, instance: &str) -> &'static str {
        let ask = RuntimesQuery {
            instances: vec![instance.into()],
            states: vec!["all".parse().unwrap()],
            ..RuntimesQuery::default()
        };
        let page = self.broker.runtimes(&Caller::default(), &ask).await.unwrap();
        page.data[0].status.state
    }

    pub(crate) async fn active(&self, instance: &str) -> Option<bool> {
        let found = self.broker.find(&Caller::default(), instance).await.unwrap();
        found.record.ers_context.active
    }
}

fn unchangeable<T>(refused: Result<T, Error>) -> String {
    match refused {
        Err(Error::Unchangeable(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is accepted"),
    }
}

pub(crate) async fn a_suspension_is_seen_from_the_moment_it_is_accepted(world: World) {
    world.made("i-1").await;

    let operation = world.suspend("i-1").await;
    let again = world.suspend("i-1").await;

    assert_eq!(again, operation);
    let told = world.follow("i-1", None).await.unwrap();
    assert_eq!(
        (told.progress, told.description.as_str()),
        (Progress::InProgress, "Operation created")
    );
    let asked = world.ordered_as(&operation).await;
    assert_eq!(
        (asked["temporary"].clone(), world.read(&operation).await.kind),
        (json!(true), "deprovision".into())
    );
    assert_eq!(world.active("i-1").await, Some(false));
    world.begin(&operation).await;
    assert_eq!(world.state("i-1").await, "deprovisioning");
    world.end(&operation, State::Succeeded, vec![]).await;
    assert_eq!(world.state("i-1").await, "suspended");
    assert_eq!(world.suspend("i-1").await, operation);
    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn an_instance_comes_back_with_its_names(world: World) {
    let order = world.made("i-1").await;
    let suspension = world.suspend("i-1").await;
    world.end(&suspension, State::Succeeded, vec![]).await;

    let operation = world.unsuspend("i-1").await.unwrap();
    let again = world.unsuspend("i-1").await;

    assert_eq!(again, None, "it comes back already");
    let (first, second) = (world.ordered_as(&order).await, world.ordered_as(&operation).await);
    assert_eq!(second["order"], first["order"]);
    assert_eq!(world.read(&operation).await.kind, "provision");
    let unmade = world.broker.find(&Caller::default(), "i-1").await.unwrap_err();
    assert_eq!(unmade.to_string(), "provisioning of instanceID i-1 in progress");
    world.end(&operation, State::Succeeded, vec![]).await;
    assert_eq!((world.active("i-1").await, world.state("i-1").await), (None, "succeeded"));
    assert_eq!(world.unsuspend("i-1").await, None);
    assert_eq!(world.operations().await, 3);
}

pub(crate) async fn a_return_waits_for_the_suspension_and_need_not_begin(world: World) {
    world.made("i-1").await;
    let suspension = world.suspend("i-1").await;
    world.begin(&suspension).await;

    let back = world.unsuspend("i-1").await.unwrap();
    assert_eq!(world.read(&back).await.due_at, None);
    let next = world.suspend("i-1").await;

    let stopped = world.read(&back).await;
    assert_eq!((stopped.state, stopped.started_at), (State::Failed, None));
    assert_eq!(stopped.note, Some(format!("operation preempted by suspension {next}")));
    assert_eq!(world.state("i-1").await, "deprovisioning");
    world.end(&suspension, State::Succeeded, vec![]).await;
    assert_eq!(world.state("i-1").await, "suspended");
    world.end(&next, State::Succeeded, vec![]).await;
    assert_eq!((world.active("i-1").await, world.state("i-1").await), (Some(false), "suspended"));
}

pub(crate) async fn a_suspension_stops_a_return_and_waits_for_an_order(world: World) {
    world.suspended("i-1").await;
    let back = world.unsuspend("i-1").await.unwrap();
    world.begin(&back).await;
    let order = world.ordered("i-2").await;

    let first = world.suspend("i-1").await;
    let second = world.suspend("i-2").await;

    let reason = format!("operation preempted by suspension {first}");
    assert_eq!(world.read(&back).await.cancel.unwrap().reason, reason);
    assert_eq!(world.read(&order).await.cancel, None);
    assert_eq!(world.read(&second).await.due_at, None);
    let called_back = world.unsuspend("i-2").await.unwrap();
    assert_eq!(world.read(&second).await.state, State::Failed);
    world.end(&order, State::Succeeded, vec![]).await;
    world.end(&called_back, State::Succeeded, vec![]).await;
    assert_eq!((world.active("i-2").await, world.state("i-2").await), (None, "succeeded"));
}

pub(crate) async fn a_removal_goes_before_suspension_and_return(world: World) {
    world.made("i-1").await;
    let suspension = world.suspend("i-1").await;
    let back = world.unsuspend("i-1").await.unwrap();

    let removal = world.remove("i-1").await.unwrap();

    let reason = format!("operation preempted by deprovisioning {removal}");
    assert_eq!(world.read(&suspension).await.cancel.unwrap().reason, reason);
    assert_eq!(world.read(&back).await.state, State::Failed);
    assert_eq!(world.remove("i-1").await.unwrap(), removal);
    let gone = "Unable to process an update of a deprovisioned instance";
    let caller = Caller::default();
    assert_eq!(unchangeable(world.broker.suspend(&caller, "i-1").await), gone);
    assert_eq!(unchangeable(world.broker.unsuspend(&caller, "i-1").await), gone);
    assert_eq!(world.ordered_as(&removal).await["temporary"], false);
}

pub(crate) async fn a_suspended_instance_is_removed_for_good(world: World) {
    let suspension = world.suspended("i-1").await;

    let removal = world.remove("i-1").await.unwrap();

    assert_ne!(removal, suspension);
    assert_eq!(world.ordered_as(&removal).await["temporary"], false);
}

pub(crate) async fn what_failed_is_tried_again(world: World) {
    world.made("i-1").await;
    let failed = world.suspend("i-1").await;
    world.fail(&failed, "no connection").await;
    let again = world.suspend("i-1").await;
    assert_ne!(again, failed);
    world.end_leaving(&again, &["work/Check_Runtime"]).await;
    let third = world.suspend("i-1").await;
    assert_ne!(third, again);
    world.end(&third, State::Succeeded, vec![]).await;
    let back = world.unsuspend("i-1").await.unwrap();
    world.fail(&back, "no quota").await;

    let next = world.unsuspend("i-1").await.unwrap();

    // What the failed return has made goes first.
    let waiting = world.read(&next).await;
    assert_eq!((waiting.kind.as_str(), waiting.due_at), ("provision", None));
    let newest = world.store.last_operation("i-1", Some(&["deprovision"])).await.unwrap().unwrap();
    assert!(newest != third.uuid() && world.read(&newest.into()).await.due_at.is_some());
}

pub(crate) async fn an_order_that_failed_is_not_brought_back(world: World) {
    let order = world.ordered("i-1").await;
    world.fail(&order, "no quota").await;

    let refused = world.broker.unsuspend(&Caller::default(), "i-1").await;

    assert_eq!(unchangeable(refused), "Unable to process an update of a failed instance");
}

pub(crate) async fn a_continued_suspension_is_still_one(world: World) {
    world.made("i-1").await;
    let failed = world.suspend("i-1").await;
    world.fail(&failed, "no connection").await;
    let id = OperationId::new();
    let pairs = |unfinished: &[_]| pairs::suspension(id.uuid(), unfinished);
    let continued = world.engine.continue_from(failed.uuid(), id.uuid(), &pairs).await.unwrap();
    assert_eq!(continued, Acceptance::Started);

    let same = world.suspend("i-1").await;
    let removal = world.remove("i-1").await.unwrap();

    assert_eq!(same, id);
    assert_ne!(removal, id);
    assert!(world.read(&id).await.cancel.is_some());
}

pub(crate) async fn an_expired_instance_never_comes_back(world: World) {
    world.trial("i-1").await;
    let caller = Caller::default();

    let operation = world.broker.expire(&caller, "i-1").await.unwrap();
    let expired_at = world.store.find("i-1").await.unwrap().unwrap().expired_at.unwrap();
    world.end(&operation, State::Succeeded, vec![]).await;
    world.clock.advance(Duration::from_secs(60));
    let again = world.broker.expire(&caller, "i-1").await.unwrap();

    assert_eq!(again, operation);
    let kept = world.store.find("i-1").await.unwrap().unwrap().expired_at;
    assert_eq!(kept, Some(expired_at));
    let refused = world.broker.unsuspend(&caller, "i-1").await.unwrap_err();
    assert!(matches!(&refused, Error::Bad(text) if text == "cannot update an expired instance"));
    assert_eq!(world.suspend("i-1").await, operation);
    assert_eq!(world.active("i-1").await, Some(false));
    let removal = world.remove("i-1").await.unwrap();
    assert_eq!(world.broker.expire(&caller, "i-1").await.unwrap(), removal);
}

pub(crate) async fn an_instance_expires_in_its_sleep(world: World) {
    world.trial("i-1").await;
    let suspension = world.suspend("i-1").await;
    world.end(&suspension, State::Succeeded, vec![]).await;
    let caller = Caller::default();

    let asleep = world.broker.expire(&caller, "i-1").await.unwrap();

    assert_eq!(asleep, suspension);
    assert!(world.store.find("i-1").await.unwrap().unwrap().expired_at.is_some());
    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn what_does_not_expire_is_told_so(world: World) {
    world.made("i-1").await;
    let caller = Caller::default();

    let unsupported = world.broker.expire(&caller, "i-1").await.unwrap_err();
    let unknown = world.broker.expire(&caller, "nobody").await.unwrap_err();
    let foreign = world.broker.expire(&tenant("ga-2"), "i-1").await.unwrap_err();

    assert!(matches!(&unsupported, Error::Bad(text) if text == "unsupported plan: aws"));
    let text = "Cannot find Instance for instanceID:'nobody'";
    assert!(matches!(&unknown, Error::NotFound(said) if said == text));
    assert!(matches!(foreign, Error::NotFound(_)));
    assert_eq!(world.store.find("i-1").await.unwrap().unwrap().expired_at, None);
    for id in ["", "a\0b", &"x".repeat(1_000)] {
        assert!(matches!(world.broker.suspend(&caller, id).await, Err(Error::NotFound(_))));
    }
}

pub(crate) async fn of_twenty_suspensions_at_once_one_operation_answers_all(world: World) {
    world.made("i-1").await;

    let all = join_all((0..20).map(|_| world.suspend("i-1"))).await;

    assert!(all.iter().all(|operation| *operation == all[0]), "{all:?}");
    world.end(&all[0], State::Succeeded, vec![]).await;
    let back = join_all((0..20).map(|_| world.unsuspend("i-1"))).await;
    let begun: Vec<_> = back.iter().flatten().collect();
    assert!(begun.iter().all(|operation| *operation == begun[0]), "{back:?}");
    assert_eq!(world.operations().await, 3);
}

pub(crate) async fn the_same_order_finds_a_suspended_instance_there(world: World) {
    world.suspended("i-1").await;

    let again = world.order("i-1").await.unwrap();

    assert_eq!(again.operation, None);
}

/// The versions of the cluster that a suspended instance comes back on.
async fn versions_of_return(world: &World, broker: &Broker) -> [Value; 5] {
    let back = broker.unsuspend(&Caller::default(), "i-1").await.unwrap().unwrap();
    let ordered = world.ordered_as(&back).await;
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let stored: Value = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(stored["resolved"], ordered["order"]["resolved"]);
    [
        "kubernetesVersion",
        "machineImage",
        "machineImageVersion",
        "kubernetesAutoUpdate",
        "machineImageAutoUpdate",
    ]
    .map(|name| ordered["order"]["resolved"]["cluster"][name].clone())
}

/// Defaults of a later time, whose Kubernetes is this.
fn later(kubernetes: &str) -> impl FnOnce(&mut Defaults) {
    move |defaults| {
        defaults.kubernetes_version = kubernetes.into();
        defaults.machine_image = Some("flatcar".into());
        defaults.machine_image_version = Some("4.5.6".into());
        defaults.kubernetes_auto_update = true;
        defaults.machine_image_auto_update = true;
    }
}

pub(crate) async fn the_next_cluster_has_the_versions_of_the_catalog(world: World) {
    world.suspended("i-1").await;
    // Its number is higher, whatever the letters say.
    let broker = world.with_defaults(later("1.100.0"));

    let versions = versions_of_return(&world, &broker).await;

    let expected = [json!("1.100.0"), json!("flatcar"), json!("4.5.6"), json!(true), json!(true)];
    assert_eq!(versions, expected);
}

pub(crate) async fn a_next_cluster_keeps_a_kubernetes_that_is_newer_than_the_catalogs(
    world: World,
) {
    world.suspended("i-1").await;
    let broker = world.with_defaults(later("1.9.20"));

    let versions = versions_of_return(&world, &broker).await;

    let expected = [json!("1.32.4"), json!("flatcar"), json!("4.5.6"), json!(true), json!(true)];
    assert_eq!(versions, expected);
}

pub(crate) async fn values_that_no_change_carries_are_numbered_in_the_order(world: World) {
    let broker = world.with_suspended(&["aws"]);
    let caller = Caller::default();
    world.made("i-1").await;
    let credentials = json!({
        "clientid": "d", "clientsecret": "hush", "sm_url": "https://sm.test", "url": "https://a.test",
    });
    let say = |context: Value| {
        let request = Update { context: Some(context), ..change("i-1") };
        broker.update(&caller, request)
    };
    let numbers = async || {
        let row = world.store.find("i-1").await.unwrap().unwrap();
        serde_json::from_slice::<Value>(&row.order).unwrap()["context_revisions"].clone()
    };
    let whole = json!({"sm_operator_credentials": credentials, "license_type": "A"});

    let carried = say(whole.clone()).await.unwrap().operation.unwrap();
    assert_eq!((numbers().await, say(json!({"origin": "o"})).await.is_ok()), (Value::Null, true));
    say(json!({"active": false, "sm_operator_credentials": credentials})).await.unwrap();
    assert_eq!(numbers().await, json!({"sm_operator_credentials": 1, "license_type": 0}));
    say(json!({"license_type": "B"})).await.unwrap();
    assert_eq!(numbers().await, json!({"sm_operator_credentials": 1, "license_type": 1}));

    assert_eq!(world.ordered_as(&carried).await["order"]["context_revisions"], Value::Null);
    world.end(&carried, State::Succeeded, vec![]).await;
    let suspension = world.suspend("i-1").await;
    world.end(&suspension, State::Succeeded, vec![]).await;
    let back = world.unsuspend("i-1").await.unwrap();
    world.end(&back, State::Succeeded, vec![]).await;
    let next = say(whole).await.unwrap().operation.unwrap();
    let known = world.ordered_as(&next).await["order"]["context_revisions"].clone();
    assert_eq!(known, json!({"sm_operator_credentials": 1, "license_type": 1}));
}
