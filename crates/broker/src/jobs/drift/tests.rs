//! What is compared with a list of Shoots that is not new, and how long a look may take.

use std::sync::Arc;

use super::{super::cluster_spec::ClusterSpec, *};

const SETTLED: Duration = Duration::from_hours(1);

fn noon() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

/// No Shoot was in the garden at noon.
fn reading() -> ShootReading {
    ShootReading { read_at: noon(), shoots: shoots::ShootList::new() }
}

fn changed_at(updated_at: Timestamp) -> Instance {
    let text = String::new;
    Instance {
        id: "i-1".into(),
        global_account: text(),
        subaccount: text(),
        service_id: text(),
        plan_id: text(),
        plan_name: "aws".into(),
        provider: "aws".into(),
        region: text(),
        platform_region: text(),
        shoot_name: "c-1".into(),
        runtime_id: Some(Uuid::from_u128(1)),
        dashboard_url: text(),
        order: Vec::new(),
        details: Vec::new(),
        revision: 1,
        created_at: updated_at,
        updated_at,
        deleted_at: None,
        expired_at: None,
        standing: Standing::Succeeded,
    }
}

#[test]
fn an_instance_that_was_not_settled_when_the_shoots_were_read_is_no_difference() {
    let minute = Duration::from_mins(1);

    for updated_at in [noon() - SETTLED + minute, noon(), noon() + minute] {
        assert_eq!(compare(&reading(), SETTLED, &changed_at(updated_at)), None, "{updated_at}");
    }
    let difference = compare(&reading(), SETTLED, &changed_at(noon() - SETTLED - minute));
    assert_eq!(difference.unwrap(), "instance without a Shoot: c-1 is not in the garden");
}

/// The Shoot of the instance was in the garden at noon, with this runtime.
fn reading_of(runtime: &str) -> ShootReading {
    let entry = ShootEntry {
        created_at: Some(noon() - SETTLED * 2),
        runtime: Some(runtime.into()),
        is_going: false,
        spec: Arc::new(ClusterSpec::default()),
        removal: None,
    };
    ShootReading { read_at: noon(), shoots: [("c-1".into(), entry)].into() }
}

#[test]
fn a_suspension_of_just_now_whose_shoot_is_still_there_is_no_difference() {
    let reading = reading_of(&Uuid::from_u128(1).to_string());
    let suspended = |updated_at| Instance {
        standing: Standing::Suspended,
        runtime_id: None,
        ..changed_at(updated_at)
    };
    let minute = Duration::from_mins(1);

    assert_eq!(compare(&reading, SETTLED, &suspended(noon() - minute)), None);
    let difference = compare(&reading, SETTLED, &suspended(noon() - SETTLED - minute));
    assert_eq!(difference.unwrap(), "suspended, and its Shoot c-1 is there");
}

#[test]
fn a_cluster_that_a_customer_brought_is_in_no_garden_and_no_difference() {
    let settled = changed_at(noon() - SETTLED * 2);
    let brought = Instance { provider: "custom".into(), ..settled.clone() };

    assert!(compare(&reading(), SETTLED, &settled).is_some());
    assert_eq!(compare(&reading(), SETTLED, &brought), None);
}

#[test]
fn the_runtime_of_a_shoot_is_compared_as_an_id_and_not_as_text() {
    let row = changed_at(noon() - SETTLED * 2);
    let id = row.runtime_id.unwrap().to_string();
    let mut of_another = reading_of(&Uuid::from_u128(2).to_string());

    assert_eq!(compare(&reading_of(&id.to_uppercase()), SETTLED, &row), None);
    let difference = compare(&of_another, SETTLED, &row).unwrap();
    assert!(difference.starts_with("Shoot c-1 belongs to runtime"), "{difference}");
    of_another.shoots.get_mut("c-1").unwrap().is_going = true;
    let difference = compare(&of_another, SETTLED, &row);
    assert_eq!(difference.unwrap(), "Shoot c-1 is being deleted");
}

#[test]
fn shoots_are_read_again_after_half_of_the_time_in_which_things_settle() {
    assert!(reading().is_current(noon() + SETTLED / 2, SETTLED));
    assert!(!reading().is_current(noon() + SETTLED / 2 + Duration::from_secs(1), SETTLED));
}

#[tokio::test]
async fn a_look_that_gets_no_answer_ends_after_its_limit() {
    let clock = Clock::held_at(noon());
    let look = {
        let clock = clock.clone();
        tokio::spawn(async move { within_limit(&clock, std::future::pending::<()>()).await })
    };
    tokio::task::yield_now().await;

    clock.advance(LOOK_LIMIT / 2);
    tokio::task::yield_now().await;
    assert!(!look.is_finished());
    clock.advance(LOOK_LIMIT / 2);

    assert_eq!(look.await.unwrap(), None);
    assert_eq!(within_limit(&clock, async { 7 }).await, Some(7));
}

#[test]
fn the_looks_of_a_page_end_before_their_step() {
    // A step of a job has ten minutes.
    assert!(LOOK_LIMIT * LOOKS < Duration::from_mins(9));
}
