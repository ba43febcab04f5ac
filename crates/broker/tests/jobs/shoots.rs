//! Shoots that tests put into the garden.

use std::time::Duration;

use clients::gardener::Shoot;
use serde_json::{Value, json};

use crate::world::World;

impl World {
    /// A Shoot that is paid from an account, perhaps of a runtime.
    pub(crate) async fn shoot(&self, name: &str, annotations: Value) {
        let shoot: Shoot = serde_json::from_value(shoot(name, &annotations)).unwrap();
        self.env.gardener.create(&shoot).await.unwrap();
    }

    /// A Shoot that the garden has taken into its care.
    pub(crate) async fn growing_shoot(&self, name: &str, annotations: Value) {
        self.shoot(name, annotations).await;
        while self.env.gardener.shoot(name).await.unwrap().unwrap().last_operation().is_none() {
            self.clock.sleep(Duration::from_millis(10)).await;
        }
    }

    /// A Shoot of nobody, with something else in it.
    pub(crate) async fn shoot_with(&self, name: &str, place: &str, value: &str) {
        let mut shoot = shoot(name, &json!({}));
        *shoot.pointer_mut(place).unwrap() = value.into();
        let shoot: Shoot = serde_json::from_value(shoot).unwrap();
        self.env.gardener.create(&shoot).await.unwrap();
    }

    /// Whether there is a Shoot that is not being deleted.
    pub(crate) async fn has_shoot(&self, name: &str) -> bool {
        self.env.gardener.shoot(name).await.unwrap().is_some_and(|shoot| !shoot.is_going())
    }
}

pub(crate) fn shoot(name: &str, annotations: &Value) -> Value {
    let version = "aws.provider.extensions.gardener.cloud/v1alpha1";
    json!({
        "metadata": {"name": name, "labels": {"account": "ga-1", "owner.do-not-delete": "false"}, "annotations": annotations},
        "spec": {
            "cloudProfileName": "aws",
            "region": "eu-central-1",
            "secretBindingName": "aws-free-1",
            "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
            "kubernetes": {"version": "1.25.6"},
            "provider": {
                "type": "aws",
                "infrastructureConfig": {
                    "kind": "InfrastructureConfig", "apiVersion": version,
                    "networks": {
                        "vpc": {"cidr": "10.250.0.0/16"},
                        "zones": [{
                            "name": "eu-central-1a", "internal": "10.250.48.0/20",
                            "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                        }],
                    },
                },
                "workers": [{
                    "name": "cpu-worker-0", "machine": {"type": "m5.xlarge"}, "minimum": 3,
                    "maximum": 10, "maxSurge": 3, "maxUnavailable": 0,
                    "volume": {"type": "gp3", "size": "50Gi"}, "zones": ["eu-central-1a"],
                }],
            },
        },
    })
}
