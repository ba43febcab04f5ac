//! Fields that are absent, unknown or without a meaning.

use serde_json::json;

use super::samples::{GCP, PROVISION, new_runtime};
use crate::service::Service;

#[tokio::test]
async fn the_gateway_of_azure_is_off_on_or_absent() {
    let service = Service::start().await;
    let zones = "azureZones: [ { name: 2, cidr: \"10.250.0.0/19\" } ]";
    let cases = [
        ("", json!(null)),
        ("enableNatGateway: false", json!(false)),
        ("enableNatGateway: true", json!(true)),
    ];

    for (number, (switch, expected)) in cases.into_iter().enumerate() {
        let azure =
            format!("{{ azureConfig: {{ vnetCidr: \"10.250.0.0/16\" {zones} {switch} }} }}");
        let query = new_runtime("azure", &azure).replace("-azure\"", &format!("-azure{number}\""));
        let ordered = service.run(&query).await.data();
        let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
        let query = format!(
            "{{ runtimeStatus(id: \"{runtime}\") {{ runtimeConfiguration {{ clusterConfig {{
            providerSpecificConfig {{ ... on AzureProviderConfig {{ enableNatGateway }} }} }} }} }} }}"
        );
        let status = service.run(&query).await.data();

        let path = "/runtimeStatus/runtimeConfiguration/clusterConfig/providerSpecificConfig";
        assert_eq!(status.pointer(path).unwrap()["enableNatGateway"], expected, "{switch}");
    }
}

#[tokio::test]
async fn what_clients_dereference_is_there_even_when_nothing_is_known() {
    let service = Service::start().await;
    let query = "{ r: runtimeStatus(id: \"r\") {
        runtimeConfiguration { kymaConfig { version } clusterConfig { dnsConfig { domain }
            oidcConfig { clientID groupsClaim issuerURL signingAlgs usernameClaim usernamePrefix } } }
        hibernationStatus { hibernated hibernationPossible } } }";

    let answer = service.run(query).await.data();

    let expected = json!({
        "runtimeConfiguration": {
            "kymaConfig": null,
            "clusterConfig": {
                "dnsConfig": null,
                "oidcConfig": {
                    "clientID": "", "groupsClaim": "", "issuerURL": "", "signingAlgs": [],
                    "usernameClaim": "", "usernamePrefix": "",
                },
            },
        },
        "hibernationStatus": {"hibernated": null, "hibernationPossible": null},
    });
    assert_eq!(answer["r"], expected);
}

#[tokio::test]
async fn values_without_a_meaning_are_refused_with_their_path() {
    let service = Service::start().await;
    let order = PROVISION.replace("PROVIDER", "gcp").replace("SPECIFIC", GCP);
    let cases = [
        (
            order.replace("providers: [", "providers: [null"),
            "config.clusterConfig.gardenerConfig.dnsConfig.providers[0] must not be null",
        ),
        (
            order.replace("components: [", "components: [null"),
            "config.kymaConfig.components[0] must not be null",
        ),
        (
            order.replace("{ key: \"a\", value: \"1\" }", "null"),
            "config.kymaConfig.components[0].configuration[0] must not be null",
        ),
        (
            "mutation { upgradeRuntime(id: \"r\", config: { kymaConfig: { version: \"2\",
                configuration: [null] } }) { id } }"
                .into(),
            "config.kymaConfig.configuration[0] must not be null",
        ),
    ];

    for (query, message) in cases {
        let error = service.run(&query).await.error();

        assert_eq!(error["message"], message);
        assert_eq!(error["extensions"]["error_code"], 400);
    }
    assert_eq!(service.operations().await, 1);
}
