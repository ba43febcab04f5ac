//! Event Hubs namespaces: made in their own time, once, and refused in Azure's words.

use std::time::Duration;

use clients::{
    Kind,
    azure::{Progress, name_for},
};
use secrecy::ExposeSecret;
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{super::world::SUBSCRIPTION, tags, world};

#[tokio::test]
async fn a_namespace_is_made_in_its_own_time_however_it_is_asked_for() {
    for polling in ["operation", "location", "resource"] {
        let (world, azure) = world().await;
        world.order("azure", "set-polling", json!({"polling": polling})).await;
        let name = name_for("0F9A-instance");
        azure.put_group(&name, "westeurope", &tags("i")).await.unwrap();

        let begun = azure.put_namespace(&name, &name, "westeurope", &tags("i")).await.unwrap();
        let Progress::Running { poll, .. } = begun else { panic!("{polling}: it is done at once") };
        let stored = serde_json::to_string(&poll).unwrap();
        let poll = serde_json::from_str(&stored).unwrap();
        assert!(matches!(azure.progress(&poll).await.unwrap(), Progress::Running { .. }));
        assert!(!azure.namespace(&name, &name).await.unwrap().unwrap().is_ready());
        assert_eq!(azure.keys(&name, &name).await.unwrap_err().kind.code(), "throttled");
        world.clock.advance(Duration::from_secs(5));

        assert_eq!(azure.progress(&poll).await.unwrap(), Progress::Done, "{polling}");
        let again = azure.put_namespace(&name, &name, "westeurope", &tags("i")).await.unwrap();
        assert_eq!(again, Progress::Done);
        let keys = azure.keys(&name, &name).await.unwrap();
        assert_eq!(keys.kafka_host().unwrap(), "k0f9a-instance.servicebus.windows.net");
        let text = keys.connection_string.unwrap();
        assert!(text.expose_secret().contains("SharedAccessKey="));
        assert_eq!(azure.namespaces(&name).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn keys_that_are_not_there_yet_are_no_keys() {
    let (world, azure) = world().await;
    azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();
    azure.put_namespace("kone", "namespace", "westeurope", &tags("one")).await.unwrap();
    world.clock.advance(Duration::from_secs(5));
    world.order("azure", "blank-keys", json!({})).await;

    let keys = azure.keys("kone", "namespace").await.unwrap();

    assert!(keys.connection_string.is_none() && keys.kafka_host().is_none());
}

#[tokio::test]
async fn an_answer_that_was_lost_leaves_one_thing() {
    let (world, azure) = world().await;
    azure.check().await.unwrap();

    for _ in 0..2 {
        world.trouble("azure", "PUT", 1, Trouble::LostAnswer { status: None });
        let lost = azure.put_group("kone", "westeurope", &tags("one")).await.unwrap_err();
        assert_eq!(lost.kind, Kind::AnswerLost);
        azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();
    }
    world.trouble("azure", "PUT", 1, Trouble::LostAnswer { status: Some(502) });
    let lost = azure.put_namespace("kone", "namespace", "westeurope", &tags("one")).await;
    assert_eq!(lost.unwrap_err().kind, Kind::Unavailable);
    azure.put_namespace("kone", "namespace", "westeurope", &tags("one")).await.unwrap();

    assert_eq!(world.objects("azure", "group").await.len(), 1);
    assert_eq!(world.objects("azure", "namespace").await.len(), 1);
}

#[tokio::test]
async fn refusals_have_azures_own_reasons() {
    let (world, azure) = world().await;
    azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();

    let elsewhere = azure.put_group("kone", "westus2", &tags("one")).await.unwrap_err();
    assert_eq!(elsewhere.reason.as_deref(), Some("InvalidResourceGroupLocation"));
    assert_eq!(elsewhere.kind, Kind::Conflict);
    let nowhere = azure.put_namespace("knone", "namespace", "west", &tags("x")).await.unwrap_err();
    assert_eq!(nowhere.reason.as_deref(), Some("ResourceGroupNotFound"));
    world.order("azure", "use-up-quota", json!({})).await;
    let quota = azure.put_namespace("kone", "namespace", "west", &tags("x")).await.unwrap_err();
    assert_eq!(quota.reason.as_deref(), Some("NamespaceQuotaExceeded"));
    world.order("azure", "use-up-quota", json!({"on": false})).await;
    world.order("azure", "fail-namespace", json!({"name": "namespace"})).await;
    let Ok(Progress::Running { poll, .. }) =
        azure.put_namespace("kone", "namespace", "west", &tags("x")).await
    else {
        panic!("it does not even begin")
    };
    world.clock.advance(Duration::from_secs(5));
    let failed = azure.progress(&poll).await.unwrap_err();
    assert_eq!(failed.reason.as_deref(), Some("InternalServerError"));
    world.order("azure", "revoke", json!({"subscription": SUBSCRIPTION})).await;
    let revoked = azure.groups().await.unwrap_err();
    assert_eq!(revoked.reason.as_deref(), Some("AuthorizationFailed"));
    assert_eq!(revoked.kind, Kind::Unauthorized);
}
