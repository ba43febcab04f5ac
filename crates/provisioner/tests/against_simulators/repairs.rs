//! Repairs after failures.

use std::time::Duration;

use provisioner::{
    chores::{abandoned_intents, failed_runtimes},
    configuration,
    limits::StageLimits,
    requests,
    shoots::{LEGACY_OPERATION_ANNOTATION, OPERATION_ANNOTATION},
    status::{ConnectionState, OperationState, StatusFields},
};
use serde_json::{Value, json};
use simulators::{
    system::System,
    trouble::{Kind, Rule},
};
use store::testing::TestDatabase;

use crate::world::{World, aws, caller, kyma, with_kyma};

const SCENARIO: &str = "landscape.kcp.dev/scenario";

async fn scenario(world: &World, shoot: &str, scenario: Value) {
    let patch = json!({"metadata": {"annotations": {SCENARIO: scenario}}});
    world.env().gardener.merge(shoot, &patch).await.unwrap();
}

fn wider(most: i32) -> requests::UpgradeShoot {
    requests::UpgradeShoot { auto_scaler_max: Some(most), ..requests::UpgradeShoot::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_that_gardener_refuses_are_not_stored_and_the_next_upgrade_works() {
    let world = World::sqlite().await;
    let mut request = with_kyma("both", "1.22.0");
    request.cluster.kubernetes_version = Some("1.30.0".into());
    let made = world.provisioned(request).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let both = |version: &str| requests::Upgrade {
        kyma: Some(kyma("1.24.11")),
        kubernetes_version: Some(version.into()),
    };

    let begun = provisioner.upgrade(&caller(), id, both("1.33.0")).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    let refused = provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();
    let unchanged = provisioner.roll_back_upgrade(&caller(), id, StatusFields::NONE).await.unwrap();
    let begun = provisioner.upgrade(&caller(), id, both("1.31.0")).await.unwrap();
    world.success_of(&begun.id).await;
    let upgraded = provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();
    let taken_back =
        provisioner.roll_back_upgrade(&caller(), id, StatusFields::NONE).await.unwrap();

    assert_eq!(failed.state, OperationState::Failed, "{failed:?}");
    let versions = |status: &provisioner::status::RuntimeStatus| {
        let configuration = &status.configuration;
        let kyma = configuration.kyma.as_ref().unwrap();
        (configuration.cluster.kubernetes_version.clone(), kyma.version.clone())
    };
    let are = |kubernetes: &str, kyma: &str| (kubernetes.to_owned(), kyma.to_owned());
    assert_eq!(versions(&refused), are("1.30.0", "1.22.0"));
    assert_eq!(versions(&unchanged), are("1.30.0", "1.22.0"));
    assert_eq!(versions(&upgraded), are("1.31.0", "1.24.11"));
    assert_eq!(versions(&taken_back), are("1.31.0", "1.22.0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_upgrade_of_kyma_can_be_rolled_back() {
    let world = World::sqlite().await;
    let mut request = with_kyma("back", "1.22.0");
    request.cluster.kubernetes_version = Some("1.30.0".into());
    let made = world.provisioned(request).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let upgrades = [
        requests::Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None },
        requests::Upgrade { kyma: None, kubernetes_version: Some("1.31.0".into()) },
    ];
    for (upgrade, message) in upgrades.into_iter().zip(["Kyma", "Kubernetes"]) {
        let begun = provisioner.upgrade(&caller(), id, upgrade).await.unwrap();
        assert_eq!(begun.message, format!("Starting {message} upgrade"));
        world.success_of(&begun.id).await;
    }

    let refused =
        provisioner.roll_back_upgrade(&caller(), id, StatusFields::NONE).await.unwrap_err();

    assert!(refused.message.contains("only if it is the last operation"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_change_again_makes_gardener_try_again() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("heal")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    scenario(&world, "heal", json!("fail=ERR_INFRA_QUOTA_EXCEEDED@40")).await;

    let begun = provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    scenario(&world, "heal", Value::Null).await;
    let again = provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap();
    world.success_of(&again.id).await;
    let generation = async || {
        let shoot = world.env().gardener.shoot("heal").await.unwrap().unwrap();
        shoot.metadata.generation.unwrap()
    };
    let before = generation().await;
    let nothing = requests::UpgradeShoot {
        administrators: vec!["ada@example.org".into()],
        ..requests::UpgradeShoot::default()
    };
    let empty = provisioner.upgrade_shoot(&caller(), id, nothing).await.unwrap();
    world.success_of(&empty.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(generation().await > before, "a change of nothing makes Gardener reconcile too");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_counts_for_callers_that_follow_the_operation_that_failed() {
    let world = World::sqlite().await;
    world.trouble("gardener", 1_000_000, Kind::Status { status: 503, body: None });
    let begun = world.provisioner.provision(&caller(), aws("again")).await.unwrap();
    let operations = store::operations::Operations::new(world.engine.clone());
    let id = begun.id.parse().unwrap();

    operations.abandon(id, "the garden is away".into()).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    world.calm();
    let retried = operations.retry(id).await.unwrap();
    let ended = world.success_of(&begun.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert_eq!(failed.message, "the garden is away");
    assert_eq!((ended.id, ended.runtime_id), (begun.id, begun.runtime_id));
    assert_eq!(world.success_of(&retried.id.to_string()).await.state, OperationState::Succeeded);
}

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
async fn a_removal_that_supersedes_ends_what_cannot_end() {
    let world = World::sqlite().await;
    world.order("gardener", "scenario", &json!({"scenario": "no-seed"}));
    let begun = world.provisioner.provision(&caller(), aws("stuck")).await.unwrap();
    let id = &begun.runtime_id;
    let garden = &world.env().gardener;
    world.until(async || garden.shoot("stuck").await.unwrap().is_some()).await;

    let busy = world.provisioner.deprovision(&caller(), id, false).await.unwrap_err();
    let removed = world.provisioner.deprovision(&caller(), id, true).await.unwrap();
    let again = world.provisioner.deprovision(&caller(), id, true).await.unwrap();
    world.success_of(&removed.id).await;

    assert!(busy.message.contains("while previous one is in progress"), "{busy}");
    assert_eq!(again.id, removed.id);
    let ended = world.end_of(&begun.id).await;
    assert_eq!(ended.state, OperationState::Failed);
    assert!(ended.message.contains("called off by deprovisioning"), "{}", ended.message);
    assert!(garden.shoot("stuck").await.unwrap().is_none());
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_running_cluster_is_refused_while_it_sleeps_or_goes() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("sleep", "1.22.0")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let asleep = provisioner.hibernate(&caller(), id).await.unwrap();
    world.success_of(&asleep.id).await;
    let upgrade = || requests::Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None };

    let sleeping = [
        provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap_err(),
        provisioner.upgrade(&caller(), id, upgrade()).await.unwrap_err(),
        provisioner.reconnect_agent(&caller(), id).await.unwrap_err(),
    ];
    let configuration =
        provisioner.runtime_status(&caller(), id, StatusFields::NONE).await.unwrap();
    scenario(&world, "sleep", json!("stuck-delete")).await;
    world.env().gardener.delete("sleep").await.unwrap();
    let going = [
        provisioner.upgrade_shoot(&caller(), id, wider(31)).await.unwrap_err(),
        provisioner.hibernate(&caller(), id).await.unwrap_err(),
        provisioner.reconnect_agent(&caller(), id).await.unwrap_err(),
    ];

    for refused in sleeping {
        assert_eq!(refused.code.number(), 400);
        assert!(refused.message.contains("is hibernated: wake its Shoot"), "{refused}");
    }
    assert_eq!(configuration.configuration.cluster.auto_scaler_max, 10);
    for refused in going {
        assert_eq!(refused.code.number(), 400);
        assert!(refused.message.contains("is being deleted"), "{refused}");
    }
    let removed = provisioner.deprovision(&caller(), id, false).await.unwrap();
    scenario(&world, "sleep", Value::Null).await;
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_leaves_its_mark_on_the_shoot_under_both_names() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("mark")).await;
    scenario(&world, "mark", json!("stuck-delete")).await;

    let id = &made.runtime_id;
    let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
    let garden = &world.env().gardener;
    let going = async || garden.shoot("mark").await.unwrap().is_some_and(|shoot| shoot.is_going());
    world.until(going).await;

    let shoot = garden.shoot("mark").await.unwrap().unwrap();
    for annotation in [OPERATION_ANNOTATION, LEGACY_OPERATION_ANNOTATION] {
        assert_eq!(shoot.annotation(annotation), Some(removed.id.as_str()), "{annotation}");
    }
    scenario(&world, "mark", Value::Null).await;
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_director_learns_of_a_failure_however_long_it_was_away() {
    let world = World::sqlite().await;
    let quota = "fail=ERR_INFRA_QUOTA_EXCEEDED@40";
    world.order("gardener", "scenario", &json!({"scenario": quota}));
    let begun = world.provisioner.provision(&caller(), aws("told")).await.unwrap();
    let before = failed_runtimes::tell(&world.provisioner).await.unwrap();
    world.end_of(&begun.id).await;
    world.trouble("director", 1_000, Kind::Down { refuse: false });

    let away = failed_runtimes::tell(&world.provisioner).await.unwrap();
    world.calm();
    // Nothing of the first attempt is left but what is stored.
    let later = world.later(Duration::from_hours(1));
    let told = failed_runtimes::tell(&later).await.unwrap();
    let again = failed_runtimes::tell(&later).await.unwrap();

    assert_eq!((before, away, told, again), (0, 0, 1, 0));
    let entries = world.landscape.running.landscape.director().objects();
    assert!(format!("{entries:?}").contains("FAILED"), "{entries:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_could_not_be_taken_back_is_taken_back_later() {
    let world = World::sqlite().await;
    world.provisioned(aws("name")).await;
    let taken = requests::Provision { name: "another".into(), ..aws("name") };
    let rule = Rule {
        system: Some("director".into()),
        body: Some("unregisterRuntime".into()),
        ..Rule::next(1, Kind::Status { status: 503, body: None })
    };
    world.landscape.running.landscape.troubles().add(rule).unwrap();

    let refused = world.provisioner.provision(&caller(), taken).await.unwrap_err();
    let registered = || world.landscape.running.landscape.director().objects().len();
    let left = registered();
    let cleaned = abandoned_intents::clean(&world.later(Duration::from_hours(1))).await.unwrap();

    assert!(refused.message.contains("another runtime has the name"), "{refused}");
    assert_eq!((left, cleaned, registered()), (2, 1, 1));
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
async fn a_cluster_that_gardener_cannot_let_sleep_is_refused_at_once() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("awake")).await;
    let id = &made.runtime_id;
    scenario(&world, "awake", "hibernation-impossible".into()).await;
    let status = async || {
        world
            .provisioner
            .runtime_status(&caller(), id, StatusFields::ALL)
            .await
            .unwrap()
            .hibernation
    };
    world.until(async || status().await.possible == Some(false)).await;

    let refused = world.provisioner.hibernate(&caller(), id).await.unwrap_err().to_string();

    assert!(refused.contains("Failed to hibernate Cluster: cannot hibernate cluster"), "{refused}");
    assert_eq!(status().await.hibernated, Some(false));
    scenario(&world, "awake", Value::Null).await;
    world.until(async || status().await.possible == Some(true)).await;
    let sleeps = world.provisioner.hibernate(&caller(), id).await.unwrap();
    world.success_of(&sleeps.id).await;
    assert_eq!(status().await.hibernated, Some(true));
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

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_was_made_can_be_changed_after_a_later_step_failed() {
    let limits = StageLimits { agent_connection: Duration::from_secs(3), ..StageLimits::default() };
    let world = World::on(TestDatabase::sqlite(), limits).await;
    let rule = Rule {
        path: Some("/connector".into()),
        ..Rule::next(1_000_000, Kind::Status { status: 403, body: None })
    };
    world.landscape.running.landscape.troubles().add(rule).unwrap();
    let begun = world.provisioner.provision(&caller(), with_kyma("half", "1.22.0")).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    world.calm();

    let id = &begun.runtime_id;
    let again = world.provisioner.reconnect_agent(&caller(), id).await.unwrap();

    assert_eq!(failed.state, OperationState::Failed);
    world.success_of(&again.id).await;
}
