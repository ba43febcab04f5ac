//! The rows that the original programs would have written for a runtime of ours.

use ::provisioner::{
    configuration::{Cluster, Provider},
    document::Document,
};
use broker::{Details, Order};
use serde_json::{Value, json};
use store::{
    ProvisionerStore,
    testing::originals::{OriginalDatabase, encrypted},
};
use uuid::Uuid;

use super::KEY;
use crate::test_broker::Broker;

/// Rows of an instance in the original broker.
pub(super) async fn of_instance(original: &OriginalDatabase, broker: &Broker, instance: &str) {
    let row = broker.store.find(instance).await.unwrap().unwrap();
    let order: Order = serde_json::from_slice(&row.order).unwrap();
    let details: Details = serde_json::from_slice(&row.details).unwrap();
    let runtime = row.runtime_id.unwrap();
    let parameters = parameters(&order);
    let operation = json!({
        "id": Uuid::new_v4(), "instance_id": instance, "state": "succeeded", "description": "Processing finished",
        "target_operation_id": details.target_operation_id, "type": "provision", "data": data(&order, &details),
        "created_at": row.created_at.to_string(), "updated_at": row.updated_at.to_string(),
        "provisioning_parameters": parameters, "finished_stages": "start,create_runtime",
    });
    let mut states = Vec::new();
    for holds in ["cluster-config", "cluster-setup"] {
        let state = broker.store.latest_runtime_state(runtime, Some(holds)).await.unwrap().unwrap();
        let payload: Value = serde_json::from_slice(&state.payload).unwrap();
        let config = &payload["clusterConfig"]["gardenerConfig"];
        let setup = (holds == "cluster-setup").then(|| encrypted(KEY, &payload.to_string()));
        states.push(json!({
            "id": Uuid::new_v4(), "runtime_id": runtime, "operation_id": operation["id"],
            "created_at": state.created_at.to_string(), "kyma_config": encrypted(KEY, "{}"),
            "cluster_config": if config.is_null() { json!({"region": ""}) } else { config.clone() }.to_string(),
            "cluster_setup": setup.unwrap_or_default(),
        }));
    }
    let instance = json!({
        "instance_id": instance, "runtime_id": runtime, "global_account_id": row.global_account,
        "sub_account_id": row.subaccount, "service_id": row.service_id, "service_plan_id": row.plan_id,
        "service_plan_name": row.plan_name, "dashboard_url": row.dashboard_url,
        "provisioning_parameters": parameters.to_string(), "created_at": row.created_at.to_string(),
        "updated_at": row.updated_at.to_string(), "provider_region": row.region, "provider": "AWS",
        "deleted_at": "0001-01-01T00:00:00Z",
    });
    original.insert("instances", &[instance]).await;
    original.insert("operations", &[operation]).await;
    original.insert("runtime_states", &states).await;
}

fn parameters(order: &Order) -> Value {
    let mut context = serde_json::to_value(&order.context).unwrap();
    let given = order.context.sm_operator_credentials.as_ref().unwrap();
    context["sm_operator_credentials"]["clientid"] = encrypted(KEY, &given.clientid).into();
    let secret = encrypted(KEY, given.clientsecret.expose());
    context["sm_operator_credentials"]["clientsecret"] = secret.into();
    json!({
        "plan_id": order.plan_id, "service_id": order.service_id, "ers_context": context,
        "parameters": order.parameters, "platform_region": order.platform_region, "platform_provider": "AWS",
    })
}

fn data(order: &Order, details: &Details) -> Value {
    let version = details.runtime_version.as_ref().unwrap();
    json!({
        "runtime_id": details.runtime_id, "shoot_name": order.shoot_name, "shoot_domain": order.shoot_domain,
        "clusterName": details.cluster_name, "edp_created": details.edp_created,
        "avs": {
            "avs_evaluation_internal_id": details.avs.internal_id, "avs_evaluation_external_id": details.avs.external_id,
        },
        "sm_cluster_id": details.sm_cluster_id, "kyma_resource_namespace": details.kyma_namespace,
        "kyma_resource_name": details.kyma_name, "KymaTemplate": details.kyma_template,
        "cluster_configuration_version": details.cluster_configuration_version,
        "runtime_version": {"version": version.version, "origin": version.origin, "major_version": version.major},
        "temporary": false,
    })
}

/// Rows of a runtime in the original provisioner.
pub(super) async fn of_runtime(original: &OriginalDatabase, store: &ProvisionerStore, id: Uuid) {
    let row = store.find(id).await.unwrap().unwrap();
    let configuration = Document::read(&row.document).unwrap().configuration;
    let time = row.created_at.to_string();
    let time = time.trim_end_matches('Z');
    let config = Uuid::new_v4();
    let cluster = json!({
        "id": id, "tenant": row.tenant, "sub_account_id": row.subaccount, "creation_timestamp": time,
        "deleted": false, "kubeconfig": encrypted(KEY, "apiVersion: v1"), "is_kubeconfig_encrypted": true,
    });
    original.insert("cluster", &[cluster]).await;
    original.insert("gardener_config", &[gardener(config, id, &configuration.cluster)]).await;
    let operation = json!({
        "id": Uuid::new_v4(), "type": "PROVISION_NO_INSTALL", "state": "SUCCEEDED", "message": "Operation succeeded",
        "start_timestamp": time, "end_timestamp": time, "cluster_id": id, "stage": "Finished",
    });
    original.insert("operation", &[operation]).await;
    let administrators = configuration.administrators.iter().map(|name| {
        let user = encrypted(KEY, name);
        json!({"id": Uuid::new_v4(), "cluster_id": id, "user_id": user, "is_user_id_encrypted": true})
    });
    original.insert("cluster_administrator", &administrators.collect::<Vec<_>>()).await;
    let oidc = configuration.cluster.oidc.unwrap();
    let written = json!({
        "id": config, "gardener_config_id": config, "client_id": oidc.client_id, "groups_claim": oidc.groups_claim,
        "issuer_url": oidc.issuer_url, "username_claim": oidc.username_claim, "username_prefix": oidc.username_prefix,
    });
    original.insert("oidc_config", &[written]).await;
    let algorithms = oidc.signing_algs.iter();
    let algorithms = algorithms
        .map(|name| json!({"id": Uuid::new_v4(), "oidc_config_id": config, "algorithm": name}));
    original.insert("signing_algorithms", &algorithms.collect::<Vec<_>>()).await;
    let dns = configuration.cluster.dns.unwrap();
    let dns = json!({"id": Uuid::new_v4(), "gardener_config_id": config, "domain": dns.domain});
    original.insert("dns_config", &[dns]).await;
}

fn gardener(id: Uuid, runtime: Uuid, cluster: &Cluster) -> Value {
    let Provider::Aws(aws) = &cluster.provider_config else { panic!("only AWS is written") };
    let zones = aws.zones.iter().map(|zone| {
        json!({
            "name": zone.name, "publicCidr": zone.public_cidr, "internalCidr": zone.internal_cidr,
            "workerCidr": zone.worker_cidr,
        })
    });
    json!({
        "id": id, "cluster_id": runtime, "name": cluster.name, "project_name": crate::service::PROJECT,
        "kubernetes_version": cluster.kubernetes_version, "volume_size_gb": cluster.volume_size_gb.map(|it| it.to_string()),
        "machine_type": cluster.machine_type, "machine_image": cluster.machine_image,
        "machine_image_version": cluster.machine_image_version, "region": cluster.region, "provider": cluster.provider,
        "purpose": cluster.purpose, "licence_type": cluster.licence_type, "seed": cluster.seed.clone().unwrap_or_default(),
        "target_secret": cluster.target_secret, "disk_type": cluster.disk_type, "worker_cidr": cluster.worker_cidr,
        "auto_scaler_min": cluster.auto_scaler_min, "auto_scaler_max": cluster.auto_scaler_max,
        "max_surge": cluster.max_surge, "max_unavailable": cluster.max_unavailable,
        "enable_kubernetes_version_auto_update": cluster.kubernetes_auto_update,
        "enable_machine_image_version_auto_update": cluster.machine_image_auto_update,
        "provider_specific_config": {"vpcCidr": aws.vpc_cidr, "awsZones": zones.collect::<Vec<_>>()},
        "shoot_networking_filter_disabled": cluster.networking_filter_disabled,
        "control_plane_failure_tolerance": cluster.control_plane_failure_tolerance,
        "exposure_class_name": cluster.exposure_class_name, "eu_access": cluster.eu_access,
    })
}
