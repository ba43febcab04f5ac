//! The initial objects of a garden: project, profiles, seeds, accounts.
//!
//! Nothing that is there is overwritten, so what was changed since stays changed.

use std::collections::BTreeSet;

use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{profiles, settings::Settings};

/// The namespace that every user of a garden may read.
const PUBLIC: &str = "gardener-system-public";
/// Who furnishes, in the managed fields.
pub(super) const MANAGER: &str = "gardener-controller-manager";

/// Why a garden cannot be furnished.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused it or could not be reached.
    #[error("cannot create {what}")]
    Create {
        /// What was to be made.
        what: String,
        /// Why.
        #[source]
        source: kube::Error,
    },
    /// What the settings make is no object.
    #[error("cannot describe {what}")]
    Describe {
        /// What was to be made.
        what: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// Creates project, namespace, cloud profiles, seeds, exposure classes and the pool of accounts, as far
/// as they are missing. Objects that an earlier call created and that were deleted since come back.
pub async fn furnish(client: &Client, settings: &Settings) -> Result<(), Error> {
    for (plural, objects) in contents(settings) {
        let Some(first) = objects.first() else { continue };
        let resource = resource(plural, first);
        let api: Api<DynamicObject> = match first["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        };
        let failed = |source| Error::Create { what: plural.to_owned(), source };
        let there = api.list_metadata(&ListParams::default()).await.map_err(failed)?;
        let there: BTreeSet<String> = there.iter().map(ResourceExt::name_any).collect();
        for object in &objects {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if !there.contains(name) {
                create(&api, plural, object).await?;
            }
            if object.get("status").is_some() {
                report(&api, plural, object).await?;
            }
        }
    }
    Ok(())
}

async fn create(api: &Api<DynamicObject>, plural: &str, object: &Value) -> Result<(), Error> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let what = || format!("{plural} {name}");
    let failed = |source| Error::Create { what: what(), source };
    let typed: DynamicObject = serde_json::from_value(object.clone())
        .map_err(|source| Error::Describe { what: what(), source })?;
    let by = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    match api.create(&by, &typed).await {
        Ok(_) => Ok(()),
        // Created concurrently.
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(()),
        Err(source) => Err(failed(source)),
    }
}

/// Sets the status of an object that has none: it cannot be created with one.
async fn report(api: &Api<DynamicObject>, plural: &str, object: &Value) -> Result<(), Error> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let failed = |source| Error::Create { what: format!("the status of {plural} {name}"), source };
    if api.get(name).await.map_err(failed)?.data.get("status").is_some() {
        return Ok(());
    }
    let status = Patch::Merge(json!({"status": object["status"]}));
    api.patch_status(name, &PatchParams::apply(MANAGER), &status).await.map_err(failed)?;
    Ok(())
}

fn resource(plural: &str, object: &Value) -> ApiResource {
    let word = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
    let api_version = word("apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        kind: word("kind"),
        api_version: api_version.clone(),
    }
}

fn contents(settings: &Settings) -> Vec<(&'static str, Vec<Value>)> {
    let accounts = accounts(settings);
    let each = |make: fn(&Settings, &Account) -> Value| -> Vec<Value> {
        accounts.iter().map(|account| make(settings, account)).collect()
    };
    vec![
        ("namespaces", vec![namespace(settings), public_namespace()]),
        ("configmaps", vec![info(settings)]),
        ("projects", vec![project(settings)]),
        ("cloudprofiles", profiles::all(settings.version)),
        ("seeds", seeds()),
        ("exposureclasses", exposure_classes()),
        ("secrets", each(secret)),
        ("secretbindings", each(secret_binding)),
        ("credentialsbindings", each(credentials_binding)),
    ]
}

/// The objects whose fields the schema of a version describes.
#[cfg(test)]
pub(super) fn described(version: super::version::Version) -> Vec<Value> {
    let settings = Settings { version, ..Settings::default() };
    let kinds = ["projects", "cloudprofiles", "seeds", "exposureclasses"];
    let contents = contents(&settings).into_iter().filter(|(plural, _)| kinds.contains(plural));
    contents.flat_map(|(_, objects)| objects).collect()
}

fn namespace(settings: &Settings) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": settings.namespace(),
            "labels": {
                "gardener.cloud/role": "project",
                "project.gardener.cloud/name": settings.project,
            },
        },
    })
}

fn public_namespace() -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PUBLIC}})
}

/// Which Gardener it is, readable for everybody.
fn info(settings: &Settings) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "gardener-info", "namespace": PUBLIC},
        "data": {"gardenerAPIServer": format!("version: {}\n", settings.version.release())},
    })
}

fn project(settings: &Settings) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Project",
        "metadata": {"name": settings.project},
        "spec": {"namespace": settings.namespace(), "purpose": "managed runtimes"},
        "status": {"phase": "Ready", "observedGeneration": 1},
    })
}

fn exposure_classes() -> Vec<Value> {
    ["converged-cloud-internet", "converged-cloud-internal"]
        .map(|name| {
            json!({
                "apiVersion": "core.gardener.cloud/v1beta1",
                "kind": "ExposureClass",
                "metadata": {"name": name},
                "handler": name,
            })
        })
        .to_vec()
}

fn seeds() -> Vec<Value> {
    // The audit log's location is read from the message of the condition.
    [
        ("aws-ha-eu1", "aws", "eu-central-1", "cf.eu10"),
        ("aws-ha-us1", "aws", "us-east-1", "cf.us10"),
        ("az-ha-eu1", "azure", "westeurope", "cf.eu20"),
        ("az-ha-us1", "azure", "eastus", "cf.us21"),
        ("gcp-ha-eu1", "gcp", "europe-west3", "cf.eu30"),
        ("cc-ha-eu1", "openstack", "eu-de-1", "cf.eu10"),
    ]
    .map(|(name, provider, region, audit)| {
        let condition = |kind: &str, message: String| {
            json!({
                "type": kind, "status": "True", "reason": "Ready", "message": message,
                "lastTransitionTime": "2024-01-01T00:00:00Z", "lastUpdateTime": "2024-01-01T00:00:00Z",
            })
        };
        let zones = ["a", "b", "c"].map(|zone| format!("{region}{zone}"));
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1",
            "kind": "Seed",
            "metadata": {"name": name, "labels": {
                "seed.gardener.cloud/provider": provider,
                "seed.gardener.cloud/region": region,
            }},
            "spec": {
                "provider": {
                    "type": provider, "region": region,
                    "zones": zones,
                },
                "networks": {
                    "nodes": "10.240.0.0/16", "pods": "10.241.0.0/16", "services": "10.242.0.0/16",
                    "shootDefaults": {"pods": "100.96.0.0/11", "services": "100.64.0.0/13"},
                },
                "ingress": {
                    "domain": format!("ingress.{name}.seeds.example.com"),
                    "controller": {"kind": "nginx"},
                },
                "dns": {"provider": {
                    "type": "aws-route53",
                    "secretRef": {"name": "dns", "namespace": "garden"},
                }},
                "settings": {"scheduling": {"visible": true}},
            },
            "status": {"conditions": [
                condition("GardenletReady", "Gardenlet is posting ready status.".to_owned()),
                condition(
                    "AuditlogServiceAvailability",
                    format!("Auditlog landscape https://api.auditlog.{audit}.example.com:8081 is available"),
                ),
            ]},
        })
    })
    .to_vec()
}

type Labels = Vec<(&'static str, String)>;

/// One account at a provider.
struct Account {
    name: String,
    provider: String,
    labels: Labels,
}

fn accounts(settings: &Settings) -> Vec<Account> {
    let pool = &settings.pool;
    let yes = || "true".to_owned();
    let sorts: [(&str, usize, Labels); 5] = [
        ("free", pool.free, vec![]),
        ("eu", pool.eu, vec![("euAccess", yes())]),
        ("shared", pool.shared, vec![("shared", yes())]),
        ("dirty", pool.dirty, vec![("dirty", yes()), ("tenantName", pool.tenant.clone())]),
        ("internal", pool.internal, vec![("internal", yes()), ("tenantName", pool.tenant.clone())]),
    ];
    let mut accounts = Vec::new();
    for provider in &pool.providers {
        for (sort, count, labels) in &sorts {
            accounts.extend((1..=*count).map(|n| Account {
                name: format!("{provider}-{sort}-{n}"),
                provider: provider.clone(),
                labels: labels.clone(),
            }));
        }
    }
    accounts
}

fn labelled(settings: &Settings, account: &Account) -> Value {
    let mut labels = json!({"hyperscalerType": account.provider});
    for (key, value) in &account.labels {
        labels[*key] = json!(value);
    }
    json!({"name": account.name, "namespace": settings.namespace(), "labels": labels})
}

fn secret(settings: &Settings, account: &Account) -> Value {
    let name = &account.name;
    let data = match account.provider.as_str() {
        "aws" => json!({
            "accessKeyID": format!("AKIA-{name}"), "secretAccessKey": format!("secret-of-{name}"),
        }),
        "azure" => json!({
            "clientID": format!("client-of-{name}"), "clientSecret": format!("secret-of-{name}"),
            "subscriptionID": format!("subscription-of-{name}"), "tenantID": "landscape",
        }),
        "gcp" => json!({"serviceaccount.json": json!({
            "type": "service_account", "project_id": name, "private_key_id": format!("key-of-{name}"),
        }).to_string()}),
        _ => json!({
            "domainName": "landscape", "tenantName": name, "username": format!("user-of-{name}"),
            "password": format!("secret-of-{name}"),
        }),
    };
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": labelled(settings, account),
        "stringData": data,
    })
}

fn secret_binding(settings: &Settings, account: &Account) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": labelled(settings, account),
        "provider": {"type": account.provider},
        "secretRef": {"name": account.name, "namespace": settings.namespace()},
    })
}

fn credentials_binding(settings: &Settings, account: &Account) -> Value {
    json!({
        "apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
        "metadata": labelled(settings, account),
        "provider": {"type": account.provider},
        "credentialsRef": {
            "apiVersion": "v1", "kind": "Secret",
            "name": account.name, "namespace": settings.namespace(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Whether it is an address with nothing behind its length.
    fn is_network(written: &Value) -> bool {
        let Some((address, length)) = written.as_str().and_then(|text| text.split_once('/')) else {
            return false;
        };
        let (address, length) = (address.parse::<Ipv4Addr>(), length.parse::<u32>());
        let (Ok(address), Ok(length)) = (address, length) else { return false };
        (1..32).contains(&length) && u32::from(address) << length == 0
    }

    #[test]
    fn seeds_have_what_real_servers_of_both_versions_ask_of_them() {
        for seed in seeds() {
            let (name, spec) = (&seed["metadata"]["name"], &seed["spec"]);
            let ranges =
                ["nodes", "pods", "services", "shootDefaults/pods", "shootDefaults/services"];
            for range in ranges {
                let written = spec["networks"].pointer(&format!("/{range}"));
                assert!(written.is_some_and(is_network), "{name}: {range}");
            }
            assert!(spec["ingress"]["domain"].is_string(), "{name}");
            assert!(spec["ingress"]["controller"]["kind"].is_string(), "{name}");
            let zones = spec["provider"]["zones"].as_array().unwrap();
            let zones: BTreeSet<&str> = zones.iter().filter_map(Value::as_str).collect();
            assert!(zones.len() >= 3, "{name} cannot spread a control plane over {zones:?}");
        }
    }
}
