//! The pool of accounts: claims and releases under every fault.

mod races;

use clients::{
    Kind,
    gardener::{AccountNeed, BindingKind, ReleaseResult},
};
use serde_json::json;

use crate::{
    faults::{Expected, Fault, Row, for_each_fault},
    garden::{Garden, NAMESPACE, row},
};

const BINDING: &str = "/clusters/garden/*/credentialsbindings/";
const BINDINGS: &str = "/clusters/garden/*/credentialsbindings$";
const WANTED: AccountNeed<'static> = AccountNeed { hyperscaler: "aws", eu_access: false };
const RESOURCES: [(&str, &str, &str); 2] = [
    ("core.gardener.cloud/v1beta1", "SecretBinding", "secretbindings.core.gardener.cloud"),
    ("security.gardener.cloud/v1alpha1", "CredentialsBinding", NEW),
];
const NEW: &str = "credentialsbindings.security.gardener.cloud";

fn put(garden: &Garden, kind: usize, name: &str, labels: &serde_json::Value) {
    let (version, word, _) = RESOURCES[kind];
    garden.put(&json!({
        "apiVersion": version, "kind": word,
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "secretRef": {"name": format!("secret-of-{name}"), "namespace": NAMESPACE},
        "provider": {"type": "aws"}, "unknown": {"kept": true},
    }));
}

/// The names of the bindings with a label.
fn with(garden: &Garden, label: &str, value: &str) -> Vec<String> {
    let mut found = garden.server.list("garden", NEW);
    found.retain(|binding| binding["metadata"]["labels"][label] == value);
    found.iter().map(|binding| binding["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

async fn with_free_accounts(count: usize) -> Garden {
    let garden = Garden::start().await;
    for number in 0..count {
        put(&garden, 1, &format!("account-{number}"), &json!({"hyperscalerType": "aws"}));
    }
    garden
}

/// A concurrent claim was faster: the claim continues with the next account.
fn chosen_again(fault: Fault) -> Option<Expected> {
    matches!(fault, Fault::Status(404 | 409)).then_some(Expected::Works)
}

#[tokio::test]
async fn a_claim_takes_one_account_after_every_fault() {
    let garden = with_free_accounts(2 * Fault::ALL.len()).await;
    let pool = garden.gardener().await.pool(BindingKind::Credentials);

    for_each_fault(
        garden.side(),
        row("PUT", BINDING),
        chosen_again,
        async |number| pool.claim(&format!("ga-{number}"), WANTED).await,
        |number, binding| {
            assert_eq!(with(&garden, "tenantName", &format!("ga-{number}")), [binding.name()]);
            assert_eq!(binding.rest["unknown"], json!({"kept": true}));
        },
    )
    .await;
}

#[tokio::test]
async fn the_look_into_the_pool_may_meet_every_fault() {
    let garden = with_free_accounts(2 * Fault::ALL.len()).await;
    let pool = garden.gardener().await.pool(BindingKind::Credentials);

    for_each_fault(
        garden.side(),
        row("GET", BINDINGS),
        |fault| (fault == Fault::Status(409)).then_some(Expected::Fails(Kind::Changed)),
        async |number| pool.claim(&format!("ga-{number}"), WANTED).await,
        |number, binding| {
            assert_eq!(with(&garden, "tenantName", &format!("ga-{number}")), [binding.name()]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_release_marks_the_account_after_every_fault() {
    let garden = Garden::start().await;
    for number in 0..Fault::ALL.len() {
        let labels = json!({"hyperscalerType": "aws", "tenantName": "ga"});
        put(&garden, 1, &format!("account-{number}"), &labels);
    }
    let pool = garden.gardener().await.pool(BindingKind::Credentials);

    for_each_fault(
        garden.side(),
        Row { body: "dirty", ..row("PUT", BINDING) },
        chosen_again,
        async |number| pool.release(&format!("account-{number}")).await,
        |number, released| {
            assert_eq!(released, ReleaseResult::Dirty);
            assert!(with(&garden, "dirty", "true").contains(&format!("account-{number}")));
        },
    )
    .await;
    assert_eq!(with(&garden, "tenantName", "ga").len(), Fault::ALL.len());
}
