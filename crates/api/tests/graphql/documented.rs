//! The examples of docs/provisioner-api.md fit the schema. That they work is tried from the command line, against all of it.

use axum::http::StatusCode;

use crate::service::Service;

const PAGE: &str = include_str!("../../../../docs/provisioner-api.md");

/// The blocks of the page: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    PAGE.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect()
}

#[tokio::test]
async fn every_documented_query_fits_the_schema() {
    let service = Service::start().await;

    for (_, query) in blocks().iter().filter(|(language, _)| *language == "graphql") {
        let reply = service.run(query).await;
        assert_eq!(reply.status, StatusCode::OK, "{query}: {}", reply.text);
    }
}

#[tokio::test]
async fn the_documented_command_sends_what_the_api_takes() {
    let service = Service::start().await;
    let (_, command) = blocks().into_iter().find(|(language, _)| *language == "sh").unwrap();
    let body = command.split('\'').find(|part| part.starts_with('{')).unwrap();

    let reply = service.post(&serde_json::from_str(body).unwrap()).await;

    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
}

#[test]
fn every_use_case_has_an_example() {
    let queries: String = blocks()
        .into_iter()
        .filter(|(language, _)| *language == "graphql")
        .map(|(_, query)| query)
        .collect();

    for name in [
        "provisionRuntime",
        "upgradeRuntime",
        "upgradeShoot",
        "deprovisionRuntime",
        "hibernateRuntime",
        "reconnectRuntimeAgent",
        "rollBackUpgradeOperation",
        "runtimeStatus",
        "runtimeOperationStatus",
    ] {
        assert!(queries.contains(name), "{name}");
    }
}
