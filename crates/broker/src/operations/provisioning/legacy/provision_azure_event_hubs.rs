//! Has managed Kafka made for the runtime's events, in the global account's own subscription.

use std::collections::BTreeMap;

use clients::azure::{KAFKA_PORT, KAFKA_USER, name_for};
use domain::plan::{Kind as PlanKind, Provider};
use secrecy::ExposeSecret;

use super::super::Provisioning;
use crate::{
    Order,
    operations::{
        prelude::*,
        shared::{creator, event_hubs::azure},
    },
};

pub(super) struct ProvisionAzureEventHubs;

impl Step<Provisioning> for ProvisionAzureEventHubs {
    const NAME: &'static str = "Provision Azure Event Hubs";
    const CALLS: &'static [&'static str] = &["azure", "gardener"];
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(5), secs(30))
        .backing_off(secs(5), mins(1))
        .failing_for(mins(30))
        .waiting_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let order = &cx.input.order;
        if order.plan_kind == PlanKind::Trial {
            return done();
        }
        let azure = azure(cx.env, order).await?;
        let (name, region) = (name_for(&order.instance_id), region(order));
        let tags = BTreeMap::from([
            ("SubAccountID".to_owned(), order.context.subaccount_id.clone()),
            ("InstanceID".to_owned(), order.instance_id.clone()),
            ("OperationID".to_owned(), cx.root.to_string()),
        ]);
        match azure.namespace(&name, &name).await? {
            Some(found) if found.is_ready() => {}
            Some(_) => return waiting("Azure makes the event hubs").into(),
            None => {
                azure.put_group(&name, region, &tags).await?;
                azure.put_namespace(&name, &name, region, &tags).await?;
                return waiting("Azure makes the event hubs").into();
            }
        }
        let keys = azure.keys(&name, &name).await?;
        let (Some(host), Some(password)) = (keys.kafka_host(), &keys.connection_string) else {
            return waiting("Azure does not tell the keys yet").into();
        };
        let port = KAFKA_PORT.to_string();
        let channel = "knative-eventing.channel.default";
        let creator = creator(cx)?;
        creator.use_event_hubs();
        let overrides = creator.overrides();
        let mut set = |component: &str, key: &str, value: &str, secret| {
            overrides.set(Some(component), key, value, secret);
        };
        let version = "knativekafka.kyma-project.io/v1alpha1";
        set("knative-eventing", &format!("{channel}.apiVersion"), version, false);
        set("knative-eventing", &format!("{channel}.kind"), "KafkaChannel", false);
        for (key, value) in [
            ("kafka.brokers.hostname", host.as_str()),
            ("kafka.brokers.port", &port),
            ("kafka.namespace", "knative-eventing"),
            ("kafka.password", password.expose_secret()),
            ("kafka.username", KAFKA_USER),
            ("kafka.secretName", "knative-kafka"),
            ("environment.kafkaProvider", "azure"),
        ] {
            set("knative-eventing-kafka", key, value, true);
        }
        done()
    }
}

/// The runtime's own region on Azure; the nearest one otherwise.
fn region(order: &Order) -> &str {
    match &order.resolved.cluster {
        Some(cluster) if cluster.provider == Provider::Azure => &cluster.region,
        Some(cluster) if cluster.region.contains("america") || cluster.region.starts_with("us") => {
            "westus2"
        }
        _ => "westeurope",
    }
}
