//! What is read of a Shoot: its state, its watch, its kubeconfig.

use std::time::Duration;

use clients::{Kind, gardener::Signal, runtime::Content};
use serde_json::json;
use simulators::trouble::{self, Cut, Rule};

use super::{ALL, KUBECONFIG, ONE, changing::changed};
use crate::{
    faults::{Expected, Fault, for_each_fault},
    garden::{Garden, row, shoot},
};

#[tokio::test]
async fn reads_are_answered_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();

    for_each_fault(
        garden.side(),
        row("GET", ONE),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |_| gardener.shoot("c-1").await,
        |_, found| assert_eq!(found.unwrap().name(), "c-1"),
    )
    .await;
    for_each_fault(
        garden.side(),
        row("GET", ALL),
        changed,
        async |_| gardener.shoots("").await,
        |_, found| assert_eq!(found.len(), 1),
    )
    .await;
}

#[tokio::test]
async fn a_watch_that_is_cut_goes_on() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    let cuts = [
        trouble::Kind::Reset { when: Cut::AfterHeaders },
        trouble::Kind::Down { refuse: true },
        trouble::Kind::Malformed { body: None },
    ];
    for cut in cuts {
        garden.troubles.add(Rule::next(1, cut).on("GET", "*/shoots?*watch=true")).unwrap();
    }

    let mut signals = gardener.signals();
    let mut lines = garden.ledger.last();
    while !garden.troubles.active().is_empty() {
        lines.changed().await.unwrap();
    }
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();

    // The first signal says that there is a watch; after that, one comes for the new Shoot.
    while !matches!(signals.next().await.unwrap(), Signal::Shoot(name) if name == "c-1") {
        let touched = json!({"metadata": {"annotations": {"touched": "again"}}});
        gardener.merge("c-1", &touched).await.unwrap();
    }
}

#[tokio::test]
async fn a_kubeconfig_is_had_after_every_fault_and_opens_the_runtime() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();
    let got = std::cell::RefCell::new(None);

    for_each_fault(
        garden.side(),
        row("POST", KUBECONFIG),
        |fault| match fault {
            // The Shoot is there, so its kubeconfig is not there yet.
            Fault::Status(404) => Some(Expected::Fails(Kind::Unavailable)),
            fault => changed(fault),
        },
        async |_| gardener.admin_kubeconfig("c-1", Duration::from_hours(1)).await,
        |_, admin| drop(got.borrow_mut().replace(admin)),
    )
    .await;

    let admin = got.into_inner().unwrap();
    let runtimes = garden.runtimes();
    let cluster = runtimes.get(&admin.kubeconfig).await.unwrap();
    let runtime = clients::runtime::Runtime::new(cluster, "kcp");
    runtime.write_secret("kyma-system", "s", &Content::default()).await.unwrap();
    assert_eq!(garden.server.list("runtime", "secrets").len(), 1);
    let short = gardener.admin_kubeconfig("c-1", Duration::from_secs(5)).await.unwrap_err();
    let missing = gardener.admin_kubeconfig("c-9", Duration::from_hours(1)).await.unwrap_err();
    assert_eq!(short.kind, Kind::Refused { status: 422 });
    assert_eq!(missing.kind, Kind::NotFound);
}
