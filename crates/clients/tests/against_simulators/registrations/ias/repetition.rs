//! A provider in IAS that is made again: after lost answers, half done, or not visible yet.

use clients::Kind;
use serde_json::json;
use simulators::trouble;

use super::{
    super::world::{World, lost, on},
    GRAFANA, kept,
};

#[tokio::test]
async fn every_answer_may_be_lost_and_there_is_one_provider_with_one_secret() {
    // Company, create, company, attributes, subject, identity provider, access, secret.
    for call in 0..8 {
        let world = World::new().await;
        let ias = world.place().ias();
        if call > 0 {
            world.trouble("ias", call, trouble::Kind::Slow { delay_ms: 0 });
        }
        world.trouble("ias", 1, lost());

        let error = ias.register(GRAFANA, "i-1").await.unwrap_err();
        let reads = call == 0 || call == 2;
        assert_eq!(error.kind, if reads { Kind::Unavailable } else { Kind::AnswerLost });
        ias.register(GRAFANA, "i-1").await.unwrap();

        let providers = kept(&world).await;
        assert_eq!(providers.len(), 1, "call {call}");
        assert_eq!(providers[0]["clientSecrets"].as_array().unwrap().len(), 1, "call {call}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_visible_yet_is_waited_for_and_not_made_twice() {
    let world = World::new().await;
    world.order("ias", "hide-new-providers", json!({ "readings": 2 })).await;
    let ias = world.place().ias();

    let first = ias.register(GRAFANA, "i-1").await.unwrap_err();
    assert_eq!(
        (first.kind, first.said.as_deref()),
        (Kind::Unavailable, Some("it is not visible yet"))
    );
    ias.register(GRAFANA, "i-1").await.unwrap();

    assert_eq!(kept(&world).await.len(), 1);
}

#[tokio::test]
async fn of_twins_the_first_is_taken() {
    let world = World::new().await;
    world.order("ias", "allow-twins", on()).await;
    world.trouble_on("POST", "/ias/service/sps", trouble::Kind::Duplicate);
    let ias = world.place().ias();

    ias.register(GRAFANA, "i-1").await.unwrap();

    let twins = kept(&world).await;
    assert_eq!(twins.len(), 2);
    assert_eq!(twins[0]["name_id_attribute"], "mail");
    assert_eq!(twins[1]["name_id_attribute"], "uid");
}

#[tokio::test]
async fn half_a_configuration_is_finished_by_the_next_run() {
    let world = World::new().await;
    world.order("ias", "fail-access", json!({ "calls": 1 })).await;
    let ias = world.place().ias();

    assert_eq!(ias.register(GRAFANA, "i-1").await.unwrap_err().kind, Kind::Unavailable);
    ias.register(GRAFANA, "i-1").await.unwrap();

    assert_eq!(kept(&world).await[0]["rba_config"]["default_action"], "Deny");
}
