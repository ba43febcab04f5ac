//! Registrations whose answer was lost, and hostile names in them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use clients::{Kind, director::Director};
use serde_json::json;

use super::{data, director, registration};
use crate::support::lost;

/// A Director that keeps runtimes by the label of their instance and loses its first answer to a change.
async fn forgetful() -> (Director, Arc<Mutex<BTreeMap<String, Vec<String>>>>) {
    let runtimes: Arc<Mutex<BTreeMap<String, Vec<String>>>> = Arc::default();
    let kept = runtimes.clone();
    let loses = Arc::new(Mutex::new(true));
    let (director, _) = director(move |_, asked| {
        let mut kept = kept.lock().unwrap();
        let variables = &asked["variables"];
        if asked["query"].as_str().unwrap().starts_with("query") {
            let label: String =
                serde_json::from_str(variables["filter"][0]["query"].as_str().unwrap()).unwrap();
            let found = kept.get(&label).cloned().unwrap_or_default();
            let found: Vec<_> = found.iter().map(|id| json!({"id": id})).collect();
            return data(&json!({"data": found}));
        }
        let instance = variables["in"]["labels"]["broker_instance_id"].as_str().unwrap();
        let ids = kept.entry(instance.into()).or_default();
        ids.push(format!("r-{}", ids.len() + 1));
        if std::mem::take(&mut *loses.lock().unwrap()) {
            return lost();
        }
        data(&json!({"id": ids.last()}))
    })
    .await;
    (director, runtimes)
}

#[tokio::test]
async fn a_registration_whose_answer_was_lost_is_found_again() {
    let (director, runtimes) = forgetful().await;

    let first = director.register("ga", &registration("c-1")).await;
    assert_eq!(first.unwrap_err().kind, Kind::AnswerLost);

    // Steps run on any thread.
    let other = director.clone();
    let again = tokio::spawn(async move { other.register("ga", &registration("c-1")).await });
    assert_eq!(again.await.unwrap().unwrap(), "r-1");
    assert_eq!(director.register("ga", &registration("c-1")).await.unwrap(), "r-1");
    assert_eq!(runtimes.lock().unwrap()["i-1"].len(), 1);
}

#[tokio::test]
async fn hostile_names_arrive_as_they_are() {
    let long = "ü".repeat(5_000);
    let names = ["\"} { x }", "back\\slash", "new\nline", "$in", "\u{0}", "𝕏", long.as_str()];

    for name in names {
        let (director, heard) = director(|_, _| data(&json!({"data": [{"id": "r-1"}]}))).await;
        director.find_by_instance("ga", name).await.unwrap();

        let asked = heard.last().json();
        let query = asked["variables"]["filter"][0]["query"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<String>(&query).unwrap(), name);
        assert!(!asked["query"].as_str().unwrap().contains(name));
        let error = director.find_by_instance("ga\r\nx-evil: 1", name).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 });
    }
}
