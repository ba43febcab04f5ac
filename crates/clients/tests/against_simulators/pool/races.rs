//! The pool of accounts: claims at once, stale looks, and accounts of everybody.

use std::time::Duration;

use clients::{
    CallLimits, Kind,
    gardener::{BindingKind, Gardener, ReleaseResult},
};
use serde_json::json;
use simulators::trouble::{self, Rule};

use super::{BINDINGS, WANTED, put, with, with_free_accounts};
use crate::garden::{Garden, shoot};

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
