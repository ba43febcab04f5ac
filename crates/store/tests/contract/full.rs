//! A disk that fills up under the embedded database, and has room again: no restart is needed.
//!
//! The limit on the size of files is per process, so the test runs in a process of its own.

use std::process::Command;

use engine::{Storage as _, StorageError};
use store::testing::TestDatabase;

use crate::bench::{Bench, landed, new, queue};

/// Enough for the tables and a few hundred operations, in units of 1 KiB.
const ROOM: u32 = 1_500;

#[test]
fn p25_after_a_full_disk_the_embedded_database_goes_on_without_a_restart() {
    const SCRIPT: &str = "trap '' XFSZ && ulimit -S -f \"$1\" && shift && exec \"$@\"";
    let test = "full::fills_the_disk_and_goes_on_when_there_is_room";
    let program = std::env::current_exe().unwrap();

    let ran = Command::new("bash")
        .args(["-c", SCRIPT, "bash", &ROOM.to_string()])
        .arg(program)
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", test])
        .output()
        .unwrap();

    let output = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{output}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(output.contains("1 passed"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test runs it in a process of its own"]
async fn fills_the_disk_and_goes_on_when_there_is_room() {
    let bench = Bench::on(TestDatabase::sqlite()).await;
    let replica = bench.join("r").await;
    let held = bench.held(replica, "first").await;
    let mut accepted = Vec::new();

    let full = loop {
        let operation = new(&format!("instance {}", accepted.len()), "a");
        let id = operation.id;
        match bench.store.accept(operation, &queue).await {
            Ok(_) => accepted.push(id),
            Err(error) => break error,
        }
        assert!(accepted.len() < 100_000, "the disk never fills up");
    };
    for _ in 0..20 {
        let again = bench.store.accept(new("while it is full", "a"), &queue).await;
        let error = again.expect_err("there is no room");
        assert!(may_be_tried_again(&error), "{error:?}");
    }
    let raised = Command::new("prlimit")
        .args(["--fsize=unlimited:", "--pid", &std::process::id().to_string()])
        .status();
    assert!(raised.unwrap().success());

    assert!(may_be_tried_again(&full), "{full:?}");
    bench.accept("when there is room").await;
    assert!(landed(&bench.commit(replica, bench.done(&held)).await));
    for id in accepted {
        assert!(bench.store.read(id).await.unwrap().is_some(), "{id} was accepted and is lost");
    }
}

/// Answered with 503, not with 500.
fn may_be_tried_again(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(_) | StorageError::Unknown(_))
}
