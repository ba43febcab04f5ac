//! New runtimes for the round trip, one for each provider, with every field that a client sends.

use serde_json::{Value, json};

pub(super) const PROVISION: &str = r#"mutation { provisionRuntime(config: {
  runtimeInput: { name: "demo-PROVIDER", description: "a demo", labels: { team: "blue", n: [1, {a: true}] } }
  clusterConfig: {
    administrators: ["ada@example.org", "bob@example.org"]
    gardenerConfig: {
      name: "c-PROVIDER", kubernetesVersion: "1.31.2", provider: "PROVIDER", targetSecret: "PROVIDER-free-1",
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
    version: "1.22.0", profile: Evaluation, conflictStrategy: Replace
    components: [ { component: "compass-runtime-agent", namespace: "kyma-system",
      sourceURL: "https://charts.example.org/agent", conflictStrategy: Merge
      configuration: [ { key: "a", value: "1" } { key: "c", value: "3", secret: true } ] } ]
    configuration: [ { key: "b", value: "2", secret: true } ] }
}) { runtimeID } }"#;

pub(crate) const AWS: &str = r#"{ awsConfig: { vpcCidr: "10.250.0.0/16", awsZones: [ { name: "1a",
  publicCidr: "10.250.32.0/20", internalCidr: "10.250.48.0/20", workerCidr: "10.250.0.0/19" } ] } }"#;

pub(crate) const AZURE: &str = r#"{ azureConfig: { vnetCidr: "10.250.0.0/16", enableNatGateway: true,
  azureZones: [ { name: 2, cidr: "10.250.0.0/19" } ], idleConnectionTimeoutMinutes: 7 } }"#;

pub(crate) const GCP: &str = r#"{ gcpConfig: { zones: ["a", "b"] } }"#;

pub(crate) const OPEN_STACK: &str = r#"{ openStackConfig: { zones: ["a"], floatingPoolName: "pool",
  cloudProfileName: "profile", loadBalancerProvider: "f5" } }"#;

/// The order of a runtime with every field.
pub(crate) fn new_runtime(provider: &str, specific: &str) -> String {
    let query = PROVISION.replace("PROVIDER", provider).replace("SPECIFIC", specific);
    let disks = if provider == "openstack" { r#"diskType: "gp3", volumeSizeGB: 50,"# } else { "" };
    if disks.is_empty() { query } else { query.replace(disks, "") }
}

/// What only one provider has, as it is sent and as it is read.
pub(super) fn cases() -> [(&'static str, &'static str, Value); 4] {
    let aws = json!({
        "__typename": "AWSProviderConfig",
        "awsZones": [{
            "name": "1a", "publicCidr": "10.250.32.0/20", "internalCidr": "10.250.48.0/20",
            "workerCidr": "10.250.0.0/19",
        }],
        "vpcCidr": "10.250.0.0/16",
    });
    let azure = json!({
        "__typename": "AzureProviderConfig", "vnetCidr": "10.250.0.0/16", "zones": null,
        "azureZones": [{"name": 2, "cidr": "10.250.0.0/19"}], "enableNatGateway": true,
        "idleConnectionTimeoutMinutes": 7,
    });
    let gcp = json!({"__typename": "GCPProviderConfig", "zones": ["a", "b"]});
    let open_stack = json!({
        "__typename": "OpenStackProviderConfig", "zones": ["a"], "floatingPoolName": "pool",
        "cloudProfileName": "profile", "loadBalancerProvider": "f5",
    });
    [
        ("aws", AWS, aws),
        ("azure", AZURE, azure),
        ("gcp", GCP, gcp),
        ("openstack", OPEN_STACK, open_stack),
    ]
}
