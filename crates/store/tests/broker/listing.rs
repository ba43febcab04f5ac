//! Instances are found by what is known of them, page by page, and counted.

use serde_json::json;
use store::broker::{InstanceCount, InstanceFilter, NewInstance, Standing};
use uuid::Uuid;

use crate::bench::{Bench, instance, operation, queue};

impl Bench {
    /// The ids on one page of everything that a filter chooses; the total must agree.
    async fn chosen(&self, filter: InstanceFilter) -> Vec<String> {
        let filter = InstanceFilter { most: 100, ..filter };
        let page = self.store.list(&filter).await.unwrap();
        assert_eq!(page.next, None);
        assert_eq!(self.store.total(&filter).await.unwrap(), page.instances.len() as u64);
        page.instances.into_iter().map(|instance| instance.id).collect()
    }

    async fn insert(&self, id: &str, account: &str, subaccount: &str, plan: &str) {
        let new = NewInstance {
            global_account: account.into(),
            subaccount: subaccount.into(),
            plan_id: format!("{plan}-id"),
            plan_name: plan.into(),
            ..instance(id)
        };
        self.store.insert(&new).await.unwrap();
    }
}

fn all() -> InstanceFilter {
    InstanceFilter::default()
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

pub(crate) async fn names_that_fit_are_found_by_the_letters_they_begin_with(b: Bench) {
    for (at, shoot) in ["c-12", "C-12", "c-13", "c-12a", "c-1", "c_12"].into_iter().enumerate() {
        let id = format!("i{at}");
        b.store.insert(&NewInstance { shoot_name: shoot.into(), ..instance(&id) }).await.unwrap();
        b.wait(1);
    }
    let found = async |filter: InstanceFilter, prefixes: &[&str], end: &str| {
        let fits = |name: &str| name.starts_with("c-12") && name.ends_with(end);
        let prefixes = texts(prefixes);
        let (page, total) = b.store.list_fitting(&filter, &prefixes, fits).await.unwrap();
        (page.instances.into_iter().map(|it| it.shoot_name).collect::<Vec<_>>(), total)
    };
    let one = |skip| InstanceFilter { skip, most: 1, ..all() };

    // Some names begin with two of them, and are found once.
    for prefix in [&["c-12"][..], &["c-1"], &["c-1", "c-12", "c-12a"], &["nobody", "c-12"], &[]] {
        assert_eq!(found(one(0), prefix, "").await, (texts(&["c-12"]), 2), "{prefix:?}");
        assert_eq!(found(one(1), prefix, "").await, (texts(&["c-12a"]), 2), "{prefix:?}");
        assert_eq!(found(one(0), prefix, "a").await, (texts(&["c-12a"]), 1), "{prefix:?}");
        let other = InstanceFilter { regions: texts(&["nowhere"]), ..one(0) };
        assert_eq!(found(other, prefix, "").await, (vec![], 0), "{prefix:?}");
    }
    assert_eq!(found(one(0), &["nobody"], "").await, (vec![], 0));
    let first = b.store.list(&InstanceFilter { most: 1, ..all() }).await.unwrap().next;
    for prefix in [&["c-12"][..], &["c-1", "c-12"], &[]] {
        let behind_the_first = InstanceFilter { after: first.clone(), ..one(0) };
        assert_eq!(found(behind_the_first, prefix, "").await, (texts(&["c-12a"]), 1), "{prefix:?}");
    }
}

pub(crate) async fn pages_follow_each_other_without_gaps(b: Bench) {
    // Three at a time are of the same age; among them the id decides, byte by byte.
    let ids = ["B", "a", "ä", "A", "b", "c", "d", "e", "f"];
    for (n, id) in ids.iter().enumerate() {
        b.insert(id, "account", "subaccount", ["aws", "gcp"][n % 2]).await;
        if n % 3 == 2 {
            b.wait(1);
        }
    }
    b.execute("UPDATE instances SET region = 'eu' WHERE id IN ('a', 'd', 'f')").await;
    b.execute("UPDATE instances SET expired_at = created_at").await;
    let expected = ["B", "a", "ä", "A", "b", "c", "d", "e", "f"];
    let ways = [
        InstanceFilter { expired: Some(true), ..all() },
        all(),
        InstanceFilter { accounts: texts(&["account"]), ..all() },
        InstanceFilter { subaccounts: texts(&["subaccount"]), ..all() },
        InstanceFilter { accounts: texts(&["account", "other"]), ..all() },
        InstanceFilter { subaccounts: texts(&["subaccount", "other"]), ..all() },
        InstanceFilter { plans: texts(&["gcp", "aws", "gcp"]), ..all() },
        InstanceFilter { regions: texts(&["", "eu"]), ..all() },
        InstanceFilter { ids: texts(&ids), ..all() },
    ];

    for filter in ways {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let filter = InstanceFilter { after, most: 2, ..filter.clone() };
            let page = b.store.list(&filter).await.unwrap();
            assert_eq!(b.store.total(&filter).await.unwrap(), 9 - found.len() as u64);
            found.extend(page.instances.into_iter().map(|instance| instance.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected);
        if filter.ids.is_empty() {
            let marks = b.store.marks(&filter, 3).await.unwrap();
            let marks: Vec<_> = marks.into_iter().map(|mark| mark.id).collect();
            assert_eq!(marks, ["ä", "c", "f"], "{filter:?}");
        }
        let (of_even, total) =
            b.store.list_fitting(&filter, &[], |name| "Aace".contains(&name[2..])).await.unwrap();
        assert_eq!((of_even.instances.len(), total), (0, 4), "{filter:?}");
        let third = InstanceFilter { skip: 6, most: 3, ..filter };
        let third = b.store.list(&third).await.unwrap();
        assert_eq!(third.next, None);
        let third: Vec<_> = third.instances.into_iter().map(|instance| instance.id).collect();
        assert_eq!(third, expected[6..]);
    }
}

pub(crate) async fn pages_from_the_newest_back_follow_each_other_without_gaps(b: Bench) {
    // Three at a time are of the same age; among them the id decides, byte by byte.
    let ids = ["B", "a", "ä", "A", "b", "c", "d", "e", "f"];
    for (n, id) in ids.iter().enumerate() {
        b.insert(id, "account", "subaccount", "aws").await;
        if n % 3 == 2 {
            b.wait(1);
        }
    }
    b.execute("UPDATE instances SET standing = 'failed' WHERE id <> 'f'").await;
    b.execute("UPDATE instances SET standing = 'suspended' WHERE id = 'f'").await;
    let expected = ["f", "e", "d", "c", "b", "A", "ä", "a", "B"];
    let standings = Some(vec![Standing::Failed, Standing::Suspended]);
    let ways = [
        all(),
        InstanceFilter { accounts: texts(&["account"]), ..all() },
        InstanceFilter { subaccounts: texts(&["subaccount"]), ..all() },
        InstanceFilter { standings, ..all() },
        InstanceFilter { accounts: texts(&["account", "other"]), ..all() },
        InstanceFilter { plans: texts(&["gcp", "aws"]), ..all() },
        InstanceFilter { ids: texts(&ids), ..all() },
    ];

    for filter in ways {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let filter = InstanceFilter { after, most: 2, ..filter.clone() };
            let page = b.store.newest(&filter).await.unwrap();
            found.extend(page.instances.into_iter().map(|instance| instance.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected);
        let third = b.store.newest(&InstanceFilter { skip: 6, most: 3, ..filter }).await.unwrap();
        assert_eq!(third.next, None);
        let third: Vec<_> = third.instances.into_iter().map(|instance| instance.id).collect();
        assert_eq!(third, expected[6..]);
    }
}

pub(crate) async fn every_condition_chooses(b: Bench) {
    let runtime = Uuid::new_v4();
    b.insert("1", "a", "s", "aws").await;
    b.insert("2", "a", "t", "gcp").await;
    b.insert("3", "b", "u", "azure").await;
    b.wait(1);
    b.made("4", json!({ "region": "eu", "runtime_id": runtime, "deleted": true })).await;
    b.execute("UPDATE instances SET expired_at = created_at WHERE id = '2'").await;

    assert_eq!(b.chosen(all()).await, ["1", "2", "3", "4"]);
    for (filter, expected) in [
        (InstanceFilter { accounts: texts(&["a"]), ..all() }, &["1", "2"][..]),
        (InstanceFilter { accounts: texts(&["a", "b", "\0"]), ..all() }, &["1", "2", "3"]),
        (InstanceFilter { accounts: texts(&["\0"]), ..all() }, &[]),
        (InstanceFilter { accounts: texts(&["\0", "\0\0"]), ..all() }, &[]),
        (InstanceFilter { accounts: texts(&["none", "b", "b"]), ..all() }, &["3"]),
        (InstanceFilter { regions: texts(&["eu", ""]), ..all() }, &["1", "2", "3", "4"]),
        (InstanceFilter { regions: texts(&[""]), ..all() }, &["1", "2", "3"]),
        (InstanceFilter { subaccounts: texts(&["t"]), ..all() }, &["2"]),
        (InstanceFilter { subaccounts: texts(&["t", "u"]), ..all() }, &["2", "3"]),
        (InstanceFilter { plans: texts(&["gcp", "azure"]), ..all() }, &["2", "3"]),
        (InstanceFilter { regions: texts(&["eu"]), ..all() }, &["4"]),
        (InstanceFilter { shoots: texts(&["c-3", "c-1", "c"]), ..all() }, &["1", "3"]),
        (InstanceFilter { runtimes: vec![runtime, Uuid::new_v4()], ..all() }, &["4"]),
        (InstanceFilter { ids: texts(&["3", "1", "none"]), ..all() }, &["1", "3"]),
        (InstanceFilter { deleted: Some(true), ..all() }, &["4"]),
        (InstanceFilter { deleted: Some(false), ..all() }, &["1", "2", "3"]),
        (InstanceFilter { expired: Some(true), ..all() }, &["2"]),
        (InstanceFilter { expired: Some(false), ..all() }, &["1", "3", "4"]),
    ] {
        assert_eq!(b.chosen(filter.clone()).await, expected, "{filter:?}");
    }
}

pub(crate) async fn conditions_hold_together_whichever_index_leads(b: Bench) {
    let runtime = Uuid::new_v4();
    b.made("1", json!({ "runtime_id": runtime, "deleted": true })).await;
    b.insert("2", "a", "s", "aws").await;
    b.insert("3", "b", "s", "gcp").await;
    let (of_a, of_b) = (texts(&["a"]), texts(&["b"]));

    for (filter, expected) in [
        (InstanceFilter { accounts: of_a.clone(), ids: texts(&["2", "3"]), ..all() }, &["2"][..]),
        (InstanceFilter { accounts: of_a.clone(), runtimes: vec![runtime], ..all() }, &[]),
        (InstanceFilter { accounts: of_b.clone(), shoots: texts(&["c-2"]), ..all() }, &[]),
        (InstanceFilter { accounts: of_b, subaccounts: texts(&["s"]), ..all() }, &["3"]),
        (InstanceFilter { accounts: of_a, deleted: Some(true), ..all() }, &[]),
        (InstanceFilter { plans: texts(&["gcp"]), deleted: Some(true), ..all() }, &[]),
        (InstanceFilter { plans: texts(&["gcp"]), subaccounts: texts(&["s"]), ..all() }, &["3"]),
    ] {
        assert_eq!(b.chosen(filter.clone()).await, expected, "{filter:?}");
    }
}

pub(crate) async fn the_last_operation_is_the_newest_of_its_kinds(b: Bench) {
    let first = b.made("one", json!({})).await;
    b.wait(1);
    let update = engine::storage::NewOperation { kind: "update".into(), ..operation("one") };
    let newest = update.id;
    b.store.accept("one", 0, update, &queue, None).await.unwrap();
    b.ready("other").await;
    let last = |kinds: Option<&'static [&'static str]>| {
        let store = b.store.clone();
        async move { store.last_operation("one", kinds).await.unwrap() }
    };

    assert_eq!(last(None).await, Some(newest));
    assert_eq!(last(Some(&["provision"])).await, Some(first));
    assert_eq!(last(Some(&["provision", "update"])).await, Some(newest));
    assert_eq!(last(Some(&["deprovision"])).await, None);
    assert_eq!(last(Some(&[])).await, None);
    assert_eq!(b.store.last_operation("unknown", None).await.unwrap(), None);
    assert_eq!(b.store.operation_belongs(Uuid::new_v4()).await.unwrap(), None);
}

pub(crate) async fn instances_are_counted_by_plan(b: Bench) {
    assert_eq!(b.store.count().await.unwrap(), []);
    b.insert("1", "a", "s", "trial").await;
    b.insert("2", "b", "t", "trial").await;
    b.insert("3", "b", "t", "aws").await;
    b.execute("UPDATE instances SET deleted_at = created_at WHERE id = '2'").await;

    let counted = b.store.count().await.unwrap();

    let of = |plan: &str, instances, left_over| InstanceCount {
        plan_id: format!("{plan}-id"),
        plan_name: plan.into(),
        instances,
        left_over,
    };
    assert_eq!(counted, [of("aws", 1, 0), of("trial", 1, 1)]);
}
