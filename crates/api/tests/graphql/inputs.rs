//! Every field that a client sends, as use cases receive it.

use serde_json::{Value, json};

use crate::{recorder::Asked, schema::Known, service::Service};

const PROVISION: &str = r#"mutation { provisionRuntime(runtimeID: "registered", config: {
  runtimeInput: { name: "demo-1", description: "a demo", labels: { team: "blue", n: [1, {a: true}] } }
  clusterConfig: {
    administrators: ["ada@example.org", "bob@example.org"]
    gardenerConfig: {
      name: "c-1", kubernetesVersion: "1.31.2", provider: "PROVIDER", targetSecret: "secret",
      region: "region", machineType: "m5.xlarge", machineImage: "gardenlinux",
      machineImageVersion: "1443.3.0", diskType: "gp3", volumeSizeGB: 50,
      workerCidr: "10.250.0.0/16", podsCidr: "100.64.0.0/12", servicesCidr: "100.104.0.0/13",
      autoScalerMin: 3, autoScalerMax: 10, maxSurge: 4, maxUnavailable: 0, purpose: "development",
      licenceType: "Demo", enableKubernetesVersionAutoUpdate: true,
      enableMachineImageVersionAutoUpdate: false, allowPrivilegedContainers: true,
      providerSpecificConfig: SPECIFIC
      dnsConfig: { domain: "d.example.org", providers: [
        { domainsInclude: ["d.example.org"], primary: true, secretName: "dns", type: "route53" } ] }
      seed: "aws-eu1"
      oidcConfig: { clientID: "client", groupsClaim: "groups", issuerURL: "https://issuer.example.org",
        signingAlgs: ["RS256"], usernameClaim: "sub", usernamePrefix: "-" }
      exposureClassName: "internet", shootNetworkingFilterDisabled: false,
      controlPlaneFailureTolerance: "zone", euAccess: true } }
  kymaConfig: {
    version: "2.20.0", profile: Evaluation, conflictStrategy: Replace
    components: [ { component: "compass-runtime-agent", namespace: "kyma-system",
      sourceURL: "https://charts.example.org/agent", conflictStrategy: Merge
      configuration: [ { key: "a", value: "1" } ] } ]
    configuration: [ { key: "b", value: "2", secret: true } ] }
}) { id } }"#;

const AWS: &str = r#"{ awsConfig: { vpcCidr: "10.250.0.0/16", awsZones: [ { name: "1a",
  publicCidr: "10.250.32.0/20", internalCidr: "10.250.48.0/20", workerCidr: "10.250.0.0/19" }, null ] } }"#;
const AZURE: &str = r#"{ azureConfig: { vnetCidr: "10.1.0.0/16", zones: ["1"], enableNatGateway: true,
  azureZones: [ { name: 2, cidr: "10.1.2.0/24" } ], idleConnectionTimeoutMinutes: 7 } }"#;
const GCP: &str = r#"{ gcpConfig: { zones: ["a", "b"] } }"#;
const OPEN_STACK: &str = r#"{ openStackConfig: { zones: ["a"], floatingPoolName: "pool",
  cloudProfileName: "profile", loadBalancerProvider: "f5" } }"#;

fn provision(provider: &str, specific: &str) -> String {
    PROVISION.replace("PROVIDER", provider).replace("SPECIFIC", specific)
}

/// One member is there, the others are not.
fn provider_config(name: &str, config: &Value) -> Value {
    let mut all = json!({"gcp": null, "azure": null, "aws": null, "open_stack": null});
    all[name] = config.clone();
    all
}

fn oidc() -> Value {
    json!({
        "client_id": "client", "groups_claim": "groups",
        "issuer_url": "https://issuer.example.org", "signing_algs": ["RS256"],
        "username_claim": "sub", "username_prefix": "-",
    })
}

fn cluster(provider: &str, config: &Value) -> Value {
    json!({
        "name": "c-1", "kubernetes_version": "1.31.2", "provider": provider,
        "target_secret": "secret", "region": "region", "machine_type": "m5.xlarge",
        "machine_image": "gardenlinux", "machine_image_version": "1443.3.0", "disk_type": "gp3",
        "volume_size_gb": 50, "worker_cidr": "10.250.0.0/16", "pods_cidr": "100.64.0.0/12",
        "services_cidr": "100.104.0.0/13", "auto_scaler_min": 3, "auto_scaler_max": 10,
        "max_surge": 4, "max_unavailable": 0, "purpose": "development", "licence_type": "Demo",
        "kubernetes_auto_update": true, "machine_image_auto_update": false,
        "provider_config": config,
        "dns": {"domain": "d.example.org", "providers": [{
            "domains_include": ["d.example.org"], "primary": true, "secret_name": "dns",
            "kind": "route53",
        }]},
        "seed": "aws-eu1", "oidc": oidc(), "exposure_class_name": "internet",
        "networking_filter_disabled": false, "control_plane_failure_tolerance": "zone",
        "eu_access": true,
    })
}

fn kyma() -> Value {
    json!({
        "version": "2.20.0", "profile": "evaluation", "conflict_strategy": "Replace",
        "components": [{
            "component": "compass-runtime-agent", "namespace": "kyma-system",
            "source_url": "https://charts.example.org/agent", "conflict_strategy": "Merge",
            "configuration": [{"key": "a", "value": "1", "secret": false}],
        }],
        "configuration": [{"key": "b", "value": "2", "secret": true}],
    })
}

fn cases() -> [(&'static str, &'static str, Value); 4] {
    let zone = json!({
        "name": "1a", "public_cidr": "10.250.32.0/20", "internal_cidr": "10.250.48.0/20",
        "worker_cidr": "10.250.0.0/19",
    });
    let aws = json!({"vpc_cidr": "10.250.0.0/16", "zones": [zone, null]});
    let azure = json!({
        "vnet_cidr": "10.1.0.0/16", "zones": ["1"],
        "azure_zones": [{"name": 2, "cidr": "10.1.2.0/24"}],
        "nat_gateway": {"enabled": true, "idle_minutes": 7},
    });
    let open_stack = json!({
        "zones": ["a"], "floating_pool_name": "pool", "cloud_profile_name": "profile",
        "load_balancer_provider": "f5",
    });
    [
        ("aws", AWS, provider_config("aws", &aws)),
        ("azure", AZURE, provider_config("azure", &azure)),
        ("gcp", GCP, provider_config("gcp", &json!({"zones": ["a", "b"]}))),
        ("openstack", OPEN_STACK, provider_config("open_stack", &open_stack)),
    ]
}

#[tokio::test]
async fn every_field_of_a_new_runtime_arrives_for_each_provider() {
    let service = Service::start().await;

    for (provider, specific, config) in cases() {
        service.run(&provision(provider, specific)).await.data();
        let Asked::Provision(request) = service.runtimes.asked() else { panic!() };

        let expected = json!({
            "runtime_id": "registered", "name": "demo-1", "description": "a demo",
            "labels": {"team": "blue", "n": [1, {"a": true}]},
            "cluster": cluster(provider, &config),
            "administrators": ["ada@example.org", "bob@example.org"],
            "kyma": kyma(),
        });
        assert_eq!(serde_json::to_value(request).unwrap(), expected, "{provider}");
    }
}

const SHOOT: &str = r#"mutation { upgradeShoot(id: "r-1", config: {
  administrators: ["eve@example.org"]
  gardenerConfig: { kubernetesVersion: "1.32.0", machineType: "m6", diskType: "gp2", volumeSizeGB: 80,
    workerCidr: "10.0.0.0/16", targetSecret: "other", autoScalerMin: 1, autoScalerMax: 2,
    machineImage: "image", machineImageVersion: "2", maxSurge: 5, maxUnavailable: 6,
    purpose: "production", enableKubernetesVersionAutoUpdate: false,
    enableMachineImageVersionAutoUpdate: true, providerSpecificConfig: SPECIFIC
    oidcConfig: { clientID: "client", groupsClaim: "groups", issuerURL: "https://issuer.example.org",
      signingAlgs: ["RS256"], usernameClaim: "sub", usernamePrefix: "-" }
    exposureClassName: "internal", shootNetworkingFilterDisabled: true } }) { id } }"#;

#[tokio::test]
async fn every_field_of_a_changed_cluster_arrives_for_each_provider() {
    let service = Service::start().await;

    for (provider, specific, config) in cases() {
        service.run(&SHOOT.replace("SPECIFIC", specific)).await.data();
        let Asked::UpgradeShoot(id, request) = service.runtimes.asked() else { panic!() };

        let expected = json!({
            "kubernetes_version": "1.32.0", "machine_type": "m6", "disk_type": "gp2",
            "volume_size_gb": 80, "worker_cidr": "10.0.0.0/16", "target_secret": "other",
            "auto_scaler_min": 1, "auto_scaler_max": 2, "machine_image": "image",
            "machine_image_version": "2", "max_surge": 5, "max_unavailable": 6,
            "purpose": "production", "kubernetes_auto_update": false,
            "machine_image_auto_update": true, "provider_config": config, "oidc": oidc(),
            "exposure_class_name": "internal", "networking_filter_disabled": true,
            "administrators": ["eve@example.org"],
        });
        assert_eq!(id, "r-1");
        assert_eq!(serde_json::to_value(request).unwrap(), expected, "{provider}");
    }
}

#[tokio::test]
async fn what_is_left_out_of_a_new_runtime_is_absent() {
    let service = Service::start().await;
    let least = r#"mutation { provisionRuntime(config: { runtimeInput: { name: "n" }
        clusterConfig: { gardenerConfig: { name: "c", provider: "openstack", targetSecret: "s",
            region: "r", workerCidr: "w", providerSpecificConfig: { openStackConfig: {
                zones: [], loadBalancerProvider: "f5" } } } }
        kymaConfig: { version: "2" } }) { operation } }"#;

    let answer = service.run(least).await.data();
    let Asked::Provision(request) = service.runtimes.asked() else { panic!() };

    assert_eq!(answer, json!({"provisionRuntime": {"operation": "Provision"}}));
    let request = serde_json::to_value(request).unwrap();
    assert_eq!(request["runtime_id"], Value::Null);
    assert_eq!(request["description"], Value::Null);
    assert_eq!(request["labels"], json!({}));
    assert_eq!(request["administrators"], json!([]));
    let nothing = json!({
        "version": "2", "profile": null, "components": [], "configuration": [],
        "conflict_strategy": null,
    });
    assert_eq!(request["kyma"], nothing);
    let given = ["name", "provider", "target_secret", "region", "worker_cidr", "provider_config"];
    for (field, value) in request["cluster"].as_object().unwrap() {
        assert_eq!(value.is_null(), !given.contains(&field.as_str()), "{field}");
    }
    let open_stack = &request["cluster"]["provider_config"]["open_stack"];
    assert_eq!(open_stack["floating_pool_name"], Value::Null);
    assert_eq!(open_stack["cloud_profile_name"], Value::Null);
}

#[tokio::test]
async fn an_empty_change_of_a_cluster_changes_nothing_but_administrators() {
    let service = Service::start().await;
    let query = "mutation { upgradeShoot(id: \"r\", config: { gardenerConfig: {} }) { id } }";

    service.run(query).await.data();

    let Asked::UpgradeShoot(_, request) = service.runtimes.asked() else { panic!() };
    assert_eq!(*request, provisioner::requests::UpgradeShoot::default());
}

#[tokio::test]
async fn an_upgrade_takes_kyma_kubernetes_or_both() {
    let service = Service::start().await;
    let kyma_only = json!({"kyma": {
        "version": "2.21.0", "profile": null, "components": [], "configuration": [],
        "conflict_strategy": null,
    }, "kubernetes_version": null});
    let kubernetes_only = json!({"kyma": null, "kubernetes_version": "1.32.0"});
    let mut both = kyma_only.clone();
    both["kubernetes_version"] = "1.32.0".into();
    let cases = [
        (r#"{ kymaConfig: { version: "2.21.0" } }"#, kyma_only),
        (r#"{ kubernetesVersion: "1.32.0" }"#, kubernetes_only),
        (r#"{ kymaConfig: { version: "2.21.0" }, kubernetesVersion: "1.32.0" }"#, both),
    ];

    for (config, expected) in cases {
        let query = format!("mutation {{ upgradeRuntime(id: \"r\", config: {config}) {{ id }} }}");
        service.run(&query).await.data();
        let Asked::Upgrade(id, request) = service.runtimes.asked() else { panic!() };

        assert_eq!(id, "r");
        assert_eq!(serde_json::to_value(request).unwrap(), expected);
    }
}

#[tokio::test]
async fn the_gateway_of_azure_is_off_on_or_not_spoken_of() {
    let service = Service::start().await;
    let cases = [
        ("", json!(null)),
        ("enableNatGateway: false", json!({"enabled": false, "idle_minutes": null})),
        ("enableNatGateway: true", json!({"enabled": true, "idle_minutes": null})),
    ];

    for (switch, expected) in cases {
        let azure = format!("{{ azureConfig: {{ vnetCidr: \"v\" {switch} }} }}");
        service.run(&provision("azure", &azure)).await.data();
        let Asked::Provision(request) = service.runtimes.asked() else { panic!() };

        let azure = request.cluster.provider_config.azure.unwrap();
        assert_eq!(serde_json::to_value(azure.nat_gateway).unwrap(), expected);
    }
    let minutes = "{ azureConfig: { vnetCidr: \"v\", idleConnectionTimeoutMinutes: 7 } }";
    service.run(&provision("azure", minutes)).await.data();
    let Asked::Provision(request) = service.runtimes.asked() else { panic!() };
    let azure = request.cluster.provider_config.azure.unwrap();
    assert_eq!((azure.nat_gateway, azure.idle_minutes), (None, Some(7)));
}

#[tokio::test]
async fn values_without_a_meaning_are_refused_with_their_path() {
    let service = Service::start().await;
    let provider = "config.clusterConfig.gardenerConfig";
    let cases = [
        (
            provision("gcp", GCP).replace("providers: [", "providers: [null"),
            format!("{provider}.dnsConfig.providers[0] must not be null"),
        ),
        (
            provision("gcp", GCP).replace("components: [", "components: [null"),
            "config.kymaConfig.components[0] must not be null".into(),
        ),
        (
            provision("gcp", GCP).replace("{ key: \"a\", value: \"1\" }", "null"),
            "config.kymaConfig.components[0].configuration[0] must not be null".into(),
        ),
        (
            "mutation { upgradeRuntime(id: \"r\", config: { kymaConfig: { version: \"2\",
                configuration: [null] } }) { id } }"
                .into(),
            "config.kymaConfig.configuration[0] must not be null".into(),
        ),
    ];

    for (query, message) in cases {
        let error = service.run(&query).await.error();

        assert_eq!(error["message"], message.as_str());
        assert_eq!(error["extensions"]["error_code"], 400);
    }
    assert_eq!(service.runtimes.calls(), []);
}

#[tokio::test]
async fn the_tests_above_send_every_field_of_every_input() {
    let service = Service::start().await;
    let known = Known::ask(&service).await;
    let specific = [AWS, AZURE, GCP, OPEN_STACK].concat();
    let inputs = [
        (
            PROVISION,
            "RuntimeInput ClusterConfigInput GardenerConfigInput DNSConfigInput \
            DNSProviderInput OIDCConfigInput KymaConfigInput ComponentConfigurationInput \
            ConfigEntryInput ProvisionRuntimeInput",
        ),
        (SHOOT, "UpgradeShootInput GardenerUpgradeInput"),
        (
            specific.as_str(),
            "ProviderSpecificInput GCPProviderConfigInput AzureZoneInput \
            AzureProviderConfigInput AWSProviderConfigInput AWSZoneInput OpenStackProviderConfigInput",
        ),
    ];

    for (document, types) in inputs {
        for name in types.split_whitespace() {
            for (field, _) in known.members(name) {
                let sent = document.contains(&format!("{field}:"));
                assert!(sent, "{name}.{field} is not sent");
            }
        }
    }
}
