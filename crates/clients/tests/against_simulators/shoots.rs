//! Shoots: create, change, delete, and the kubeconfig to them; every fault, and the repetition.

use std::{collections::BTreeMap, time::Duration};

use clients::{
    Kind,
    gardener::{Deletion, Signal},
    runtime::Content,
};
use serde_json::json;
use simulators::trouble::{self, Cut, Rule};

use crate::{
    faults::{Expected, Fault, Row, for_each_fault},
    garden::{Garden, NAMESPACE, row, shoot},
};

const ALL: &str =
    "/clusters/garden/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots$";
const ONE: &str =
    "/clusters/garden/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots/c-*";
const MAPS: &str = "/clusters/garden/api/v1/namespaces/garden-kyma/configmaps$";
const MAP: &str = "/clusters/garden/api/v1/namespaces/garden-kyma/configmaps/m-*";
const KUBECONFIG: &str = "/clusters/garden/*/shoots/c-1/adminkubeconfig$";

const BINDINGS: &str = "/clusters/garden/apis/security.gardener.cloud/v1alpha1/namespaces/garden-kyma/credentialsbindings$";
const OLDER: &str = "/clusters/garden/*/secretbindings/b-*";

/// Modified concurrently: read it again, then try again.
fn changed(fault: Fault) -> Option<Expected> {
    (fault == Fault::Status(409)).then_some(Expected::Fails(Kind::Changed))
}

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
async fn a_change_holds_after_every_fault_and_keeps_what_it_does_not_name() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();
    let check = |field: &str, number: usize| {
        let found = garden.shoots("c-1").remove(0);
        assert_eq!(found["spec"][field], json!({"number": number}));
        assert_eq!(found["spec"]["networking"], json!({"type": "calico"}));
    };

    for_each_fault(
        garden.side(),
        Row { body: "merged", ..row("PATCH", ONE) },
        changed,
        async |number| {
            gardener.merge("c-1", &json!({"spec": {"merged": {"number": number}}})).await
        },
        |number, _| check("merged", number),
    )
    .await;
    for_each_fault(
        garden.side(),
        Row { body: "applied", ..row("PATCH", ONE) },
        changed,
        async |number| {
            gardener.apply("c-1", &json!({"spec": {"applied": {"number": number}}})).await
        },
        |number, _| check("applied", number),
    )
    .await;
}

#[tokio::test]
async fn a_replaced_shoot_is_written_over_no_change_of_others() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();

    for_each_fault(
        garden.side(),
        row("PUT", ONE),
        // Delivered twice, the second one is behind; the first answer counts.
        changed,
        async |number| {
            let mut read = gardener.shoot("c-1").await?.unwrap();
            read.spec.purpose = Some(format!("purpose-{number}"));
            gardener.replace(&read).await
        },
        |number, written| {
            assert_eq!(written.spec.purpose, Some(format!("purpose-{number}")));
            assert_eq!(garden.shoots("c-1")[0]["spec"]["purpose"], format!("purpose-{number}"));
        },
    )
    .await;
    let old = gardener.shoot("c-1").await.unwrap().unwrap();
    gardener.hibernate("c-1", true).await.unwrap();
    assert_eq!(gardener.replace(&old).await.unwrap_err().kind, Kind::Changed);
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

#[tokio::test]
async fn a_config_map_is_written_and_removed_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    let data = |text: &str| BTreeMap::from([("config.yaml".to_owned(), text.to_owned())]);
    let name = |number: usize| format!("m-{number}");
    let runtime = |number: usize| format!("r-{number}");
    let found = |number: usize| {
        let maps = garden.server.list("garden", "configmaps");
        let map = maps.iter().find(|map| map["metadata"]["name"] == name(number).as_str());
        map.map(|map| map["data"]["config.yaml"].as_str().unwrap().to_owned())
    };

    for_each_fault(
        garden.side(),
        row("POST", MAPS),
        changed,
        async |number| gardener.put_config_map(&name(number), &runtime(number), &data("one")).await,
        |number, ()| assert_eq!(found(number).as_deref(), Some("one")),
    )
    .await;
    for_each_fault(
        garden.side(),
        row("PATCH", MAP),
        changed,
        async |number| gardener.put_config_map(&name(number), &runtime(number), &data("two")).await,
        |number, ()| assert_eq!(found(number).as_deref(), Some("two")),
    )
    .await;
    for_each_fault(
        garden.side(),
        row("DELETE", MAP),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            fault => changed(fault),
        },
        async |number| gardener.remove_config_map(&name(number), &runtime(number)).await,
        |number, ()| assert_eq!(found(number), None),
    )
    .await;
}

#[tokio::test]
async fn a_credentials_binding_is_made_after_every_fault() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    let name = |number: usize| format!("b-{number}");
    for number in 0..2 * Fault::ALL.len() {
        garden.put(&json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
            "metadata": {"name": name(number), "namespace": NAMESPACE},
            "provider": {"type": "aws"}, "secretRef": {"name": "s", "namespace": NAMESPACE},
        }));
    }
    let made = |number: usize| {
        let all = garden.server.list("garden", "credentialsbindings.security.gardener.cloud");
        let found = all.iter().find(|one| one["metadata"]["name"] == name(number).as_str());
        assert_eq!(found.unwrap()["credentialsRef"]["name"], "s");
    };

    for_each_fault(
        garden.side(),
        row("POST", BINDINGS),
        changed,
        async |number| gardener.put_credentials_binding(&name(number)).await,
        |number, _| made(number),
    )
    .await;
    let second = |number: usize| Fault::ALL.len() + number;
    for_each_fault(
        garden.side(),
        row("GET", OLDER),
        changed,
        async |number| gardener.put_credentials_binding(&name(second(number))).await,
        |number, _| made(second(number)),
    )
    .await;
}
