//! How the outside world looks from one instance, without what differs from one instance to the next.

use std::sync::Arc;

use broker::{Details, Order};
use serde_json::{Value, json};
use simulators::{clusters::RuntimeAccess, landscape::Landscape, system::Object};
use store::BrokerStore;

use crate::outside::Outside;

/// The observed world.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) landscape: Arc<Landscape>,
    pub(crate) server: cluster::Server,
    pub(crate) rest: RuntimeAccess,
    pub(crate) rows: BrokerStore,
    pub(crate) order: Order,
}

impl View {
    /// The world around an order.
    pub(crate) fn of(outside: &Outside, rows: &BrokerStore, order: &Order) -> Self {
        Self {
            landscape: outside.running.landscape.clone(),
            server: outside.running.clusters().server().clone(),
            rest: outside.running.clusters().rest(),
            rows: rows.clone(),
            order: order.clone(),
        }
    }

    /// The objects that exist for the order, one word each.
    pub(crate) async fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for (what, things) in [
            ("registration", self.registered()),
            ("Shoot", self.shoots()),
            ("Kyma", self.marked("kcp", "kymas.operator.kyma-project.io")),
            ("kubeconfig", self.marked("kcp", "secrets")),
        ] {
            left.extend(things.iter().map(|_| what.to_owned()));
        }
        let tenant = json!(self.order.context.globalaccount_id);
        for account in self.server.list("garden", "secretbindings.core.gardener.cloud") {
            let labels = &account["metadata"]["labels"];
            if labels["tenantName"] == tenant && labels["dirty"] != "true" {
                left.push(format!("account {}", account["metadata"]["name"]));
            }
        }
        let names = [&self.order.instance_id, &self.order.context.subaccount_id.to_lowercase()];
        for system in ["avs", "edp", "ias", "reconciler", "azure"] {
            for Object { kind, id, value } in self.landscape.objects(system) {
                let text = format!("{id} {value}");
                let deleted = value["status"] == "deleted";
                if !deleted && names.iter().any(|name| text.contains(name.as_str())) {
                    left.push(format!("{kind} in {system}"));
                }
            }
        }
        let row = self.rows.find(&self.order.instance_id).await.unwrap();
        left.extend(row.map(|_| "row".to_owned()));
        left
    }

    /// Everything that the order has made, once.
    pub(crate) async fn seen(&self) -> Value {
        let order = &self.order;
        self.rest.reached(&order.shoot_name).await;
        let row = self.rows.find(&order.instance_id).await.unwrap().unwrap();
        let details: Details = serde_json::from_slice(&row.details).unwrap_or_default();
        let seen = json!({
            "row": [row.runtime_id, row.provider, row.region],
            "accounts": self.accounts(),
            "tenants": self.named("edp", &order.context.subaccount_id.to_lowercase()),
            "reconciled": self.reconciled(),
            "runtimes": self.registered(),
            "shoots": self.shoots(),
            "kymas": self.marked("kcp", "kymas.operator.kyma-project.io"),
            "kubeconfigs": self.marked("kcp", "secrets"),
            "operator": self.operator_secret(),
            "elsewhere": self.elsewhere(),
            "overrides": self.overrides(),
        });
        self.plain(&seen, &details)
    }

    /// Without ids, names and times.
    fn plain(&self, seen: &Value, details: &Details) -> Value {
        let order = &self.order;
        let runtime = details.runtime_id.map(|id| id.to_string());
        let [runtime, cluster] = [runtime, details.sm_cluster_id.clone()]
            .map(|id| id.unwrap_or_else(|| "-none-".into()));
        let mut text = seen.to_string();
        for (word, name) in [
            (runtime.as_str(), "RUNTIME"),
            (&cluster, "CLUSTER"),
            (&order.instance_id, "INSTANCE"),
            (&order.shoot_name, "SHOOT"),
            (&order.context.globalaccount_id, "ACCOUNT"),
            (&order.context.subaccount_id, "SUBACCOUNT"),
            (&order.context.subaccount_id.to_lowercase(), "SUBACCOUNT"),
        ] {
            text = text.replace(word, name);
        }
        serde_json::from_str(&text).unwrap()
    }

    /// What the systems keep that know an instance, or its account, by name alone. Trials are counted, so no name that
    /// begins with this one is there before it is looked for.
    fn elsewhere(&self) -> Vec<String> {
        let names = [&self.order.instance_id, &self.order.context.globalaccount_id];
        let mut found = Vec::new();
        // Neither AvS nor LMS: they cannot be asked what they have, so an answer that is lost leaves something behind.
        for system in ["ias", "azure"] {
            for Object { kind, id, value } in self.landscape.objects(system) {
                let text = format!("{id} {value}");
                if names.iter().any(|name| text.contains(name.as_str())) {
                    found.push(format!("{kind} in {system}"));
                }
            }
        }
        found.sort();
        found
    }

    /// The names of the overrides that an installer of Kyma found in the cluster.
    fn overrides(&self) -> Vec<String> {
        let mut found = Vec::new();
        for resource in ["configmaps", "secrets"] {
            for object in self.server.list(&self.order.shoot_name, resource) {
                if object["metadata"]["labels"]["installer"] == "overrides" {
                    let keys = object["data"].as_object().into_iter().flatten();
                    found.extend(keys.map(|(key, _)| format!("{key} in {resource}")));
                }
            }
        }
        found.sort();
        found
    }

    fn accounts(&self) -> usize {
        let tenant = json!(self.order.context.globalaccount_id);
        let all = self.server.list("garden", "secretbindings.core.gardener.cloud");
        all.iter().filter(|it| it["metadata"]["labels"]["tenantName"] == tenant).count()
    }

    /// The objects of a system whose id contains a name.
    fn named(&self, system: &str, name: &str) -> Vec<Value> {
        let mut all = self.landscape.objects(system);
        all.retain(|object| object.id.contains(name));
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all.into_iter().map(|Object { kind, id, value }| json!([kind, id, value])).collect()
    }

    fn reconciled(&self) -> Vec<Value> {
        let all = self.landscape.objects("reconciler").into_iter();
        let ours = all.filter(|it| it.value["metadata"]["instanceID"] == *self.order.instance_id);
        let said = |it: Object| {
            let configurations = it.value["configurations"].as_array().map(Vec::len);
            json!([
                it.id,
                it.value["metadata"],
                it.value["kyma"],
                it.value["status"],
                configurations
            ])
        };
        ours.map(said).collect()
    }

    fn registered(&self) -> Vec<Value> {
        let all = self.landscape.objects("director").into_iter();
        let ours = all.filter(|it| it.kind == "runtime");
        let ours = ours.filter(|it| it.value["tenant"] == *self.order.context.globalaccount_id);
        ours.map(|it| json!(it.id)).collect()
    }

    fn shoots(&self) -> Vec<Value> {
        let all = self.server.list("garden", "shoots.core.gardener.cloud");
        let account = &self.order.context.globalaccount_id;
        let ours = all.iter().filter(|it| it["metadata"]["labels"]["account"] == **account);
        ours.map(|it| json!([it["metadata"]["name"], it["spec"]["region"]])).collect()
    }

    /// Objects of the control plane with our instance's mark.
    fn marked(&self, cluster: &str, resource: &str) -> Vec<Value> {
        let all = self.server.list(cluster, resource);
        let mark = &self.order.instance_id;
        let ours = all
            .iter()
            .filter(|it| it["metadata"]["labels"]["kyma-project.io/instance-id"] == **mark);
        ours.map(|it| {
            let metadata = &it["metadata"];
            json!([
                metadata["name"],
                metadata["labels"],
                metadata["annotations"]["skr-domain"],
                it["spec"]
            ])
        })
        .collect()
    }

    fn operator_secret(&self) -> Option<Value> {
        let found =
            self.server.get(&self.order.shoot_name, "secrets", "kyma-system", "sap-btp-manager")?;
        Some(json!(found["data"].as_object().map(|data| data.keys().cloned().collect::<Vec<_>>())))
    }
}
