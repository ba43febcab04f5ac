//! Refusals of the provisioner, as the client classifies them.

use base::failure::StepError;
use clients::{
    Component, Gate, Http, Kind,
    provisioner::{Access, OperationState, Provisioner, Settings, Tenant},
};
use simulators::{testing::TENANTS, trouble};
use uuid::Uuid;

use super::{
    call::{Call, KEY, Subject, TENANT, order},
    side::{PATIENT, Side},
};
use crate::service;

/// Calls about a runtime that should be there.
const ABOUT_A_RUNTIME: [Call; 6] = [
    Call::Upgrade,
    Call::UpgradeShoot,
    Call::Deprovision,
    Call::Hibernate,
    Call::Reconnect,
    Call::RuntimeStatus,
];

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_has_made_is_not_found() {
    let side = Side::start().await;
    let client = side.client(PATIENT);
    let id = Uuid::new_v4().to_string();
    let nobody = Subject { name: "c-1".into(), runtime: id.clone(), operation: id };

    for call in ABOUT_A_RUNTIME.into_iter().chain([Call::OperationStatus]) {
        let missing = call.make(&client, &nobody).await.unwrap_err();
        assert_eq!(missing.kind, Kind::NotFound, "{call:?}: {missing:?}");
        assert!(matches!(StepError::from(missing), StepError::Fatal(_)), "{call:?}");
    }
    client.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_makes_no_sense_is_refused_for_good_with_the_reason() {
    let side = Side::start().await;
    let client = side.client(PATIENT);
    side.made("taken").await;
    let mut none = order("none");
    none.cluster.0.auto_scaler_min = Some(0);
    let mut far = order("far");
    far.cluster.0.region = String::new();
    let mut taken = order("other");
    taken.cluster.0.name = "taken".into();

    for (wanted, word) in [(none, "autoScalerMin"), (far, "region"), (taken, "another runtime")] {
        let refused = client.provision(TENANT, KEY, &wanted).await.unwrap_err();
        assert_eq!(refused.kind, Kind::Refused { status: 400 }, "{refused:?}");
        assert!(!refused.kind.is_retryable());
        assert!(refused.said.as_deref().is_some_and(|said| said.contains(word)), "{refused:?}");
    }
    let missing =
        Subject { name: "c-2".into(), runtime: Uuid::new_v4().into(), ..Default::default() };
    let refused = Call::ProvisionRegistered.make(&client, &missing).await.unwrap_err();
    assert_eq!(refused.kind, Kind::Refused { status: 400 }, "{refused:?}");
    assert_eq!(side.shoots().into_iter().collect::<Vec<_>>(), ["taken"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_with_an_unfinished_operation_is_busy_until_it_has_ended() {
    let side = Side::start().await;
    let client = side.client(PATIENT);
    let no_shoot = trouble::Kind::Status { status: 500, body: None };
    let no_shoot = trouble::Rule::next(1_000, no_shoot);
    side.outside.meet(no_shoot.of("gardener").on("POST", "/clusters/garden/*/shoots$"));

    let begun = client.provision(TENANT, KEY, &order("c-1")).await.unwrap();
    let runtime = begun.runtime_id.unwrap();
    let subject = Subject { name: "c-1".into(), runtime, ..Subject::default() };
    for call in [Call::UpgradeShoot, Call::Upgrade, Call::Deprovision, Call::Reconnect] {
        let busy = call.make(&client, &subject).await.unwrap_err();
        assert_eq!(busy.kind, Kind::Busy, "{call:?}: {busy:?}");
        assert!(matches!(StepError::from(busy), StepError::Transient { .. }), "{call:?}");
    }
    side.outside.calm();
    side.done(&begun.id.unwrap()).await;

    let removed = Call::Deprovision.make(&client, &subject).await.unwrap();
    side.done(&removed.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_supersedes_ends_what_would_never_end() {
    let side = Side::start().await;
    let client = side.client(PATIENT);
    let no_shoot = trouble::Kind::Status { status: 500, body: None };
    let no_shoot = trouble::Rule::next(1_000_000, no_shoot);
    side.outside.meet(no_shoot.of("gardener").on("POST", "/clusters/garden/*/shoots$"));
    let begun = client.provision(TENANT, KEY, &order("c-1")).await.unwrap();
    let runtime = begun.runtime_id.unwrap();
    let busy = client.deprovision(TENANT, KEY, &runtime).await.unwrap_err();

    let removal = client.deprovision_superseding(TENANT, KEY, &runtime).await.unwrap();

    assert_eq!(busy.kind, Kind::Busy);
    side.done(&removal).await;
    let order = client.operation_status(TENANT, &begun.id.unwrap()).await.unwrap();
    assert_eq!(order.state, OperationState::Failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_stays_gone_and_its_removal_is_answered_again() {
    let side = Side::start().await;
    let client = side.client(PATIENT);
    let subject = side.made("c-1").await;
    let removal = Call::Deprovision.make(&client, &subject).await.unwrap();
    side.done(removal.as_deref().unwrap()).await;

    let again = Call::Deprovision.make(&client, &subject).await.unwrap();

    assert_eq!(again, removal);
    for call in [Call::Upgrade, Call::UpgradeShoot, Call::Hibernate, Call::Reconnect] {
        let refused = call.make(&client, &subject).await.unwrap_err();
        assert_eq!(refused.kind, Kind::Refused { status: 400 }, "{call:?}: {refused:?}");
    }
    let status = client.runtime_status(TENANT, &subject.runtime).await.unwrap();
    assert!(status.kubeconfig().is_none());
    assert_eq!(status.last_operation.unwrap().id, removal);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_not_ask_is_told_so() {
    let side = Side::start().await;
    let subject = side.made("c-1").await;
    let gate = |component| Gate::new(component, PATIENT, side.outside.clock.clone());
    let outside = &side.outside;
    let scopes = "provisioner:read provisioner:kubeconfig tenants:any";
    let reading = service::tokens(&outside.running, scopes, &outside.clock);
    let http = Http::through(gate(Component::PROVISIONER), outside.service.url.clone()).unwrap();
    let reader = Provisioner::new(http.clone().with_token(reading));
    let nameless = Provisioner::new(http);
    let access = side
        .settings()
        .access
        .map(|access| Access { client_secret: "wr0ng".to_owned().into(), ..access });
    let settings = Settings { access, ..side.settings() };
    let forger =
        Provisioner::through(gate(Component::PROVISIONER), gate(Component::ISSUER), &settings);

    let client = side.client(PATIENT);
    let moved = client.runtime_status(Tenant::new(TENANTS[1]), &subject.runtime).await;
    let change = Call::Deprovision.make(&reader, &subject).await.unwrap_err();
    let unknown = Call::RuntimeStatus.make(&nameless, &subject).await.unwrap_err();
    let forged = Call::RuntimeStatus.make(&forger.unwrap(), &subject).await.unwrap_err();

    assert!(moved.is_ok(), "{moved:?}: a service that speaks for all accounts is answered");
    assert_eq!(change.kind, Kind::Unauthorized, "{change:?}");
    assert_eq!(unknown.kind, Kind::Unauthorized, "{unknown:?}");
    assert_eq!((forged.component, forged.kind), (Component::ISSUER, Kind::Unauthorized));
    Call::RuntimeStatus.make(&reader, &subject).await.unwrap();
}
