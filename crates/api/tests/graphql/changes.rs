//! Every field of a change arrives: of the cluster by `upgradeShoot`, of the versions by `upgradeRuntime`.

use engine::Storage as _;
use serde_json::{Value, json};

use crate::{
    round_trip::{AWS, AZURE, GCP, OPEN_STACK, new_runtime},
    schema::ClientSchema,
    service::Service,
};

const SHOOT: &str = r#"mutation { result: upgradeShoot(id: "RUNTIME", config: {
  administrators: ["eve@example.org"]
  gardenerConfig: { kubernetesVersion: "1.31.4", machineType: "m6", DISKS
    workerCidr: "10.250.0.0/16", targetSecret: "PROVIDER-free-1", autoScalerMin: 4, autoScalerMax: 20,
    machineImage: "image", machineImageVersion: "1592.1.0", maxSurge: 5, maxUnavailable: 6,
    purpose: "production", enableKubernetesVersionAutoUpdate: false,
    enableMachineImageVersionAutoUpdate: true, providerSpecificConfig: SPECIFIC
    oidcConfig: { clientID: "other", groupsClaim: "teams", issuerURL: "https://other.example.org",
      signingAlgs: ["ES256"], usernameClaim: "name", usernamePrefix: "o:" }
    exposureClassName: "internet", shootNetworkingFilterDisabled: true } }) { id } }"#;
const DISKS: &str = r#"diskType: "gp2", volumeSizeGB: 80,"#;

/// The configuration that the operation was begun with.
async fn configuration(service: &Service, operation: &Value) -> Value {
    let id = operation["id"].as_str().unwrap().parse().unwrap();
    let snapshot = service.provisioner.parts().engine.storage().read(id).await.unwrap().unwrap();
    let input: Value = serde_json::from_slice(&snapshot.input).unwrap();
    input["document"]["configuration"].clone()
}

#[tokio::test]
async fn every_field_of_a_changed_cluster_arrives_for_each_provider() {
    let service = Service::start().await;

    for (provider, specific) in
        [("aws", AWS), ("azure", AZURE), ("gcp", GCP), ("openstack", OPEN_STACK)]
    {
        let ordered = service.run(&new_runtime(provider, specific)).await.data();
        let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
        service.finish().await;
        let disks = provider != "openstack";
        let query = SHOOT
            .replace("RUNTIME", runtime)
            .replace("PROVIDER", provider)
            .replace("DISKS", if disks { DISKS } else { "" })
            .replace("SPECIFIC", specific);

        let operation = service.run(&query).await.data()["result"].clone();
        let configuration = configuration(&service, &operation).await;
        service.finish().await;

        assert_eq!(configuration["administrators"], json!(["eve@example.org"]), "{provider}");
        let expected = json!({
            "kubernetes_version": "1.31.4", "machine_type": "m6",
            "disk_type": disks.then_some("gp2"), "volume_size_gb": disks.then_some(80),
            "worker_cidr": "10.250.0.0/16", "target_secret": format!("{provider}-free-1"),
            "auto_scaler_min": 4, "auto_scaler_max": 20, "machine_image": "image",
            "machine_image_version": "1592.1.0", "max_surge": 5, "max_unavailable": 6,
            "purpose": "production", "kubernetes_auto_update": false,
            "machine_image_auto_update": true,
            "oidc": {
                "client_id": "other", "groups_claim": "teams",
                "issuer_url": "https://other.example.org", "signing_algs": ["ES256"],
                "username_claim": "name", "username_prefix": "o:",
            },
            "exposure_class_name": "internet", "networking_filter_disabled": true,
        });
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(configuration["cluster"][field], *value, "{provider}: {field}");
        }
    }
}

#[tokio::test]
async fn values_that_cannot_change_arrive_and_are_refused() {
    let service = Service::start().await;
    let ordered = service.run(&new_runtime("gcp", GCP)).await.data();
    let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
    service.finish().await;
    let before = service.operations().await;

    for field in [
        "exposureClassName: \"internal\"",
        "workerCidr: \"10.0.0.0/16\"",
        "targetSecret: \"another\"",
        "providerSpecificConfig: { gcpConfig: { zones: [\"z\"] } }",
    ] {
        let query = format!(
            "mutation {{ upgradeShoot(id: \"{runtime}\", config: {{ gardenerConfig: {{ {field} }} }}) {{ id }} }}"
        );
        let error = service.run(&query).await.error();

        let name = field.split(':').next().unwrap();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(name), "{message}");
    }
    assert_eq!(service.operations().await, before);
}

#[tokio::test]
async fn an_empty_change_of_a_cluster_changes_nothing_but_administrators() {
    let service = Service::start().await;
    let ordered = service.run(&new_runtime("gcp", GCP)).await.data();
    let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
    service.finish().await;
    let row = service.provisioner.parts().store.find(runtime.parse().unwrap()).await;
    let before: Value = serde_json::from_slice(&row.unwrap().unwrap().document).unwrap();
    let query = format!(
        "mutation {{ result: upgradeShoot(id: \"{runtime}\", config: {{ gardenerConfig: {{}} }}) {{ id }} }}"
    );

    let operation = service.run(&query).await.data()["result"].clone();
    let after = configuration(&service, &operation).await;

    assert_eq!(after["cluster"], before["configuration"]["cluster"]);
    assert_eq!(after["administrators"], json!([]));
}

#[tokio::test]
async fn an_upgrade_takes_kyma_kubernetes_or_both() {
    let service = Service::start().await;
    let ordered = service.run(&new_runtime("gcp", GCP)).await.data();
    let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
    service.finish().await;
    let cases = [
        (r#"{ kubernetesVersion: "1.31.4" }"#, "1.22.0", "1.31.4"),
        (
            r#"{ kymaConfig: { version: "1.24.11" }, kubernetesVersion: "1.31.4" }"#,
            "1.24.11",
            "1.31.4",
        ),
        // Counts at once, because no Shoot has to be changed for it.
        (r#"{ kymaConfig: { version: "1.24.11" } }"#, "1.24.11", "1.31.2"),
    ];

    for (config, kyma, kubernetes) in cases {
        let query = format!(
            "mutation {{ result: upgradeRuntime(id: \"{runtime}\", config: {config}) {{ id }} }}"
        );
        let operation = service.run(&query).await.data()["result"].clone();
        let configuration = configuration(&service, &operation).await;
        service.finish().await;

        let found =
            (&configuration["kyma"]["version"], &configuration["cluster"]["kubernetes_version"]);
        assert_eq!(found, (&json!(kyma), &json!(kubernetes)), "{config}");
    }
}

#[tokio::test]
async fn the_change_of_a_cluster_sends_every_field_of_its_inputs() {
    let service = Service::start().await;
    let schema = ClientSchema::fetch(&service).await;
    let document = [SHOOT, DISKS].concat();

    for name in ["UpgradeShootInput", "GardenerUpgradeInput"] {
        for (field, _) in schema.members(name) {
            assert!(document.contains(&format!("{field}:")), "{name}.{field} is not sent");
        }
    }
}
