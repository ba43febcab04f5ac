//! The configuration of a runtime, from the original's tables.

use serde_json::{Map, Value};
use store::import::{Cipher, KymaConfigRow, ProvisionerCluster};

use crate::configuration::{
    Aws, AwsZone, Azure, AzureZone, Cluster, Component, Configuration, ConflictStrategy,
    DirectorEntry, Dns, DnsProvider, Entry, Gcp, Kyma, NatGateway, Oidc, OpenStack, Profile,
    Provider,
};

/// The configuration, or what is wrong with it.
pub(super) fn of(row: &ProvisionerCluster, cipher: &Cipher) -> Result<Configuration, String> {
    let administrators = row.administrators.iter().map(|one| administrator(one, cipher));
    let active = row.active_kyma_config_id.as_deref();
    let active = row.kyma.iter().find(|kyma| Some(kyma.id.as_str()) == active);
    Ok(Configuration {
        // The original keeps no more of it than the Director does.
        entry: DirectorEntry {
            name: words(&row.gardener["name"]).unwrap_or_default(),
            description: None,
            labels: Map::new(),
        },
        cluster: cluster(row)?,
        administrators: administrators.collect::<Result<_, _>>()?,
        kyma: active.or(row.kyma.last()).map(kyma),
    })
}

fn cluster(row: &ProvisionerCluster) -> Result<Cluster, String> {
    let it = &row.gardener;
    if !it.is_object() {
        return Err("it has no configuration".into());
    }
    let text = |name: &str| words(&it[name]);
    let needed = |name: &str| text(name).ok_or_else(|| format!("its {name} is missing"));
    let number = |name: &str| it[name].as_i64().and_then(|number| i32::try_from(number).ok());
    let flag = |name: &str| it[name].as_bool().unwrap_or_default();
    let provider = needed("provider")?.to_lowercase();
    let size = it["volume_size_gb"].as_i64().map(|size| size.to_string());
    let size = size.or(text("volume_size_gb")).and_then(|size| size.parse().ok());
    Ok(Cluster {
        name: needed("name")?,
        kubernetes_version: needed("kubernetes_version")?,
        target_secret: text("target_secret").unwrap_or_default(),
        region: needed("region")?,
        machine_type: needed("machine_type")?,
        machine_image: text("machine_image"),
        machine_image_version: text("machine_image_version"),
        disk_type: text("disk_type"),
        volume_size_gb: size,
        worker_cidr: text("worker_cidr").unwrap_or_default(),
        pods_cidr: text("pods_cidr"),
        services_cidr: text("services_cidr"),
        auto_scaler_min: number("auto_scaler_min").unwrap_or_default(),
        auto_scaler_max: number("auto_scaler_max").unwrap_or_default(),
        max_surge: number("max_surge").unwrap_or_default(),
        max_unavailable: number("max_unavailable").unwrap_or_default(),
        purpose: text("purpose"),
        licence_type: text("licence_type"),
        kubernetes_auto_update: flag("enable_kubernetes_version_auto_update"),
        machine_image_auto_update: flag("enable_machine_image_version_auto_update"),
        provider_config: provider_config(&it["provider_specific_config"])
            .ok_or("its provider_specific_config fits no provider")?,
        provider,
        dns: dns(row),
        seed: text("seed"),
        oidc: oidc(row),
        exposure_class_name: text("exposure_class_name"),
        networking_filter_disabled: flag("shoot_networking_filter_disabled"),
        control_plane_failure_tolerance: text("control_plane_failure_tolerance"),
        eu_access: flag("eu_access"),
    })
}

/// What only one provider has. The original tells them apart by their fields, and so does this.
fn provider_config(it: &Value) -> Option<Provider> {
    let fields = it.as_object()?;
    let texts = |value: &Value| -> Option<Vec<String>> {
        Some(value.as_array()?.iter().filter_map(words).collect())
    };
    if fields.contains_key("vnetCidr") {
        let zone = |it: &Value| {
            Some(AzureZone {
                name: i32::try_from(it["name"].as_i64()?).ok()?,
                cidr: words(&it["cidr"])?,
            })
        };
        let zones = it["azureZones"].as_array();
        let idle = it["idleConnectionTimeoutMinutes"].as_i64();
        let idle_minutes = idle.and_then(|minutes| i32::try_from(minutes).ok());
        return Some(Provider::Azure(Azure {
            vnet_cidr: words(&it["vnetCidr"])?,
            zones: texts(&it["zones"]),
            azure_zones: zones.map(|zones| zones.iter().filter_map(zone).collect()),
            nat_gateway: it["enableNatGateway"]
                .as_bool()
                .map(|enabled| NatGateway { enabled, idle_minutes }),
        }));
    }
    if fields.contains_key("awsZones") {
        let zone = |it: &Value| {
            Some(AwsZone {
                name: words(&it["name"])?,
                public_cidr: words(&it["publicCidr"])?,
                internal_cidr: words(&it["internalCidr"])?,
                worker_cidr: words(&it["workerCidr"])?,
            })
        };
        let zones = it["awsZones"].as_array()?.iter().filter_map(zone).collect();
        return Some(Provider::Aws(Aws { vpc_cidr: words(&it["vpcCidr"])?, zones }));
    }
    if let Some(name) = words(&it["zone"]) {
        // Legacy: one zone, whose nodes have the network of the cluster.
        let zone = AwsZone {
            name,
            public_cidr: words(&it["publicCidr"])?,
            internal_cidr: words(&it["internalCidr"])?,
            worker_cidr: words(&it["vpcCidr"])?,
        };
        return Some(Provider::Aws(Aws { vpc_cidr: zone.worker_cidr.clone(), zones: vec![zone] }));
    }
    let zones = texts(&it["zones"])?;
    if !fields.contains_key("floatingPoolName") {
        return Some(Provider::Gcp(Gcp { zones }));
    }
    Some(Provider::OpenStack(OpenStack {
        zones,
        floating_pool_name: words(&it["floatingPoolName"]).unwrap_or_default(),
        cloud_profile_name: words(&it["cloudProfileName"]).unwrap_or_default(),
        load_balancer_provider: words(&it["loadBalancerProvider"]).unwrap_or_default(),
    }))
}

fn dns(row: &ProvisionerCluster) -> Option<Dns> {
    let domain = words(&row.dns["domain"])?;
    let provider = |it: &Value| DnsProvider {
        domains_include: words(&it["domains_include"])
            .map(|list| list.split(',').map(str::to_owned).collect())
            .unwrap_or_default(),
        primary: it["is_primary"].as_bool().unwrap_or_default(),
        secret_name: words(&it["secret_name"]).unwrap_or_default(),
        kind: words(&it["type"]).unwrap_or_default(),
    };
    Some(Dns { domain, providers: row.dns_providers.iter().map(provider).collect() })
}

/// The original writes a row of empty texts where nobody has said anything.
fn oidc(row: &ProvisionerCluster) -> Option<Oidc> {
    let it = &row.oidc;
    let text = |name: &str| words(&it[name]).unwrap_or_default();
    let issuer_url = words(&it["issuer_url"])?;
    Some(Oidc {
        client_id: text("client_id"),
        groups_claim: text("groups_claim"),
        issuer_url,
        signing_algs: row.algorithms.clone(),
        username_claim: text("username_claim"),
        username_prefix: text("username_prefix"),
    })
}

fn administrator(it: &Value, cipher: &Cipher) -> Result<String, String> {
    // The column was called otherwise once.
    let user = words(&it["user_id"]).or(words(&it["email"])).unwrap_or_default();
    if it["is_user_id_encrypted"].as_bool() != Some(true) {
        return Ok(user);
    }
    cipher.open(&user).map_err(|error| format!("an administrator cannot be decrypted: {error}"))
}

/// A Kyma installation.
pub(super) fn kyma(row: &KymaConfigRow) -> Kyma {
    let component = |it: &store::import::KymaComponentRow| Component {
        component: it.component.clone(),
        namespace: it.namespace.clone(),
        configuration: entries(&it.configuration),
        source_url: Some(it.source_url.clone()).filter(|url| !url.is_empty()),
        conflict_strategy: strategy(&it.configuration),
    };
    Kyma {
        version: row.version.clone(),
        profile: match row.profile.to_uppercase().as_str() {
            "EVALUATION" => Some(Profile::Evaluation),
            "PRODUCTION" => Some(Profile::Production),
            _ => None,
        },
        components: row.components.iter().map(component).collect(),
        configuration: entries(&row.global_configuration),
        conflict_strategy: strategy(&row.global_configuration),
    }
}

fn entries(configuration: &Value) -> Vec<Entry> {
    let entry = |it: &Value| Entry {
        key: words(&it["key"]).unwrap_or_default(),
        value: words(&it["value"]).unwrap_or_default(),
        secret: it["secret"].as_bool().unwrap_or_default(),
    };
    configuration["configEntries"].as_array().into_iter().flatten().map(entry).collect()
}

fn strategy(configuration: &Value) -> Option<ConflictStrategy> {
    match configuration["conflictStrategy"].as_str() {
        Some("Merge") => Some(ConflictStrategy::Merge),
        Some("Replace") => Some(ConflictStrategy::Replace),
        _ => None,
    }
}

/// A text that says something.
pub(super) fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
