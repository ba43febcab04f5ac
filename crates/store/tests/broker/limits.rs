//! An account gets no more instances than it may have, however many orders come at once.

use futures::future::join_all;
use serde_json::json;
use store::broker::{AcceptedInstance, InstanceLimits, Limit, NewInstance, ReachedLimit};

use crate::bench::{Bench, instance, operation};

const OPERATIONS: &str = "SELECT count(*) FROM operations";

impl Bench {
    async fn within(&self, new: &NewInstance, limits: &InstanceLimits) -> AcceptedInstance {
        let digest = new.id.as_bytes();
        self.store.accept_new(new, digest, operation(&new.id), limits).await.unwrap()
    }
}

fn per_account(most: u32) -> InstanceLimits {
    InstanceLimits { per_global_account: Some(Limit::of_all(most)), ..InstanceLimits::default() }
}

fn per_subaccount(most: u32) -> InstanceLimits {
    InstanceLimits { per_subaccount: Some(Limit::of_all(most)), ..InstanceLimits::default() }
}

/// An order of this account, subaccount and plan.
fn order(id: &str, account: &str, subaccount: &str, plan: &str) -> NewInstance {
    NewInstance {
        global_account: account.into(),
        subaccount: subaccount.into(),
        plan_id: plan.into(),
        ..instance(id)
    }
}

pub(crate) async fn of_fifty_orders_for_one_place_one_is_accepted(b: Bench) {
    let orders: Vec<_> = (0..50).map(|n| instance(&n.to_string())).collect();
    let limits = per_account(1);

    let answers = join_all(orders.iter().map(|order| b.within(order, &limits))).await;

    let count = |wanted| answers.iter().filter(|answer| **answer == wanted).count();
    let full = AcceptedInstance::Limit(ReachedLimit::GlobalAccount);
    assert_eq!((count(AcceptedInstance::Accepted), count(full)), (1, 49));
    assert_eq!(b.count(OPERATIONS).await, 1);
    assert_eq!(b.count("SELECT count(*) FROM instances").await, 1);
}

pub(crate) async fn a_limit_counts_what_it_says(b: Bench) {
    let trials = Limit { plans: Some(vec!["trial".into(), "free".into()]), most: 2 };
    let trials = InstanceLimits { per_global_account: Some(trials), ..InstanceLimits::default() };
    b.order(&order("aws", "a", "s", "aws")).await;
    b.order(&order("trial", "a", "s", "trial")).await;
    b.order(&order("elsewhere", "b", "s", "trial")).await;

    let second = b.within(&order("second", "a", "s", "free"), &trials).await;
    let third = b.within(&order("third", "a", "s", "trial"), &trials).await;
    let uncounted = b.within(&order("uncounted", "a", "s", "aws"), &trials).await;
    let full = b.within(&order("full", "c", "s", "aws"), &per_subaccount(5)).await;
    let room = b.within(&order("room", "c", "s", "aws"), &per_subaccount(6)).await;
    let replica = b.hands.join().await;
    b.hands.end(replica, "trial", json!({ "deleted": true })).await;
    let left_over = b.within(&order("fourth", "a", "s", "trial"), &trials).await;
    b.execute("DELETE FROM instances WHERE id = 'elsewhere'").await;
    let after_removal = b.within(&order("fifth", "b", "t", "trial"), &per_account(1)).await;

    assert_eq!(second, AcceptedInstance::Accepted);
    assert_eq!(third, AcceptedInstance::Limit(ReachedLimit::GlobalAccount));
    assert_eq!(uncounted, AcceptedInstance::Accepted);
    assert_eq!(full, AcceptedInstance::Limit(ReachedLimit::Subaccount));
    assert_eq!(room, AcceptedInstance::Accepted);
    assert_eq!(left_over, AcceptedInstance::Limit(ReachedLimit::GlobalAccount));
    assert_eq!(after_removal, AcceptedInstance::Accepted);
}

pub(crate) async fn a_change_of_the_plan_counts_the_others_of_its_accounts_alone(b: Bench) {
    for (id, account, subaccount, plan) in [
        ("changes", "a", "s", "aws"),
        ("trial", "a", "t", "trial"),
        ("beside", "b", "s", "aws"),
        ("elsewhere", "c", "u", "trial"),
    ] {
        b.order(&order(id, account, subaccount, plan)).await;
    }
    let row = b.store.find("changes").await.unwrap().unwrap();
    let reached =
        async |limits: InstanceLimits| b.store.reached_by_change(&row, &limits).await.unwrap();
    let of = |plan: &str| Limit { plans: Some(vec![plan.into()]), most: 1 };
    let per_account_of = |plan: &str| InstanceLimits {
        per_global_account: Some(of(plan)),
        ..InstanceLimits::default()
    };

    assert_eq!(reached(InstanceLimits::default()).await, None);
    assert_eq!(reached(per_account(1)).await, Some(ReachedLimit::GlobalAccount));
    assert_eq!(reached(per_account(2)).await, None);
    assert_eq!(reached(per_subaccount(1)).await, Some(ReachedLimit::Subaccount));
    assert_eq!(reached(per_subaccount(2)).await, None);
    assert_eq!(reached(per_account_of("trial")).await, Some(ReachedLimit::GlobalAccount));
    assert_eq!(reached(per_account_of("aws")).await, None, "it does not count itself");
}

pub(crate) async fn a_repetition_is_recognised_when_the_limit_is_reached(b: Bench) {
    let new = instance("one");
    assert_eq!(b.within(&new, &per_account(1)).await, AcceptedInstance::Accepted);
    let first = b.store.last_operation("one", None).await.unwrap().unwrap();

    let same = b.within(&new, &per_account(1)).await;
    let fewer = b.within(&new, &per_account(0)).await;

    assert_eq!(same, AcceptedInstance::Same { operation: first });
    assert_eq!(fewer, AcceptedInstance::Same { operation: first });
}

pub(crate) async fn orders_under_crossed_limits_do_not_lock_each_other_out(b: Bench) {
    let limits = InstanceLimits {
        per_global_account: Some(Limit::of_all(100)),
        per_subaccount: Some(Limit::of_all(10)),
    };
    // Accounts and subaccounts of the same names, taken crosswise.
    let orders: Vec<_> = (0..40)
        .map(|n| {
            let (account, subaccount) = if n % 2 == 0 { ("x", "y") } else { ("y", "x") };
            order(&n.to_string(), account, subaccount, "aws")
        })
        .collect();

    let answers = join_all(orders.iter().map(|order| b.within(order, &limits))).await;

    let count = |wanted| answers.iter().filter(|answer| **answer == wanted).count();
    let full = AcceptedInstance::Limit(ReachedLimit::Subaccount);
    assert_eq!((count(AcceptedInstance::Accepted), count(full)), (20, 20));
}
