//! Objects and orders of each system, for operators.

use serde_json::{Value, json};

use super::ordinary::{SYSTEMS, order};
use crate::world::{World, json};

#[tokio::test]
async fn every_system_says_what_it_is_for_where_it_is_and_what_it_follows() {
    let world = World::new().await;

    for system in SYSTEMS {
        let shown = json(world.control("GET", &format!("/systems/{system}"))).await;

        assert_eq!(shown["base"], format!("/{system}"));
        assert_eq!(shown["health"], "up");
        assert!(shown["purpose"].as_str().unwrap().len() > 10);
        assert!(!shown["orders"].as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn orders_that_are_not_known_or_lack_something_are_refused() {
    let world = World::new().await;

    for system in SYSTEMS {
        assert_eq!(order(&world, system, "dance", json!({})).await, 404, "{system}");
        let shown = json(world.control("GET", &format!("/systems/{system}"))).await;
        for name in shown["orders"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            assert_eq!(order(&world, system, name, Value::Null).await, 400, "{system} {name}");
        }
    }
    let unknown = json!({ "id": "5", "status": "ACTIVE" });
    assert_eq!(order(&world, "avs", "set-status", unknown).await, 400);
}
