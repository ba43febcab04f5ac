//! What a garden says of its own version: its name, and the fields of Shoots.

use http::Request;
use serde_json::json;
use simulators::garden::Version;

use super::{answer, playing};

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_names_its_gardener_at_its_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let garden = playing(version).await;
        let request = Request::get("/version").body(Vec::new()).unwrap();

        let (_, _, said) = answer(&garden, request).await;

        let full = format!("v1.32.0+gardener.{}", version.release());
        assert_eq!((&said["minor"], &said["gitVersion"]), (&json!("32"), &json!(full)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_of_shoots_has_the_fields_of_the_version() {
    let newest = "1.149".parse().unwrap();
    for (version, expected) in [
        (Version::V1_65, [true, false, true]),
        (Version::V1_117, [true, true, false]),
        (newest, [false, true, false]),
    ] {
        let garden = playing(version).await;
        let path = "/openapi/v3/apis/core.gardener.cloud/v1beta1";
        let request = Request::get(path).body(Vec::new()).unwrap();

        let (_, _, document) = answer(&garden, request).await;

        let schemas = &document["components"]["schemas"];
        let spec = &schemas["core.gardener.cloud.v1beta1.Shoot"]["properties"]["spec"];
        let server = &spec["properties"]["kubernetes"]["properties"]["kubeAPIServer"]["properties"];
        let fields = ["oidcConfig", "structuredAuthentication", "enableBasicAuthentication"];
        assert_eq!(fields.map(|field| server[field].is_object()), expected, "{version}");
    }
}
