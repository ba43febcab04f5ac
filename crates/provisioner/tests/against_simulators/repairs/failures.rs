//! What is said of a failure: to the Director, and to those who ask for the status.

use std::time::Duration;

use provisioner::{
    configuration,
    limits::StageLimits,
    status::{ConnectionState, OperationState, StatusFields},
};
use serde_json::json;
use simulators::trouble::{Kind, Rule};
use store::testing::TestDatabase;

use crate::world::{World, aws, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_is_not_there_is_named_at_once() {
    let world = World::sqlite().await;
    let mut request = aws("poor");
    request.cluster.target_secret = "no-such-binding".into();

    let refused = world.provisioner.provision(&caller(), request.clone()).await.unwrap_err();
    let rule = Rule::next(1, Kind::Status { status: 503, body: None })
        .on("GET", "*/secretbindings/no-such-binding");
    world.landscape.running.landscape.troubles().add(rule).unwrap();
    let begun = world.provisioner.provision(&caller(), request).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(refused.code.number(), 400);
    let text = "targetSecret: there is no SecretBinding or CredentialsBinding no-such-binding in namespace garden-kyma";
    assert!(refused.message.contains(text), "{refused}");
    assert_eq!(failed.state, OperationState::Failed);
    assert!(failed.message.contains("no-such-binding"), "{}", failed.message);
    assert!(!failed.message.contains("credentials"), "{}", failed.message);
    let journal = world.engine_journal(&begun.id).await;
    assert_eq!(journal.iter().filter(|entry| entry.failure.is_some()).count(), 1, "{journal:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_tells_all_its_errors_the_newest_last() {
    let world = World::sqlite().await;
    let scenario = "error-then-recover=ERR_INFRA_RATE_LIMITS_EXCEEDED@40";
    world.order("gardener", "scenario", &json!({"scenario": scenario}));
    let rule = Rule::next(1, Kind::Status { status: 503, body: None }).on("POST", "*/shoots");
    world.landscape.running.landscape.troubles().add(rule).unwrap();

    let begun = world.provisioner.provision(&caller(), aws("errors")).await.unwrap();
    let status = world.success_of(&begun.id).await;

    assert_eq!(status.last_error, None, "it has succeeded");
    assert!(status.errors.len() >= 2, "{:?}", status.errors);
    assert!(status.errors[0].contains("gardener: creating Shoot"), "{:?}", status.errors);
    let last = status.errors.last().unwrap();
    assert!(last.starts_with("cluster provisioning is held up. Last Shoot state: Error"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_out_says_what_was_waited_for() {
    let limits = StageLimits { cluster_creation: Duration::from_secs(2), ..StageLimits::default() };
    let world = World::on(TestDatabase::sqlite(), limits).await;
    world.order("gardener", "scenario", &json!({"scenario": "no-seed"}));
    // Without one of its own a cluster waits for the domain that comes with the Seed.
    let mut late = aws("late");
    let domain = "late.customer.example".into();
    late.cluster.dns = Some(configuration::Dns { domain, providers: Vec::new() });

    let begun = world.provisioner.provision(&caller(), late).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    let error = failed.last_error.unwrap();
    assert_eq!(error.reason, "err_provisioner_timeout");
    assert!(error.message.starts_with("error: timeout while processing operation: "), "{error:?}");
    assert!(error.message.contains("; at last: the cluster is being made"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_that_cannot_be_reached_is_disconnected_and_says_why() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("mute", "1.22.0")).await;
    world.order("runtimes", "refuse", &json!({"id": "mute"}));

    let id = &made.runtime_id;
    let status = world.provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap();

    assert_eq!(status.connection.state, ConnectionState::Disconnected);
    let errors = &status.connection.errors;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(!errors[0].contains("127.0.0.1"), "{errors:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_asks_nobody_for_what_is_not_wanted() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("quiet")).await;
    let calls = || world.calls("gardener") + world.calls("runtimes");
    let before = calls();

    let id = &made.runtime_id;
    let status = world.provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();

    assert_eq!(calls(), before);
    assert!(status.last_operation.is_some());
}
