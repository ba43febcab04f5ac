//! The pool of accounts: one winner per binding, no lock, nothing lost when an answer is.

use std::collections::BTreeSet;

use clients::{
    CallLimits, Kind,
    gardener::{AccountNeed, BindingKind, Gardener, Pool, ReleaseResult},
};
use serde_json::{Value, json};

use crate::kube_api::KubeApi;

const ROOT: &str =
    "/apis/security.gardener.cloud/v1alpha1/namespaces/garden-kyma/credentialsbindings";
const SHOOTS: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";
const AWS: AccountNeed<'static> = AccountNeed { hyperscaler: "aws", eu_access: false };

async fn pool(api: &KubeApi) -> Pool {
    let cluster = api.cluster(CallLimits::DEFAULT).await;
    Gardener::new(cluster, "kyma", "kcp").pool(BindingKind::Credentials)
}

fn binding(api: &KubeApi, name: &str, labels: &Value) {
    let mut all = json!({"hyperscalerType": "aws"});
    all.as_object_mut().unwrap().extend(labels.as_object().unwrap().clone());
    let secret = json!({"kind": "Secret", "name": name});
    api.put(
        &format!("{ROOT}/{name}"),
        json!({"metadata": {"labels": all}, "credentialsRef": secret}),
    );
}

fn label(api: &KubeApi, name: &str, label: &str) -> Value {
    api.get(&format!("{ROOT}/{name}")).unwrap()["metadata"]["labels"][label].clone()
}

fn shoot(api: &KubeApi, name: &str, binding: &str) {
    api.put(&format!("{SHOOTS}/{name}"), json!({"spec": {"credentialsBindingName": binding}}));
}

#[tokio::test]
async fn a_tenant_keeps_the_account_it_has() {
    let api = KubeApi::default();
    binding(&api, "free", &json!({}));
    binding(&api, "mine", &json!({"tenantName": "ga"}));
    binding(&api, "soiled", &json!({"tenantName": "ga", "dirty": "true"}));
    let pool = pool(&api).await;

    let claimed = pool.claim("ga", AWS).await.unwrap();

    assert_eq!(claimed.name(), "mine");
    assert_eq!(pool.name_for_shoot(&claimed), Some("mine"));
    assert_eq!(label(&api, "free", "tenantName"), Value::Null);
}

#[tokio::test]
async fn only_a_fitting_account_is_claimed_and_an_empty_pool_says_so() {
    let api = KubeApi::default();
    binding(&api, "shared", &json!({"shared": "true"}));
    binding(&api, "european", &json!({"euAccess": "true"}));
    binding(&api, "other", &json!({"hyperscalerType": "gcp"}));
    let pool = pool(&api).await;

    let error = pool.claim("ga", AWS).await.unwrap_err();

    assert_eq!((error.kind, error.reason.as_deref()), (Kind::NotFound, Some("NoFreeAccount")));
    let european = pool.claim("ga", AccountNeed { eu_access: true, ..AWS }).await.unwrap();
    assert_eq!(european.name(), "european");
    assert_eq!(label(&api, "european", "tenantName"), "ga");
    assert!(european.rest.contains_key("credentialsRef"));
}

#[tokio::test]
async fn tenants_that_race_get_different_accounts_and_one_tenant_gets_one() {
    let api = KubeApi::default();
    for number in 0..8 {
        binding(&api, &format!("b{number}"), &json!({}));
    }
    let pool = pool(&api).await;

    let tenants: Vec<_> = (0..24).map(|number| format!("ga-{}", number % 6)).collect();
    let claims = tenants.iter().map(|tenant| pool.claim(tenant, AWS));
    let claimed = futures::future::join_all(claims).await;

    let pairs: BTreeSet<_> = tenants
        .iter()
        .zip(claimed)
        .map(|(tenant, claimed)| (tenant.clone(), claimed.unwrap().name().to_owned()))
        .collect();
    assert_eq!(pairs.len(), 6, "{pairs:?}");
    let names: BTreeSet<_> = pairs.iter().map(|(_, name)| name).collect();
    assert_eq!(names.len(), 6, "{pairs:?}");
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_found_again() {
    let api = KubeApi::default();
    binding(&api, "a", &json!({}));
    binding(&api, "b", &json!({}));
    let pool = pool(&api).await;
    api.lose(1);

    assert_eq!(pool.claim("ga", AWS).await.unwrap_err().kind, Kind::AnswerLost);
    let claimed = pool.claim("ga", AWS).await.unwrap();

    assert_eq!(label(&api, claimed.name(), "tenantName"), "ga");
    let other = if claimed.name() == "a" { "b" } else { "a" };
    assert_eq!(label(&api, other, "tenantName"), Value::Null);
}

#[tokio::test]
async fn the_least_used_shared_account_is_chosen() {
    let api = KubeApi::default();
    binding(&api, "one", &json!({"shared": "true"}));
    binding(&api, "two", &json!({"shared": "true"}));
    shoot(&api, "c-1", "one");
    shoot(&api, "c-2", "one");
    shoot(&api, "c-3", "two");

    assert_eq!(pool(&api).await.shared(AWS).await.unwrap().name(), "two");
}

#[tokio::test]
async fn an_account_is_released_once_nobody_uses_it() {
    let api = KubeApi::default();
    binding(&api, "mine", &json!({"tenantName": "ga"}));
    binding(&api, "shared", &json!({"shared": "true"}));
    binding(&api, "internal", &json!({"internal": "true"}));
    shoot(&api, "c-1", "mine");
    let pool = pool(&api).await;

    assert_eq!(pool.release("mine").await.unwrap(), ReleaseResult::InUse);
    api.remove(&format!("{SHOOTS}/c-1"));
    api.lose(1);
    assert_eq!(pool.release("mine").await.unwrap_err().kind, Kind::AnswerLost);
    assert_eq!(pool.release("mine").await.unwrap(), ReleaseResult::Dirty);

    assert_eq!(label(&api, "mine", "dirty"), "true");
    assert_eq!(label(&api, "mine", "tenantName"), "ga");
    assert_eq!(pool.release("shared").await.unwrap(), ReleaseResult::Exempt);
    assert_eq!(pool.release("internal").await.unwrap(), ReleaseResult::Exempt);
    assert_eq!(pool.release("nothing").await.unwrap(), ReleaseResult::Gone);
}

#[tokio::test]
async fn a_tenant_that_would_change_the_selector_is_refused() {
    let api = KubeApi::default();
    binding(&api, "foreign", &json!({"tenantName": "other"}));
    let pool = pool(&api).await;

    for tenant in ["", "a,tenantName=other", "a b", "-a", "ü", &"a".repeat(64)] {
        let error = pool.claim(tenant, AWS).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 }, "{tenant}");
    }
    assert_eq!(api.journal.len(), 0);
}
