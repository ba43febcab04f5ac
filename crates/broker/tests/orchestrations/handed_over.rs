//! What the driver could not tell customers: no orchestration waits long for SPC, and what can still be told is told later.

use engine::{State, testing::try_out};
use serde_json::{Value, json};
use simulators::trouble::{Kind as Trouble, Rule};
use store::testing::Sort;

use crate::announcing::{Announcing, Course, all, minutes_until_it_begins};

/// SPC does not answer this step.
fn without_answer(announcing: &Announcing, step: &str) {
    let down = Rule::next(1_000_000, Trouble::Down { refuse: false });
    announcing.running.landscape.troubles().add(down.of("spc").from_step(step)).unwrap();
}

/// An orchestration whose end cannot be told: how it looks when its driver has ended.
async fn ended_without(course: Course, step: &str, sort: Sort) -> Value {
    let announcing = Announcing::on(sort, course).await;
    without_answer(&announcing, step);
    let tried = Box::pin(try_out(&announcing, &announcing.trials, None)).await;
    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.incomplete, [format!("{step}/{step}")]);
    tried.end.world
}

#[tokio::test(flavor = "multi_thread")]
async fn runtimes_that_were_left_out_are_told_later_when_spc_does_not_answer() {
    for sort in [Sort::Sqlite, Sort::Postgres] {
        let world = ended_without(Course::Now, "Notify_Left_Out", sort).await;

        let told = json!({ "applied": ["create"], "status": "planned", "tenants": all("planned") });
        assert_eq!(world, json!({ "state": "succeeded", "told": told, "handed_over": true }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_is_told_later_when_spc_does_not_answer() {
    for sort in [Sort::Sqlite, Sort::Postgres] {
        let world = ended_without(Course::Canceled, "Cancel_Notification", sort).await;

        assert_eq!((&world["state"], &world["handed_over"]), (&json!("canceled"), &json!(true)));
        assert_eq!(world["told"]["applied"], json!(["create"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_that_cannot_be_told_for_half_an_hour_is_told_before_it_begins() {
    let announcing = Announcing::on(Sort::Sqlite, Course::MuchLater).await;
    without_answer(&announcing, "Send_Notification");

    let tried = Box::pin(try_out(&announcing, &announcing.trials, None)).await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.incomplete, ["Send_Notification/Send_Notification"]);
    assert_eq!(minutes_until_it_begins(&tried.journal), 60);
    // That it is planned, and that all of them are left out in the end.
    let told = &tried.end.world["told"];
    assert_eq!(
        (&told["applied"], &told["tenants"]),
        (&json!(["create", "update"]), &all("cancelled"))
    );
}
