//! Empty values in requests to the Reconciler, in bodies and in queries.

use std::time::Duration;

use serde_json::{Value, json};

use super::{apply, get, history::rounds, payload};
use crate::world::{World, json, status};

#[tokio::test]
async fn null_is_read_as_empty() {
    let world = World::new().await;
    let mut sent = payload(&world, "r-1");
    sent["kymaConfig"]["administrators"] = Value::Null;
    sent["kymaConfig"]["components"][0]["configuration"] = Value::Null;
    sent["kymaConfig"]["components"][0]["URL"] = Value::Null;

    json(world.post("/reconciler/v1/clusters").json(&sent)).await;

    let kept = json(get(&world, "/clusters/r-1/config/1")).await;
    assert_eq!(kept["administrators"], json!([]));
    assert_eq!(kept["components"][0]["configuration"], json!([]));
}

#[tokio::test]
async fn empty_query_parameters_count_as_absent() {
    let world = World::new().await;
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(10));
    let scheduling = rounds(&world).await[0]["schedulingID"].as_str().unwrap().to_owned();

    for query in [
        "correlationID=&runtimeID=r-1&schedulingID=".to_owned(),
        format!("correlationID=&runtimeID=&schedulingID={scheduling}"),
        format!("correlationID={scheduling}--0&runtimeID=&schedulingID="),
    ] {
        let state = json(get(&world, &format!("/clusters/state?{query}"))).await;
        assert_eq!(state["cluster"]["runtimeID"], "r-1", "{query}");
    }
    let all = json(get(&world, "/reconciliations?runtimeID=&status=&last=")).await;
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    assert_eq!(status(get(&world, "/clusters/r-1/statusChanges?offset=")).await, 200);
    let none = get(&world, "/clusters/state?correlationID=&runtimeID=&schedulingID=");
    assert_eq!(status(none).await, 400);
}
