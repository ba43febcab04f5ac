//! Shoots: created and deleted; every fault, and the repetition.

mod changing;
mod objects;
mod reading;

use clients::{Kind, gardener::Deletion};

use crate::{
    faults::{Expected, Fault, for_each_fault},
    garden::{Garden, row, shoot},
};
use changing::changed;

const ALL: &str =
    "/clusters/garden/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots$";
const ONE: &str =
    "/clusters/garden/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots/c-*";
const MAPS: &str = "/clusters/garden/api/v1/namespaces/garden-kyma/configmaps$";
const MAP: &str = "/clusters/garden/api/v1/namespaces/garden-kyma/configmaps/m-*";
const KUBECONFIG: &str = "/clusters/garden/*/shoots/c-1/adminkubeconfig$";

const BINDINGS: &str = "/clusters/garden/apis/security.gardener.cloud/v1alpha1/namespaces/garden-kyma/credentialsbindings$";
const OLDER: &str = "/clusters/garden/*/secretbindings/b-*";

#[tokio::test]
async fn a_shoot_is_made_once_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;

    for_each_fault(
        garden.side(),
        row("POST", ALL),
        changed,
        async |number| {
            gardener.create(&shoot(&format!("c-{number}"), &format!("r-{number}"))).await
        },
        |number, made| {
            let found = garden.shoots(&format!("c-{number}"));
            assert_eq!(found.len(), 1);
            assert_eq!(found[0]["metadata"]["uid"].as_str(), made.metadata.uid.as_deref());
        },
    )
    .await;
}

#[tokio::test]
async fn the_shoot_of_another_runtime_is_not_taken_over_and_a_full_quota_is_final() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();
    let mut full = shoot("c-2", "r-2");
    full.spec.region = Some("full".into());

    let foreign = gardener.create(&shoot("c-1", "r-2")).await.unwrap_err();
    let refused = gardener.create(&full).await.unwrap_err();

    assert_eq!(foreign.kind, Kind::AlreadyExists);
    assert_eq!(refused.kind, Kind::Refused { status: 403 });
    assert!(garden.shoots("c-2").is_empty());
}

#[tokio::test]
async fn a_shoot_goes_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    for number in 0..Fault::ALL.len() {
        gardener.create(&shoot(&format!("c-{number}"), "r")).await.unwrap();
    }

    for_each_fault(
        garden.side(),
        row("DELETE", ONE),
        |fault| match fault {
            // It has gone meanwhile, as far as anybody can tell.
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |number| gardener.delete(&format!("c-{number}")).await,
        |number, _| assert!(garden.shoots(&format!("c-{number}")).is_empty()),
    )
    .await;
    assert_eq!(gardener.delete("c-1").await.unwrap(), Deletion::Gone);
}

#[tokio::test]
async fn the_confirmation_of_a_deletion_may_meet_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    for number in 0..Fault::ALL.len() {
        gardener.create(&shoot(&format!("c-{number}"), "r")).await.unwrap();
    }

    for_each_fault(
        garden.side(),
        row("PATCH", ONE),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            // Confirmed by nobody, so Gardener does not delete; the next try confirms again.
            Fault::Phantom => Some(Expected::Fails(Kind::Changed)),
            other => changed(other),
        },
        async |number| gardener.delete(&format!("c-{number}")).await,
        |number, _| assert!(garden.shoots(&format!("c-{number}")).is_empty()),
    )
    .await;
}
