//! Orders of every plan, from acceptance to a runtime with everything around it.

mod ids;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    orders::{OrderSpec, own_cluster},
    outside::Outside,
    service,
    test_broker::{Broker, EndedOperation},
};

pub(crate) use ids::are_overridden;

fn wish<'a>(plan: &'a str, region: &'a str, parameters: Value) -> OrderSpec<'a> {
    OrderSpec { plan, region, parameters, mark: plan.replace('_', "-"), account: None }
}

/// An order of each plan whose clusters are made here.
pub(crate) fn wishes() -> Vec<OrderSpec<'static>> {
    let named = |region: &str| json!({"name": "Demo", "region": region});
    vec![
        wish("aws", "cf-eu10", named("eu-central-1")),
        wish("azure", "cf-eu20", named("westeurope")),
        wish("azure_lite", "cf-eu20", named("westeurope")),
        wish("gcp", "cf-eu30", named("europe-west3")),
        wish("openstack", "cf-eu10", named("eu-de-1")),
        wish("trial", "cf-eu10", json!({"name": "Demo"})),
        wish("free", "cf-eu10", json!({"name": "Demo"})),
        wish("preview", "cf-eu10", named("eu-central-1")),
    ]
}

/// The settings of each component, by its name, that the Reconciler was told.
pub(crate) fn settings(outside: &Outside, ended: &EndedOperation) -> BTreeMap<String, Value> {
    let all = outside.objects("reconciler");
    let found = all.into_iter().find(|object| object.id == ended.runtime()).unwrap();
    let components = found.value["kyma"]["components"].as_array().unwrap().clone();
    let named =
        |it: Value| (it["component"].as_str().unwrap().to_owned(), it["configuration"].clone());
    components.into_iter().map(named).collect()
}

fn setting<'a>(settings: &'a Value, key: &str) -> &'a Value {
    let found = settings.as_array().unwrap().iter().find(|setting| setting["key"] == key);
    found.unwrap_or_else(|| panic!("{key} is not in {settings:#}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_every_plan_succeeds_and_changes_everything_once() {
    let outside = Outside::start(&["aws", "azure", "gcp", "openstack"], 3).await;
    let broker = Broker::start(&outside).await;

    for wish in wishes() {
        let ended = broker.provision(&outside, &wish).await.succeeded();

        let row = broker.store.find(&ended.order.instance_id).await.unwrap().unwrap();
        assert_eq!(row.runtime_id, ended.details.runtime_id, "{}", wish.plan);
        let kept: broker::Details = serde_json::from_slice(&row.details).unwrap();
        assert_eq!(kept, ended.details, "{}", wish.plan);
        let reconciled = ended.details.cluster_configuration_version.is_some();
        assert_eq!(reconciled, wish.plan != "preview");
        let watched = ended.details.avs.external_id.is_some();
        assert_eq!(watched, !["trial", "free"].contains(&wish.plan), "{}", wish.plan);
    }

    let mut times: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for change in outside.changes() {
        *times.entry(change).or_default() += 1;
    }
    // The tags of one evaluation are three changes of it.
    times.retain(|(_, _, object), times| *times > 1 && !object.contains("tag"));
    assert!(times.is_empty(), "{times:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_brought_along_gets_kyma_and_no_runtime_is_ordered() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();

    let wish = own_cluster("own", "theirs", &kubeconfig);
    let ended = broker.provision(&outside, &wish).await.succeeded();

    let steps: BTreeSet<_> = ended.journal.iter().filter_map(|entry| entry.step.clone()).collect();
    assert!(steps.contains("Create_Runtime_For_Own_Cluster"), "{steps:?}");
    assert!(outside.calls().iter().all(|call| call.system != service::SYSTEM));
    assert!(ended.details.cluster_configuration_version.is_some());
    assert!(!ended.details.edp_created);
    let secret = outside.in_cluster("theirs", "secrets", "kyma-system", "sap-btp-manager");
    assert!(secret.is_some());
}
