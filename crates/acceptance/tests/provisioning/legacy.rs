//! Orders of the legacy plan: by weights, with Kyma from the provisioner.

use std::collections::BTreeSet;

use broker::operations::{
    Env, ProvisioningLimits, Systems, deprovisioning, env::Logging, provisioning::legacy::plan,
};
use clients::lms::EnabledFor;
use engine::State;
use serde_json::Value;
use simulators::{testing::tables::rule, trouble::Kind};

use crate::{
    orders::OrderSpec,
    outside::Outside,
    test_broker::{Broker, Plans},
};

/// The legacy plans.
pub(crate) fn plans(env: &Env) -> Plans {
    let removing = deprovisioning::DeprovisioningLimits::default();
    Plans {
        provisioning: plan(&ProvisioningLimits::default(), Systems::of(env)),
        deprovisioning: deprovisioning::legacy::plan(&removing, Systems::of(env)),
    }
}

async fn world() -> (Outside, Broker) {
    with(|_| {}).await
}

/// With another way to log.
async fn with(logging: impl FnOnce(&mut Logging)) -> (Outside, Broker) {
    let outside = Outside::start(&["aws", "azure"], 2).await;
    let mut env = Box::pin(outside.older(&outside.clock)).await;
    logging(env.lms.as_mut().unwrap());
    let plans = plans(&env);
    let broker = Broker::serving(&outside, env, plans).await;
    (outside, broker)
}

/// The names of all overrides that the runtime's installer found, with what holds them.
fn installed(outside: &Outside, shoot: &str) -> BTreeSet<(&'static str, String)> {
    let server = outside.running.clusters().server();
    let mut found = BTreeSet::new();
    for (kind, resource) in [("plain", "configmaps"), ("secret", "secrets")] {
        for object in server.list(shoot, resource) {
            let keys = object["data"].as_object().into_iter().flatten();
            found.extend(keys.map(|(key, _)| (kind, key.clone())));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_succeeds_with_every_system_and_every_override_of_the_older_documents() {
    let (outside, broker) = world().await;

    let ended = broker.provision(&outside, &OrderSpec::aws("l1")).await.succeeded();

    assert!(ended.details.lms.tenant_id.is_some() && !ended.details.lms.failed);
    assert!(ended.snapshot.incomplete.is_empty(), "{:?}", ended.snapshot.incomplete);
    for system in ["lms", "ias", "azure", "avs", "edp"] {
        assert!(outside.changes().iter().any(|(_, of, _)| of == system), "{system}");
    }
    let overrides = installed(&outside, &ended.order.shoot_name);
    for (kind, key) in [
        ("plain", "global.landscape"),
        ("plain", "config.sm.url"),
        ("secret", "sm.password"),
        ("secret", "grafana.env.GF_AUTH_GENERIC_OAUTH_CLIENT_SECRET"),
        ("plain", "fluent-bit.backend.forward.host"),
        ("secret", "fluent-bit.backend.forward.tls.key"),
        // Event Hubs, whatever the provider of the runtime.
        ("secret", "kafka.brokers.hostname"),
        ("secret", "kafka.password"),
    ] {
        assert!(overrides.contains(&(kind, key.to_owned())), "{key}: {overrides:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_that_is_refused_does_not_fail_the_order() {
    let (outside, broker) = world().await;
    outside.trouble("lms", 1_000, Kind::Status { status: 400, body: None });

    let ended = broker.provision(&outside, &OrderSpec::aws("l2")).await;

    assert_eq!(ended.snapshot.state, State::Succeeded);
    assert!(ended.details.lms.failed);
    let seen: Vec<Value> = outside.objects("lms").into_iter().map(|object| object.value).collect();
    assert!(seen.is_empty(), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_that_is_mandatory_and_refused_fails_the_order() {
    let (outside, broker) = with(|logging| logging.mandatory = true).await;
    outside.trouble("lms", 1_000, Kind::Status { status: 400, body: None });

    let ended = broker.provision(&outside, &OrderSpec::aws("l3")).await;

    assert_eq!(ended.snapshot.state, State::Failed);
    assert_eq!(ended.snapshot.failure.unwrap().component, "lms");
}

#[tokio::test(flavor = "multi_thread")]
async fn that_ias_refuses_the_addresses_of_the_dashboards_is_in_the_journal() {
    let (outside, broker) = world().await;
    let refused = Kind::Status { status: 400, body: None };
    outside.meet(rule(("Initialization", "ias", "GET"), 1_000, &refused));

    let ended = broker.provision(&outside, &OrderSpec::aws("l7")).await.succeeded();

    let told: Vec<_> = ended.journal.iter().filter_map(|entry| entry.reason.as_deref()).collect();
    assert!(told.iter().any(|it| it.contains("IAS does not know")), "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_global_account_without_logging_gets_no_tenant() {
    let others = EnabledFor::parse("somebody-else");
    let (outside, broker) = with(|logging| logging.enabled = others).await;

    let ended = broker.provision(&outside, &OrderSpec::aws("l4")).await.succeeded();

    assert_eq!(ended.details.lms.tenant_id, None);
    assert!(outside.calls().iter().all(|call| call.system != "lms"));
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_of_one_global_account_share_their_logging_tenant() {
    let (outside, broker) = world().await;

    let first = broker.provision(&outside, &OrderSpec::aws("l5")).await.succeeded();
    let account = first.order.context.globalaccount_id.clone();
    let second = OrderSpec { account: Some(&account), ..OrderSpec::aws("l6") };
    let second = broker.provision(&outside, &second).await.succeeded();

    assert_eq!(first.details.lms.tenant_id, second.details.lms.tenant_id);
    let tenants = outside
        .calls()
        .into_iter()
        .filter(|call| call.system == "lms" && call.step.as_deref() == Some("Create_LMS_Tenant"));
    assert_eq!(tenants.count(), 1);
}
