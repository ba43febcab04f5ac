//! Limits of a query.

use api::graphql::QueryLimits;
use axum::http::StatusCode;

use crate::service::{Reply, Service};

fn refused(reply: &Reply, message: &str) {
    assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", reply.text);
    let error = reply.error();
    assert_eq!(error["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    assert!(error["message"].as_str().unwrap().contains(message), "{error}");
}

#[tokio::test]
async fn a_query_that_is_nested_too_deep_is_not_valid() {
    let service = Service::limited(QueryLimits { depth: 3, ..QueryLimits::DEFAULT }).await;
    let three = "{ runtimeStatus(id: \"r\") { runtimeConfiguration { kubeconfig } } }";
    let four = "{ runtimeStatus(id: \"r\") { runtimeConfiguration { kymaConfig { version } } } }";

    service.run(three).await.data();

    refused(&service.run(four).await, "nested too deep");
}

#[tokio::test]
async fn a_query_that_asks_for_too_much_is_not_valid() {
    let service = Service::limited(QueryLimits { complexity: 60, ..QueryLimits::DEFAULT }).await;
    let calls = |count: usize| {
        let call = |n: usize| format!("a{n}: runtimeOperationStatus(id: \"o\") {{ id }} ");
        format!("{{ {} }}", (0..count).map(call).collect::<String>())
    };

    service.run(&calls(2)).await.data();

    refused(&service.run(&calls(3)).await, "too complex");
}

#[tokio::test]
async fn fragments_that_double_many_times_are_refused_at_once() {
    let service = Service::start().await;
    let fragment = |n: usize| {
        let next = n + 1;
        format!(" fragment F{n} on OperationStatus {{ ...F{next} ...F{next} }}")
    };
    let fragments: String = (0..60).map(fragment).collect();
    let query = format!(
        "{{ runtimeOperationStatus(id: \"o\") {{ ...F0 }} }} {fragments}
        fragment F60 on OperationStatus {{ id }}"
    );

    refused(&service.run(&query).await, "too large");
}

#[tokio::test]
async fn long_chains_of_fragments_are_refused_used_or_not() {
    let service = Service::start().await;
    let chain = |length: usize| {
        let fragment = |n: usize| {
            let next = n + 1;
            format!(" fragment F{n} on OperationStatus {{ ...F{next} }}")
        };
        let fragments: String = (0..length).map(fragment).collect();
        format!("{fragments} fragment F{length} on OperationStatus {{ id }}")
    };

    for (length, message) in [(80, "nested too deep"), (3_000, "too many fragments")] {
        for first in ["...F0", "id"] {
            let asked = format!("{{ runtimeOperationStatus(id: \"o\") {{ {first} }} }}");
            refused(&service.run(&format!("{asked}{}", chain(length))).await, message);
        }
    }
    let short = format!("{{ runtimeOperationStatus(id: \"o\") {{ ...F0 }} }}{}", chain(10));
    service.run(&short).await.data();
}

#[tokio::test]
async fn fragments_that_contain_themselves_are_refused() {
    let service = Service::start().await;
    let query = "{ runtimeOperationStatus(id: \"o\") { ...A } }
        fragment A on OperationStatus { ...B } fragment B on OperationStatus { id ...A }";

    refused(&service.run(query).await, "contains itself");
}

#[tokio::test]
async fn values_and_selections_that_are_nested_without_end_are_refused() {
    let service = Service::start().await;
    let nested = |open: &str, inner: &str, close: &str, deep: usize| {
        format!("{}{inner}{}", open.repeat(deep), close.repeat(deep))
    };
    let shoot = |config: String| {
        format!("mutation {{ upgradeShoot(id: \"r\", config: {config}) {{ id }} }}")
    };

    for deep in [100, 500, 1_000, 2_000, 4_000, 8_000, 40_000] {
        let queries = [
            nested("{a", "", "}", deep),
            shoot(nested("[", "", "]", deep)),
            shoot(nested("{a:", "1", "}", deep)),
        ];
        for query in queries {
            let reply = service.run(&query).await;
            assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{deep}");
        }
    }
    assert_eq!(service.operations().await, 1);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_413() {
    let service = Service::start().await;

    let reply = service.run(&"#".repeat(250_000)).await;

    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(reply.json()["error"], "too_large");
}
