//! The fields of a request and where Gardener has them, as a table.

use provisioner::requests;
use serde_json::{Value, json};

use super::orders::{azure, gcp, openstack};
use crate::world::aws;

/// The fields of `expected` that are not in `found`.
pub(super) fn missing(expected: &Value, found: &Value, path: &str) -> Vec<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .flat_map(|(key, value)| {
                let found = found.get(key).unwrap_or(&Value::Null);
                missing(value, found, &format!("{path}.{key}"))
            })
            .collect(),
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => expected
            .iter()
            .zip(found)
            .enumerate()
            .flat_map(|(at, (expected, found))| missing(expected, found, &format!("{path}[{at}]")))
            .collect(),
        _ if expected == found => Vec::new(),
        _ => vec![format!("{path}: {expected} expected, {found} found")],
    }
}

/// Requests, what their Shoots hold, and what their machines are.
pub(super) fn table() -> [(requests::Provision, Value, Value); 4] {
    let version = |kind: &str| format!("{kind}.provider.extensions.gardener.cloud/v1alpha1");
    [
        (
            aws("p-aws"),
            json!({
                "cloudProfileName": "aws",
                "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
                "provider": {"type": "aws", "infrastructureConfig": {
                    "apiVersion": version("aws"), "kind": "InfrastructureConfig",
                    "networks": {"vpc": {"cidr": "10.250.0.0/16"}, "zones": [{
                        "name": "eu-central-1a", "internal": "10.250.48.0/20",
                        "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                    }]},
                }},
            }),
            json!({"machine": {"type": "m5.xlarge"}, "zones": ["eu-central-1a"],
                   "volume": {"type": "gp3", "size": "50Gi"}}),
        ),
        (
            azure("p-azure"),
            json!({
                "cloudProfileName": "az",
                "networking": {"type": "calico", "nodes": "10.250.0.0/20"},
                "provider": {"type": "azure", "infrastructureConfig": {
                    "apiVersion": version("azure"), "kind": "InfrastructureConfig", "zoned": true,
                    "networks": {"vnet": {"cidr": "10.250.0.0/20"}, "zones": [
                        {"name": 1, "cidr": "10.250.0.0/23",
                         "natGateway": {"enabled": true, "idleConnectionTimeoutMinutes": 4}},
                        {"name": 3, "cidr": "10.250.2.0/23",
                         "natGateway": {"enabled": true, "idleConnectionTimeoutMinutes": 4}},
                    ]},
                }},
            }),
            json!({"machine": {"type": "Standard_D4_v3"}, "zones": ["1", "3"]}),
        ),
        (
            gcp("p-gcp"),
            json!({
                "cloudProfileName": "gcp",
                "networking": {"type": "calico", "nodes": "10.250.0.0/22"},
                "kubernetes": {"kubeAPIServer": {"oidcConfig": {
                    "clientID": "9bd05ed7-a930-44e6-8c79-e6defeb7dec9", "groupsClaim": "groups",
                    "issuerURL": "https://issuer.example.org", "signingAlgs": ["RS256"],
                    "usernameClaim": "sub", "usernamePrefix": "-",
                }}},
                "controlPlane": {"highAvailability": {"failureTolerance": {"type": "zone"}}},
                "provider": {"type": "gcp",
                    "controlPlaneConfig": {"kind": "ControlPlaneConfig", "zone": "europe-west3-a"},
                    "infrastructureConfig": {
                        "apiVersion": version("gcp"), "kind": "InfrastructureConfig",
                        "networks": {"worker": "10.250.0.0/22", "workers": "10.250.0.0/22"},
                    },
                },
            }),
            json!({"zones": ["europe-west3-a", "europe-west3-b"]}),
        ),
        (
            openstack("p-stack"),
            json!({
                "cloudProfileName": "converged-cloud-kyma",
                "networking": {"type": "calico", "nodes": "10.250.0.0/22"},
                "provider": {"type": "openstack",
                    "controlPlaneConfig": {"loadBalancerProvider": "f5"},
                    "infrastructureConfig": {
                        "apiVersion": version("openstack"),
                        "floatingPoolName": "FloatingIP-external-kyma-01",
                        "networks": {"workers": "10.250.0.0/22"},
                    },
                },
            }),
            json!({"machine": {"type": "g_c4_m16"}, "zones": ["eu-de-1a"], "volume": null}),
        ),
    ]
}
