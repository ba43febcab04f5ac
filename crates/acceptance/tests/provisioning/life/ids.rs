//! What the systems around a runtime know of it: overrides, ids, the dashboard.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::{setting, settings};
use crate::{
    orders::OrderSpec,
    outside::Outside,
    test_broker::{Broker, EndedOperation},
    updating::change_of_everything,
    upgrading::kyma,
};

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
