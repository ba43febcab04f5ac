//! The examples of docs/provisioner-api.md are run, and their answers compared.

use serde_json::Value;

use crate::service::Service;

const PAGE: &str = include_str!("../../../../docs/provisioner-api.md");

/// The blocks of the page: language and text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    PAGE.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).collect()
}

#[tokio::test]
async fn every_documented_query_is_answered_as_documented() {
    let service = Service::start().await;
    let blocks = blocks();
    let mut compared = 0;

    for (place, (language, query)) in blocks.iter().enumerate() {
        if *language != "graphql" {
            continue;
        }
        let reply = service.run(query).await;
        match blocks.get(place + 1) {
            Some(("json", answer)) => {
                let answer: Value = serde_json::from_str(answer).unwrap();
                assert_eq!(reply.json(), answer, "{query}");
                compared += 1;
            }
            _ => drop(reply.data()),
        }
    }

    assert!(compared >= 4, "{compared}");
}

#[tokio::test]
async fn the_documented_command_sends_what_the_api_takes() {
    let service = Service::start().await;
    let (_, command) = blocks().into_iter().find(|(language, _)| *language == "sh").unwrap();
    let body = command.split('\'').find(|part| part.starts_with('{')).unwrap();

    let reply = service.post(&serde_json::from_str(body).unwrap()).await;

    assert!(reply.data().is_object());
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
