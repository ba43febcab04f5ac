//! The pool of accounts: claims and releases under every fault, and in a race.

use std::time::Duration;

use clients::{
    CallLimits, Kind,
    gardener::{AccountNeed, BindingKind, Gardener, ReleaseResult},
};
use serde_json::json;
use simulators::trouble::{self, Rule};

use crate::{
    faults::{Expected, Fault, Row, for_each_fault},
    garden::{Garden, NAMESPACE, row, shoot},
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

#[tokio::test]
async fn a_stale_look_into_the_pool_takes_no_second_account() {
    let garden = with_free_accounts(5).await;
    let pool = garden.gardener().await.pool(BindingKind::Credentials);
    let first = pool.claim("ga-1", WANTED).await.unwrap();

    // Both looks answer what they answered before the claim.
    let stale = trouble::Kind::StaleRead { seconds: 60 };
    garden.troubles.add(Rule::next(2, stale).on("GET", BINDINGS)).unwrap();
    let second = pool.claim("ga-1", WANTED).await.unwrap();

    assert_eq!(first.name(), second.name());
    assert_eq!(with(&garden, "tenantName", "ga-1"), [first.name()]);
    assert!(garden.troubles.active().is_empty());
}

#[tokio::test]
async fn of_fifty_tenants_and_forty_nine_accounts_one_goes_without() {
    let garden = with_free_accounts(49).await;
    // Fifty handshakes at once take their time on a busy machine.
    let limits = CallLimits { call: Duration::from_secs(60), ..CallLimits::CLUSTER };
    let gardener = Gardener::new(garden.cluster("garden", limits).await, "kyma", "kcp");
    let pool = gardener.pool(BindingKind::Credentials);

    let tenants: Vec<_> = (0..50).map(|number| format!("ga-{number}")).collect();
    let claims = tenants.iter().map(|tenant| async {
        loop {
            match pool.claim(tenant, WANTED).await {
                // As the engine does: the same step again.
                Err(error) if error.kind == Kind::Changed => {}
                claimed => return claimed,
            }
        }
    });
    let claims = futures::future::join_all(claims).await;

    let (claimed, failed): (Vec<_>, Vec<_>) = claims.into_iter().partition(Result::is_ok);
    let mut names: Vec<_> =
        claimed.into_iter().map(|binding| binding.unwrap().name().to_owned()).collect();
    names.sort();
    names.dedup();
    assert_eq!((names.len(), failed.len()), (49, 1));
    assert_eq!(failed[0].as_ref().unwrap_err().reason.as_deref(), Some("NoFreeAccount"));
}

#[tokio::test]
async fn accounts_of_everybody_are_shared_and_never_released() {
    let garden = Garden::start().await;
    for kind in 0..2 {
        let shared = json!({"hyperscalerType": "aws", "shared": "true"});
        put(&garden, kind, "full", &shared);
        put(&garden, kind, "empty", &shared);
    }
    let gardener = garden.gardener().await;
    let mut user = shoot("c-1", "r-1");
    user.spec.secret_binding_name = Some("secret-of-full".into());
    user.spec.credentials_binding_name = Some("full".into());
    gardener.create(&user).await.unwrap();

    for (kind, named) in
        [(BindingKind::Secret, "secret-of-empty"), (BindingKind::Credentials, "empty")]
    {
        let pool = gardener.pool(kind);
        let shared = pool.shared(WANTED).await.unwrap();

        assert_eq!(pool.name_for_shoot(&shared), Some(named));
        assert_eq!(pool.release("full").await.unwrap(), ReleaseResult::Exempt);
        assert_eq!(pool.release("nowhere").await.unwrap(), ReleaseResult::Gone);
    }
}
