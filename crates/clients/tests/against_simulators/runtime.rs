//! Inside of a runtime: Secrets, namespaces, administrators; every fault, and the repetition.

use std::collections::BTreeMap;

use clients::{Kind, runtime::Content};
use serde_json::json;
use simulators::trouble::{self, Rule};

use crate::{
    faults::{Expected, Fault, for_each_fault},
    garden::{Garden, row},
};

const SECRETS: &str = "/clusters/runtime/api/v1/namespaces/kyma-system/secrets";
const NAMESPACES: &str = "/clusters/runtime/api/v1/namespaces$";
const BINDINGS: &str = "/clusters/runtime/*/clusterrolebindings";

fn content(number: usize) -> Content {
    let data = [("clientid", "c"), ("clientsecret", "s3cret")];
    let mut data: BTreeMap<String, secrecy::SecretString> =
        data.map(|(key, value)| (key.into(), value.to_owned().into())).into();
    data.insert("cluster_id".into(), number.to_string().into());
    let labels = [("app.kubernetes.io/managed-by".into(), "kcp".into())].into();
    Content { data, labels, annotations: BTreeMap::new() }
}

/// Leaves an old administrator, who is to be removed.
fn leave_an_old_one(garden: &Garden) {
    let labels = json!({"reconciler.kyma-project.io/managed-by": "reconciler", "type": "admin"});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "administrator9", "labels": labels},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"},
        "subjects": [{"kind": "User", "name": "old@example.org"}],
    });
    garden.server.apply("runtime", "test", &binding).unwrap();
}

fn changed(fault: Fault) -> Option<Expected> {
    (fault == Fault::Status(409)).then_some(Expected::Fails(Kind::Changed))
}

#[tokio::test]
async fn a_secret_is_made_and_overwritten_after_every_fault() {
    let garden = Garden::start().await;
    let runtime = garden.runtime().await;
    runtime.ensure_namespace("kyma-system").await.unwrap();
    let holds = |name: &str, number: usize| {
        let found = garden.server.get("runtime", "secrets", "kyma-system", name).unwrap();
        let wanted =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, number.to_string());
        assert_eq!(found["data"]["cluster_id"], wanted);
    };

    for_each_fault(
        garden.side(),
        row("POST", SECRETS),
        |fault| match fault {
            // The namespace is missing, it seems: it is made, and then the Secret.
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |number| {
            runtime.write_secret("kyma-system", &format!("s-{number}"), &content(number)).await
        },
        |number, ()| holds(&format!("s-{number}"), number),
    )
    .await;
    for_each_fault(
        garden.side(),
        row("PUT", SECRETS),
        changed,
        async |number| runtime.write_secret("kyma-system", "s-0", &content(number)).await,
        |number, ()| holds("s-0", number),
    )
    .await;
    assert_eq!(garden.server.list("runtime", "secrets").len(), Fault::ALL.len());
}

#[tokio::test]
async fn a_secret_that_somebody_made_behind_our_back_is_overwritten() {
    let garden = Garden::start().await;
    let runtime = garden.runtime().await;
    runtime.ensure_namespace("kyma-system").await.unwrap();
    assert!(runtime.secret("kyma-system", "s").await.unwrap().is_none());
    runtime.write_secret("kyma-system", "s", &content(1)).await.unwrap();

    // The look before the write answers what was there a minute ago: nothing.
    let stale = trouble::Kind::StaleRead { seconds: 60 };
    garden.troubles.add(Rule::next(1, stale).on("GET", SECRETS)).unwrap();
    runtime.write_secret("kyma-system", "s", &content(2)).await.unwrap();

    let found = runtime.secret("kyma-system", "s").await.unwrap().unwrap();
    assert_eq!(found["cluster_id"], b"2");
    assert!(garden.troubles.active().is_empty());
}

#[tokio::test]
async fn a_missing_namespace_is_made_and_may_meet_every_fault() {
    let garden = Garden::start().await;
    let runtime = garden.runtime().await;

    for_each_fault(
        garden.side(),
        row("POST", NAMESPACES),
        |fault| match fault {
            // Made by nobody, so the Secret is refused; the next try makes it again.
            Fault::Phantom => Some(Expected::Fails(Kind::NotFound)),
            other => changed(other),
        },
        async |number| runtime.write_secret(&format!("n-{number}"), "s", &content(number)).await,
        |number, ()| {
            assert!(garden.server.get("runtime", "secrets", &format!("n-{number}"), "s").is_some());
        },
    )
    .await;
}

#[tokio::test]
async fn a_secret_goes_after_every_fault() {
    let garden = Garden::start().await;
    let runtime = garden.runtime().await;
    for number in 0..Fault::ALL.len() {
        let name = format!("s-{number}");
        runtime.write_secret("kyma-system", &name, &content(number)).await.unwrap();
    }

    for_each_fault(
        garden.side(),
        row("DELETE", SECRETS),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |number| runtime.delete_secret("kyma-system", &format!("s-{number}")).await,
        |number, ()| {
            let name = format!("s-{number}");
            assert!(garden.server.get("runtime", "secrets", "kyma-system", &name).is_none());
        },
    )
    .await;
}

#[tokio::test]
async fn administrators_are_exactly_those_named_after_every_fault() {
    let garden = Garden::start().await;
    let runtime = garden.runtime().await;
    let wanted = |number: usize| -> Vec<String> {
        (0..number % 3).map(|person| format!("person-{number}-{person}@example.org")).collect()
    };

    for method in ["PATCH", "GET", "DELETE"] {
        for_each_fault(
            garden.side(),
            row(method, BINDINGS),
            |fault| match fault {
                Fault::Status(404) if method == "DELETE" => Some(Expected::Works),
                other => changed(other),
            },
            async |number| {
                leave_an_old_one(&garden);
                let mut people = wanted(number);
                people.push("always@example.org".into());
                runtime.set_administrators(&people).await?;
                let mut found = runtime.administrators().await?;
                found.sort();
                Ok(found)
            },
            |number, found| {
                let mut people = wanted(number);
                people.push("always@example.org".into());
                people.sort();
                assert_eq!(found, people);
            },
        )
        .await;
    }
}
