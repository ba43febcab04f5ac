//! Orders of every plan, from acceptance to a runtime with everything around it.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use broker::{
    ContextChange,
    operations::{Env, ProvisioningLimits, update::Input},
};
use domain::parameters::{Oidc, Update};
use serde_json::{Value, json};
use simulators::garden::Version;

use crate::{
    orders::{OrderSpec, own_cluster},
    outside::Outside,
    service,
    test_broker::{Broker, EndedOperation},
    updating::change_of_everything,
    upgrading::kyma,
    view::View,
};

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

/// The issuers of the users of a runtime, as the garden has them.
fn issuers(outside: &Outside, runtime: &str) -> Option<String> {
    let name = format!("kcp-oidc-{runtime}");
    let maps = outside.running.clusters().server().list("garden", "configmaps");
    let map = maps.iter().find(|map| map["metadata"]["name"] == *name)?;
    Some(map["data"]["config.yaml"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_every_plan_is_changed_and_removed_on_a_garden_of_today() {
    assert_eq!(Version::default(), Version::V1_117, "what the landscape plays");
    let outside = Outside::start(&["aws", "azure", "gcp", "openstack"], 3).await;
    let broker = Broker::start(&outside).await;
    let issuer = "https://people.example.test";

    for wish in wishes() {
        let made = broker.provision(&outside, &wish).await.completed();
        let ordered = issuers(&outside, &made.runtime()).unwrap();
        assert!(!ordered.contains(issuer), "{}: {ordered}", wish.plan);
        let oidc =
            Oidc { client_id: "people".into(), issuer_url: issuer.into(), ..Oidc::default() };
        let change = Input {
            order: made.order.clone(),
            parameters: Update { oidc: Some(oidc), ..Update::default() },
            context: ContextChange::default(),
            plan_id: None,
        };
        Box::pin(broker.update(change)).await.completed();
        let changed = issuers(&outside, &made.runtime()).unwrap();
        assert!(changed.contains(issuer), "{}: {changed}", wish.plan);

        broker.deprovision(&made.order).await.completed();
        assert_eq!(issuers(&outside, &made.runtime()), None, "{}", wish.plan);
        let left = View::of(&outside, &broker.store, &made.order).left().await;
        assert_eq!(left, Vec::<String>::new(), "{}", wish.plan);
    }
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

#[tokio::test(flavor = "multi_thread")]
async fn every_override_reaches_the_reconciler_with_its_mark() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;

    let ended = broker.provision(&outside, &OrderSpec::aws("o1")).await.succeeded();

    are_overridden(&settings(&outside, &ended), &ended);
}

/// The settings of a runtime's components are those of its order, of operators and of its instance, each with its mark.
pub(crate) fn are_overridden(settings: &BTreeMap<String, Value>, ended: &EndedOperation) {
    for (component, configuration) in settings {
        let domain = setting(configuration, "global.domainName");
        assert_eq!(domain["value"], *ended.order.shoot_domain, "{component}");
        assert_eq!(setting(configuration, "global.landscape")["secret"], false);
    }
    assert_eq!(setting(&settings["monitoring"], "grafana.persistence.enabled")["value"], true);
    assert_eq!(setting(&settings["logging"], "fluent-bit.output.password")["secret"], true);
    let operator = &settings["btp-operator"];
    assert_eq!(setting(operator, "manager.secret.clientsecret")["secret"], true);
    let cluster = ended.details.sm_cluster_id.clone().unwrap();
    assert_eq!(setting(operator, "cluster.id")["value"], *cluster);
    let instance = setting(&settings["busola-migrator"], "deployment.env.kubeconfigID");
    assert_eq!(instance["value"], *ended.order.instance_id);
    assert!(!settings.contains_key("kiali"));
}

/// The id under which the Service Manager knows a runtime's cluster: in its Secret, in the Reconciler's settings, and in the row.
async fn cluster_ids(outside: &Outside, broker: &Broker, made: &EndedOperation) -> [String; 3] {
    let shoot = &made.order.shoot_name;
    let secret = outside.in_cluster(shoot, "secrets", "kyma-system", "sap-btp-manager").unwrap();
    let in_secret = BASE64_STANDARD.decode(secret["data"]["cluster_id"].as_str().unwrap()).unwrap();
    let configuration = &settings(outside, made)["btp-operator"];
    let in_settings = setting(configuration, "cluster.id")["value"].as_str().unwrap().to_owned();
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let details: broker::Details = serde_json::from_slice(&row.details).unwrap();
    [String::from_utf8(in_secret).unwrap(), in_settings, details.sm_cluster_id.unwrap()]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_one_id_everywhere_and_changes_and_upgrades_keep_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;

    let made = broker.provision(&outside, &OrderSpec::aws("one-id")).await.succeeded();
    let [first, in_settings, in_row] = cluster_ids(&outside, &broker, &made).await;
    assert!(!first.is_empty());
    assert_eq!([&in_settings, &in_row], [&first, &first]);
    let same = [first.clone(), first.clone(), first];

    // Other credentials in the context, too.
    Box::pin(broker.update(change_of_everything(made.order.clone()))).await.completed();
    assert_eq!(cluster_ids(&outside, &broker, &made).await, same);
    Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();
    assert_eq!(cluster_ids(&outside, &broker, &made).await, same);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_row_keeps_the_dashboard_of_the_director_or_else_that_of_the_order() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;

    let ended = broker.provision(&outside, &OrderSpec::aws("d1")).await.succeeded();

    let row = broker.store.find(&ended.order.instance_id).await.unwrap().unwrap();
    let said = ended.details.dashboard_url.clone();
    assert_eq!(row.dashboard_url, said.unwrap_or(ended.order.dashboard_url));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_and_its_removal_work_without_the_systems_that_one_can_do_without() {
    let outside = Outside::start(&["aws"], 1).await;
    let env = outside.env(&outside.clock).await;
    let env = Env { avs: None, edp: None, ias: None, director: None, ..env };
    let broker = Broker::with(&outside, env, ProvisioningLimits::default()).await;

    let made = broker.provision(&outside, &OrderSpec::aws("bare")).await.completed();
    let removed = broker.deprovision(&made.order).await.completed();

    assert!(removed.snapshot.incomplete.is_empty(), "{:?}", removed.snapshot.incomplete);
    for system in ["avs", "edp", "ias"] {
        assert!(outside.changes().iter().all(|(_, of, _)| of != system), "{system}");
    }
    let left = View::of(&outside, &broker.store, &made.order).left().await;
    assert_eq!(left, Vec::<String>::new());
}
