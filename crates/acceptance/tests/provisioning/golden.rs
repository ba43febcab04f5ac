//! Whole orders, compared with what is stored beside this file: every label, annotation and payload that leaves.

use std::{path::Path, sync::Arc};

use broker::catalog::{Catalog, Files};
use serde_json::{Map, Value, json};

use crate::{
    life::wishes,
    orders::OrderSpec,
    outside::Outside,
    test_broker::{Broker, EndedOperation},
};

const INVITED: &str = "ga-invited";

/// What an order has made, as the systems have it. Ids are replaced by what they are.
fn picture(outside: &Outside, ended: &EndedOperation) -> Value {
    let (order, runtime) = (&ended.order, ended.runtime());
    let server = outside.running.clusters().server();
    let shoots = server.list("garden", "shoots.core.gardener.cloud");
    let shoot = shoots.iter().find(|it| it["metadata"]["name"] == *order.shoot_name).unwrap();
    let director = outside.objects("director");
    let registered = director.iter().find(|it| it.id == runtime).unwrap();
    let marked = |resource: &str| {
        let all = server.list("kcp", resource);
        let own = |it: &&Arc<Value>| {
            it["metadata"]["labels"]["kyma-project.io/instance-id"] == *order.instance_id
        };
        let found: Vec<Value> = all.iter().filter(own).map(|it| marks(it)).collect();
        found
    };
    let reconciled = outside.objects("reconciler");
    let reconciled = reconciled.iter().find(|it| it.id == runtime);
    let told = |field: &str| reconciled.map_or(Value::Null, |it| it.value[field].clone());
    let edp = outside.objects("edp");
    let tenant = order.context.subaccount_id.to_lowercase();
    let edp = edp.iter().filter(|it| it.value["name"] == *tenant);
    let seen = json!({
        "director": without(&registered.value["labels"], &["kcp_intent", "runtime_consoleUrl"]),
        "shoot": {"marks": marks(shoot), "spec": without(&shoot["spec"], &["seedName"])},
        "authentication": server
            .get("garden", "configmaps", "garden-kyma", &format!("kcp-oidc-{runtime}"))
            .map(|map| map["data"].clone()),
        "kymas": marked("kymas.operator.kyma-project.io"),
        "kubeconfigs": marked("secrets"),
        "reconciler": {
            "metadata": told("metadata"),
            "runtime": told("runtimeInput"),
            "components": components(&told("kyma")),
        },
        "avs": evaluations(outside, &order.instance_id),
        "edp": edp.map(|it| json!([it.kind, it.id, it.value])).collect::<Vec<_>>(),
    });
    let mut text = seen.to_string();
    let cluster = ended.details.sm_cluster_id.clone().unwrap_or_default();
    let operation = ended.operation();
    for (id, name) in
        [(runtime.as_str(), "RUNTIME"), (&cluster, "CLUSTER"), (&operation, "OPERATION")]
    {
        text = text.replace(id, name);
    }
    serde_json::from_str(&text).unwrap()
}

/// Labels and annotations, without those that others write, and those that name operations.
fn marks(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let operations = [
        "compass.provisioner.kyma-project.io/operation-id",
        "kcp.provisioner.kyma-project.io/operation-id",
    ];
    json!({
        "labels": without(&metadata["labels"], &["shoot.gardener.cloud/status"]),
        "annotations": without(&metadata["annotations"], &operations),
    })
}

/// The fields of an object, without these.
fn without(object: &Value, names: &[&str]) -> Map<String, Value> {
    let mut fields = object.as_object().cloned().unwrap_or_default();
    fields.retain(|name, _| !names.contains(&name.as_str()));
    fields
}

/// Component, namespace and the names of what it is configured with, a mark at what is secret.
fn components(kyma: &Value) -> Vec<Value> {
    let of = |component: &Value| {
        let entries = component["configuration"].as_array().into_iter().flatten();
        let mut keys: Vec<String> = entries
            .map(|it| {
                let mark = if it["secret"] == true { " (secret)" } else { "" };
                format!("{}{mark}", it["key"].as_str().unwrap_or_default())
            })
            .collect();
        keys.sort();
        json!([component["component"], component["namespace"], keys])
    };
    kyma["components"].as_array().into_iter().flatten().map(of).collect()
}

fn evaluations(outside: &Outside, instance: &str) -> Vec<Value> {
    let all = outside.objects("avs");
    let ours = all.iter().filter(|it| it.value.to_string().contains(instance));
    ours.map(|it| {
        let mut value = it.value.clone();
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| !["id", "tags"].contains(&name.as_str()));
        }
        value
    })
    .collect()
}

async fn ordered(wish: &OrderSpec<'_>) -> Value {
    let mut outside = Outside::start(&["aws"], 1).await;
    let files = Files::embedded();
    let eu = files.text("eu-access.yaml").unwrap();
    let eu = eu.replace("whitelist: []", &format!("whitelist: [{INVITED}]"));
    outside.catalog = Arc::new(Catalog::load(&files.with("eu-access.yaml", eu)).unwrap());
    let broker = Broker::start(&outside).await;
    let ended = broker.provision(&outside, wish).await.completed();
    picture(&outside, &ended)
}

fn is_as_stored(seen: &Value, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provisioning/golden");
    engine::testing::is_as_stored(seen, &folder.join(name).with_extension("json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_on_aws_leaves_what_is_stored_for_it() {
    let seen = ordered(&OrderSpec { account: Some("ga-golden"), ..OrderSpec::aws("golden") }).await;

    is_as_stored(&seen, "aws");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_eu_access_leaves_what_is_stored_for_it() {
    let wish =
        OrderSpec { region: "cf-eu11", account: Some(INVITED), ..OrderSpec::aws("golden-eu") };

    let seen = ordered(&wish).await;

    let annotation = "support.gardener.cloud/eu-access-for-cluster-nodes";
    assert_eq!(seen["shoot"]["marks"]["annotations"][annotation], "true", "{seen:#}");
    is_as_stored(&seen, "aws-eu");
}

/// What depends on the plan: where the cluster is, how large it is, and who is told of it.
fn of_plan(mut picture: Value) -> Value {
    let shoot = &mut picture["shoot"];
    let spec = shoot["spec"].as_object_mut().unwrap();
    let kept = ["cloudProfileName", "networking", "provider", "purpose", "region"];
    spec.retain(|name, _| kept.contains(&name.as_str()));
    let fields = picture.as_object_mut().unwrap();
    fields.retain(|name, _| ["director", "shoot", "kymas", "avs", "edp"].contains(&name.as_str()));
    picture
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_every_plan_leaves_what_is_stored_for_its_plan() {
    let outside = Outside::start(&["aws", "azure", "gcp", "openstack"], 3).await;
    let broker = Broker::start(&outside).await;

    let mut seen = Map::new();
    for wish in wishes() {
        let ended = broker.provision(&outside, &wish).await.completed();
        seen.insert(wish.plan.to_owned(), of_plan(picture(&outside, &ended)));
    }

    is_as_stored(&Value::Object(seen), "plans");
}
