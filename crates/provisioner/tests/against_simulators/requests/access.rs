//! Whose a runtime is, and requests that are refused.

use provisioner::{Caller, requests, status::StatusFields};

use super::lost_answers::registered;
use crate::world::{World, aws, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_is_its_tenants_alone() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("mine")).await;
    let id = &made.runtime_id;
    let other = Caller { tenant: "ga-2".into(), ..caller() };
    let nobody = Caller { tenant: String::new(), ..caller() };

    let theirs = world.provisioner.runtime_status(&other, id, StatusFields::ALL).await.unwrap_err();
    let nameless = world.provisioner.operation_status(&nobody, &made.id).await.unwrap_err();

    let missing = format!("Cannot find Tenant for runtimeID:'{id}");
    assert_eq!((theirs.code.number(), theirs.message), (2, missing), "as if it did not exist");
    let theirs = world.provisioner.operation_status(&other, &made.id).await.unwrap_err();
    let unknown = made.id.replace(|digit: char| digit != '-', "7");
    let missing = world.provisioner.operation_status(&other, &unknown).await.unwrap_err();
    assert_eq!(theirs.message.replace(&made.id, ""), missing.message.replace(&unknown, ""));
    assert_eq!((theirs.code, theirs.reason), (missing.code, missing.reason));
    assert_eq!(nameless.message, "tenant header is empty");
    world.provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_ids_are_told_apart_as_clients_expect() {
    let world = World::sqlite().await;
    let unknown = "5d1c0c1e-0000-4000-8000-000000000001";

    let runtime = world.provisioner.deprovision(&caller(), unknown, false).await.unwrap_err();
    let operation = world.provisioner.operation_status(&caller(), unknown).await.unwrap_err();
    let no_id =
        world.provisioner.runtime_status(&caller(), "x", StatusFields::ALL).await.unwrap_err();

    assert_eq!(runtime.message, format!("Cannot find Tenant for runtimeID:'{unknown}"));
    assert_eq!((runtime.code.number(), runtime.reason.as_str()), (2, "err_db_not_found"));
    assert_eq!(operation.code.number(), 2);
    assert_eq!((no_id.code.number(), no_id.reason.as_str()), (1, "err_db_internal"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_nothing_behind() {
    let world = World::sqlite().await;
    world.provisioned(aws("taken")).await;
    let mut small = aws("small");
    small.cluster.auto_scaler_min = Some(0);
    let unknown = with_kyma("unknown", "99.99.99");
    let taken = requests::Provision { name: "another-name".into(), ..aws("taken") };

    let name = world.provisioner.provision(&caller(), taken).await.unwrap_err();
    let size = world.provisioner.provision(&caller(), small).await.unwrap_err();
    let version = world.provisioner.provision(&caller(), unknown).await.unwrap_err();

    assert!(name.message.contains("another runtime has the name taken"), "{name}");
    assert!(size.message.contains("autoScalerMin"), "{size}");
    assert!(version.message.contains("Kyma Release 99.99.99 not found"), "{version}");
    for error in [name, size, version] {
        assert_eq!(error.code.number(), 400, "{error}");
    }
    assert_eq!(registered(&world), 1, "only the first runtime is registered");
}
