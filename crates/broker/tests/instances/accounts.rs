//! Orders that no provider account could pay for are refused at once; the pool is the landscape's, over HTTP.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base::Clock;
use broker::{
    accounts::{Need, PooledAccounts},
    instances::{AcceptedOrder, Caller, Error, Provision},
};
use clients::{
    CallLimits, Component, Gate,
    gardener::{AccountNeed, BindingKind, Gardener, Pool},
    kubernetes::Cluster,
};
use futures::future::join_all;
use jiff::Timestamp;
use serde_json::json;
use simulators::{
    garden::PoolSettings,
    ledger::{Filter, Phase},
    testing::{Options, Running},
    trouble::{Kind, Rule},
};
use tempfile::TempDir;

use crate::world::{TRIAL, World, context, request};

const AWS: AccountNeed<'static> = AccountNeed { hyperscaler: "aws", eu_access: false };

/// A broker beside a garden with so many accounts.
struct AccountsWorld {
    world: World,
    running: Running,
    pool: Pool,
    /// By which looks grow old.
    clock: Clock,
    _folder: TempDir,
}

impl AccountsWorld {
    async fn from(free: usize, shared: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        let pool = &mut options.clusters.garden.pool;
        *pool = PoolSettings { free, shared, eu: 0, dirty: 1, internal: 1, ..pool.clone() };
        pool.providers = vec!["aws".into(), "azure".into()];
        let running = Running::with(folder.path(), Clock::running(), 1, options).await;
        let gate = Gate::new(Component::GARDENER, CallLimits::CLUSTER, Clock::running());
        let kubeconfig = running.clusters().garden_kubeconfig();
        let garden = Cluster::connect(gate, &kubeconfig.into()).await.unwrap();
        let pool = Gardener::new(garden, "kyma", "kcp-test").pool(BindingKind::Secret);
        let clock = Clock::held_at(Timestamp::from_second(1_767_268_800).unwrap());
        let accounts = Arc::new(PooledAccounts::new(pool.clone(), clock.clone()));
        let world = World::paid_from(accounts).await;
        Self { world, running, pool, clock, _folder: folder }
    }

    async fn order(&self, instance: &str, account: &str) -> Result<AcceptedOrder, Error> {
        let request =
            Provision { context: Some(context(account)), ..request(instance, crate::world::AWS) };
        self.world.broker.provision(&Caller::default(), request).await
    }

    fn trouble(&self, trouble: Kind) {
        let rule = Rule::next(1_000, trouble).of("gardener");
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// How often the pool was read.
    fn looks(&self) -> usize {
        let filter = Filter { phase: Some(Phase::Received), ..Filter::default() };
        let all = self.running.landscape.ledger().all(&filter).unwrap();
        all.iter().filter(|call| call.about.route.ends_with("/secretbindings")).count()
    }
}

fn refused(answer: Result<AcceptedOrder, Error>) -> String {
    match answer.unwrap_err() {
        error @ Error::Exhausted(_) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_no_account_could_pay_for_is_refused_and_not_stored() {
    let paid = AccountsWorld::from(0, 1).await;

    let answer = paid.order("i-1", "ga-1").await;

    let words = "no unassigned provider accounts are available in the pool \"aws\"";
    assert_eq!(refused(answer), words);
    assert_eq!(paid.world.operations().await, 0);
    assert!(paid.world.store.find("i-1").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_global_account_that_has_one_orders_although_nobody_else_can() {
    let paid = AccountsWorld::from(1, 0).await;
    paid.pool.claim("ga-1", AWS).await.unwrap();

    let own = paid.order("i-1", "ga-1").await;
    let other = paid.order("i-2", "ga-2").await;

    assert!(own.is_ok(), "{own:?}");
    refused(other);
}

#[tokio::test(flavor = "multi_thread")]
async fn trials_need_an_account_that_many_use() {
    let (shared, none) = (AccountsWorld::from(0, 1).await, AccountsWorld::from(1, 0).await);

    let accepted = shared.world.broker.provision(&Caller::default(), request("i-1", TRIAL)).await;
    let answer = none.world.broker.provision(&Caller::default(), request("i-1", TRIAL)).await;

    assert!(accepted.is_ok(), "{accepted:?}");
    let words = "no shared provider accounts are available in the pool \"azure\"";
    assert_eq!(refused(answer), words);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_outside_of_the_eu_does_not_pay_for_what_must_stay_inside() {
    let paid = AccountsWorld::from(1, 1).await;
    let accounts = PooledAccounts::new(paid.pool.clone(), paid.clock.clone());
    let outside = Need { tenant: "ga-1", hyperscaler: "aws", eu_access: false, shared: false };
    let inside = Need { eu_access: true, ..outside };

    assert!(!accounts.are_exhausted(outside).await);
    assert!(accounts.are_exhausted(inside).await);
    assert!(inside.to_string().ends_with("the pool \"aws\" with EU access"), "{inside}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_that_cannot_be_seen_refuses_nobody() {
    for trouble in [
        Kind::Down { refuse: false },
        Kind::Down { refuse: true },
        Kind::Status { status: 403, body: None },
        Kind::Malformed { body: None },
    ] {
        let paid = AccountsWorld::from(0, 0).await;
        paid.trouble(trouble.clone());

        let answer = paid.order("i-1", "ga-1").await;

        assert!(answer.is_ok(), "{trouble:?}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_that_does_not_answer_costs_a_crowd_of_orders_one_short_wait() {
    let paid = AccountsWorld::from(0, 0).await;
    paid.trouble(Kind::Silent);
    let began = Instant::now();
    let ids: Vec<String> = (0..10).map(|number| format!("i-{number}")).collect();

    let answers = join_all(ids.iter().map(|id| paid.order(id, "ga-1"))).await;

    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(paid.looks(), 1);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(15), "one look of two seconds, not ten: {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_orders_is_one_look_until_it_is_old() {
    let paid = AccountsWorld::from(1, 0).await;
    let ids: Vec<String> = (0..10).map(|number| format!("i-{number}")).collect();

    let answers = join_all(ids.iter().map(|id| paid.order(id, "ga-1"))).await;
    let first = paid.looks();
    paid.pool.claim("ga-2", AWS).await.unwrap();
    let claimed = paid.looks();
    paid.clock.advance(Duration::from_secs(3));
    let late = paid.order("i-late", "ga-1").await;

    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(first, 1);
    refused(late);
    assert_eq!(paid.looks() - claimed, 2, "for a free one, and for an own one");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_was_accepted_is_answered_alike_when_the_pool_is_empty() {
    let paid = AccountsWorld::from(1, 0).await;
    let first = paid.order("i-1", "ga-1").await.unwrap();
    paid.pool.claim("ga-2", AWS).await.unwrap();
    paid.clock.advance(Duration::from_secs(3));

    let again = paid.order("i-1", "ga-1").await.unwrap();

    assert_eq!(again, first);
    refused(paid.order("i-2", "ga-1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_names_an_account_of_its_own_global_account_and_no_other() {
    let paid = AccountsWorld::from(2, 1).await;
    let own = paid.pool.claim("ga-1", AWS).await.unwrap();
    let foreign = paid.pool.claim("ga-2", AWS).await.unwrap();
    let secret = |binding| paid.pool.name_for_shoot(binding).unwrap().to_owned();
    let order = async |secret: &str, any_tenant: bool| {
        let parameters = Some(json!({"name": "dev", "targetSecret": secret}));
        let request = Provision { parameters, ..request("i-1", crate::world::AWS) };
        let caller = Caller { any_tenant, ..Caller::default() };
        paid.world.broker.provision(&caller, request).await
    };

    for (secret, what) in [
        (secret(&foreign), "another's"),
        ("aws-internal-1".to_owned(), "ours"),
        ("aws-shared-1".to_owned(), "everybody's"),
        ("aws-dirty-1".to_owned(), "a used one"),
        ("aws-free-99".to_owned(), "none"),
    ] {
        // A platform that orders for all accounts passes on what one of them wrote.
        for any_tenant in [false, true] {
            let refused = order(&secret, any_tenant).await.unwrap_err().to_string();
            assert!(refused.starts_with("parameters.targetSecret: "), "{what}: {refused}");
        }
    }
    assert_eq!(paid.world.operations().await, 0);
    assert!(order(&secret(&own), true).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trial_in_an_eu_access_region_is_paid_by_an_account_for_both_sides() {
    let world = World::sqlite().await;
    world.broker.provision(&Caller::default(), request("i-1", TRIAL)).await.unwrap();
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let mut order: broker::Order = serde_json::from_slice(&row.order).unwrap();
    order.resolved.eu_access = true;

    let need = Need::of(&order).unwrap();

    assert!(need.shared && !need.eu_access, "{need:?}");
}
