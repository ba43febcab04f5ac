//! Removing what the Service Manager's brokers made in a runtime, before the runtime itself goes.

use serde_json::{Value, json};

use super::Runtime;
use crate::{
    error::{Error, Kind},
    kubernetes::Resource,
};

const GROUP: &str = "servicecatalog.k8s.io";
const BROKERS: Resource = catalog("ClusterServiceBroker", "clusterservicebrokers");
const CLASSES: Resource = catalog("ClusterServiceClass", "clusterserviceclasses");
const INSTANCES: Resource = catalog("ServiceInstance", "serviceinstances");

const fn catalog(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: GROUP, version: "v1beta1", kind, plural }
}

impl Runtime {
    /// Deletes the instances of all brokers whose address begins with `prefix`, and lets the brokers go.
    /// Where there is no service catalog, nothing is to be removed. How many instances are left.
    pub async fn clean_service_catalog(&self, prefix: &str) -> Result<usize, Error> {
        let brokers = self.cluster.objects::<Value>(BROKERS, None);
        let found = match brokers.list("").await {
            // The kind is not there.
            Err(error) if error.kind == Kind::NotFound => return Ok(0),
            found => found?,
        };
        let names = |objects: &[Value], of_theirs: &dyn Fn(&Value) -> bool| -> Vec<String> {
            let ours = objects.iter().filter(|object| of_theirs(object));
            ours.filter_map(|object| Some(object["metadata"]["name"].as_str()?.to_owned()))
                .collect()
        };
        let theirs = names(&found, &|broker| {
            broker["spec"]["url"].as_str().is_some_and(|url| url.starts_with(prefix))
        });
        let classes = self.all(CLASSES).await?;
        let classes = names(&classes, &|class| {
            let broker = class["spec"]["clusterServiceBrokerName"].as_str().unwrap_or_default();
            theirs.iter().any(|name| name == broker)
        });
        let mut left = 0;
        for instance in self.all(INSTANCES).await? {
            let class = instance["spec"]["clusterServiceClassRef"]["name"].as_str();
            if class.is_none_or(|class| !classes.iter().any(|name| name == class)) {
                continue;
            }
            let metadata = &instance["metadata"];
            let namespace = metadata["namespace"].as_str().unwrap_or_default();
            let name = metadata["name"].as_str().unwrap_or_default();
            left += 1;
            if metadata["deletionTimestamp"].is_null() {
                let instances = self.cluster.objects::<Value>(INSTANCES, Some(namespace));
                instances.delete(name, metadata["uid"].as_str()).await?;
            }
        }
        for broker in found {
            let held = broker["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
            if held && let Some(name) = broker["metadata"]["name"].as_str() {
                brokers.merge(name, &json!({"metadata": {"finalizers": null}})).await?;
            }
        }
        Ok(left)
    }

    async fn all(&self, resource: Resource) -> Result<Vec<Value>, Error> {
        match self.cluster.objects::<Value>(resource, None).list("").await {
            Err(error) if error.kind == Kind::NotFound => Ok(Vec::new()),
            found => found,
        }
    }
}
