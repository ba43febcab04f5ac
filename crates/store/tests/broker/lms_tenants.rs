//! Tenants of logging as a service: one for each name and region.

use std::time::Duration;

use futures::future::join_all;
use store::broker::LmsTenant;
use uuid::Uuid;

use crate::bench::Bench;

const PATIENCE: Duration = Duration::from_secs(180);

async fn claim(b: &Bench, operation: Uuid) -> LmsTenant {
    b.store.claim_lms_tenant("account", "eu", operation, PATIENCE).await.unwrap()
}

pub(crate) async fn one_operation_makes_the_tenant_and_the_others_get_it(b: Bench) {
    let (maker, other) = (Uuid::now_v7(), Uuid::now_v7());

    let claims = [claim(&b, maker).await, claim(&b, other).await, claim(&b, maker).await];
    let kept = b.store.keep_lms_tenant("account", "eu", maker, "t-1").await.unwrap();
    let again = b.store.keep_lms_tenant("account", "eu", maker, "t-2").await.unwrap();

    assert_eq!(claims, [LmsTenant::Mine, LmsTenant::Others, LmsTenant::Mine]);
    assert_eq!((kept.as_deref(), again.as_deref()), (Some("t-1"), Some("t-1")));
    for operation in [maker, other] {
        assert_eq!(claim(&b, operation).await, LmsTenant::Known("t-1".into()));
    }
    let elsewhere = b.store.claim_lms_tenant("account", "us", other, PATIENCE).await.unwrap();
    assert_eq!(elsewhere, LmsTenant::Mine);
}

pub(crate) async fn of_fifty_claims_at_once_one_is_granted(b: Bench) {
    let claims = join_all((0..50).map(|_| claim(&b, Uuid::now_v7()))).await;

    assert_eq!(claims.iter().filter(|claim| **claim == LmsTenant::Mine).count(), 1);
}

pub(crate) async fn who_does_not_come_back_is_taken_for_dead(b: Bench) {
    let (dead, next) = (Uuid::now_v7(), Uuid::now_v7());
    claim(&b, dead).await;
    b.wait(179);
    let early = claim(&b, next).await;
    b.wait(2);

    let late = claim(&b, next).await;
    let found = b.store.keep_lms_tenant("account", "eu", dead, "t-dead").await.unwrap();
    let kept = b.store.keep_lms_tenant("account", "eu", next, "t-next").await.unwrap();

    assert_eq!((early, late), (LmsTenant::Others, LmsTenant::Mine));
    assert_eq!((found, kept.as_deref()), (None, Some("t-next")));
}
