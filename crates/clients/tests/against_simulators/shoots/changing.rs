//! Changes of a Shoot: they hold after every fault, and keep what they do not name.

use clients::Kind;
use serde_json::json;

use super::ONE;
use crate::{
    faults::{Expected, Fault, Row, for_each_fault},
    garden::{Garden, row, shoot},
};

/// Modified concurrently: read it again, then try again.
pub(super) fn changed(fault: Fault) -> Option<Expected> {
    (fault == Fault::Status(409)).then_some(Expected::Fails(Kind::Changed))
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
