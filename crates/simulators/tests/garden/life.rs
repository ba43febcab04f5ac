//! The life of a Shoot, as a client sees it.

mod requests;

use kube::api::DeleteParams;
use serde_json::{Value, json};
use simulators::pace::Speed;

use crate::support::{Garden, health, is_settled, last, shoot};

/// Fast, but the whole way.
const QUICK: Speed = Speed::Times(40.0);

/// The last operations that were shown, without repetitions.
fn operations(events: &[(String, Value)]) -> Vec<(String, String, i64)> {
    let mut seen: Vec<_> = events.iter().filter_map(|(_, shoot)| last(shoot)).collect();
    seen.dedup();
    seen
}

fn all(kind: &str, percents: &[i64]) -> Vec<(String, String, i64)> {
    let state = |percent: i64| if percent == 100 { "Succeeded" } else { "Processing" };
    percents.iter().map(|p| (kind.to_owned(), state(*p).to_owned(), *p)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_is_created_step_by_step_and_deleted_step_by_step() {
    let garden = Garden::anywhere(QUICK).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&shoot("life")).await;
    let born = garden.events(begin, |_, shoot| health(shoot) == "healthy").await;
    let version = garden.version().await;
    let there = garden.runtimes.is_there("life");
    garden.delete("life").await;
    let gone = garden.events(version, |what, _| what == "DELETED").await;

    assert!(there && !garden.runtimes.is_there("life"));
    assert_eq!(operations(&born), all("Create", &[0, 5, 15, 30, 45, 60, 75, 90, 100]));
    let announced = born.iter().find(|(_, s)| !s["status"]["advertisedAddresses"].is_null());
    let (_, announced) = announced.unwrap();
    assert_eq!(announced["status"]["lastOperation"]["progress"], 15);
    let url = announced["status"]["advertisedAddresses"][0]["url"].as_str().unwrap();
    let domain = announced["spec"]["dns"]["domain"].as_str().unwrap();
    assert_eq!(url, format!("https://api.{domain}"));
    let (_, healthy) = born.last().unwrap();
    let project = &garden.settings.project;
    assert_eq!(healthy["metadata"]["finalizers"], json!(["gardener"]));
    assert_eq!(healthy["status"]["technicalID"], format!("shoot--{project}--life"));
    assert_eq!(healthy["spec"]["seedName"], "aws-ha-eu1");
    assert_eq!(healthy["status"]["observedGeneration"], healthy["metadata"]["generation"]);
    assert_eq!(healthy["status"]["conditions"].as_array().unwrap().len(), 5);
    assert!(born.iter().any(|(_, s)| s["status"]["conditions"][0]["status"] == "Progressing"));
    let mut deleting = operations(&gone);
    deleting.retain(|(kind, ..)| kind == "Delete");
    assert_eq!(deleting, all("Delete", &[0, 15, 30, 50, 70, 85, 100]));
    assert!(born.len() <= 17, "{} writes for one creation", born.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_delays_a_shoot_takes_few_writes() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&shoot("brief")).await;
    let born = garden.events(begin, |_, shoot| health(shoot) == "healthy").await;
    garden.delete("brief").await;
    garden.until_gone("brief").await;

    // Its creation, then at most five writes.
    assert!(born.len() <= 6, "{:#?}", operations(&born));
    assert_eq!(operations(&born), all("Create", &[0, 15, 100]));
    assert_eq!(garden.runtimes.made("brief"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_reconciled_and_other_metadata_is_not() {
    let garden = Garden::anywhere(QUICK).await;
    let _controller = garden.controller();
    garden.create(&shoot("change")).await;
    let ready = garden.until_healthy("change").await;

    let labelled =
        garden.patch("change", json!({"metadata": {"labels": {"account": "a"}}})).await.unwrap();
    let version = garden.version().await;
    let changed = garden
        .patch("change", json!({"spec": {"kubernetes": {"version": "1.26.1"}}}))
        .await
        .unwrap();
    let events = garden.events(version, |_, shoot| is_settled(shoot)).await;

    assert_eq!(labelled.metadata.generation, ready["metadata"]["generation"].as_i64());
    assert_eq!(changed.metadata.generation, labelled.metadata.generation.map(|g| g + 1));
    let mut operations = operations(&events);
    operations.retain(|(kind, ..)| kind == "Reconcile");
    assert_eq!(operations, all("Reconcile", &[0, 30, 50, 80, 100]));
    assert_eq!(
        events.last().unwrap().1["status"]["observedGeneration"],
        json!(changed.metadata.generation)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_was_never_scheduled_is_deleted_at_once() {
    let garden = Garden::anywhere(Speed::MAX).await;
    garden.create(&shoot("unborn")).await;

    garden.delete("unborn").await;

    assert!(garden.shoots.get_opt("unborn").await.unwrap().is_none());
    let again = garden.shoots.delete("unborn", &DeleteParams::default()).await;
    assert_eq!(crate::support::refusal(again).0, 404);
}
