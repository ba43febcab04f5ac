//! The whole program as a process: started, asked, killed, started again, stopped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

use support::{KCP, Running, free_ports, start};

fn up(data: &Path, port: u16, speed: &str) -> Running {
    start(&["up", "--speed", speed], data, port)
}

fn kcp(data: &Path, words: &[&str]) -> Output {
    Command::new(KCP).arg("--data").arg(data).args(words).output().unwrap()
}

fn operations(data: &Path) -> Vec<Value> {
    let output = kcp(data, &["operations", "-o", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page: Value = serde_json::from_slice(&output.stdout).unwrap();
    page["operations"].as_array().unwrap().clone()
}

#[test]
fn killed_and_started_again_it_carries_on_and_stops_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let mut killed = up(data, port, "1");
    let ordered = kcp(data, &["provision", "--plan", "aws", "--name", "dev"]);
    assert!(ordered.status.success(), "{}", String::from_utf8_lossy(&ordered.stderr));
    let first = operations(data).remove(0)["id"].as_str().unwrap().to_owned();
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    fs::remove_file(data.join("connection.json")).unwrap();

    let mut running = up(data, port, "max");
    let followed = kcp(data, &["operations", &first, "--follow"]);
    let followed = String::from_utf8(followed.stdout).unwrap();
    assert!(followed.contains("\npost_actions\n") && followed.contains(" AVS_Tags "), "{followed}");
    assert!(followed.contains(" succeeded after "), "{followed}");
    let shown = String::from_utf8(kcp(data, &["operations", &first]).stdout).unwrap();
    assert!(shown.contains("\nAccepted ") && shown.contains(" Check_Runtime "), "{shown}");

    let pid = running.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(running.0.wait().unwrap().success());
    assert!(!data.join("connection.json").exists());
}

#[test]
fn a_token_that_ran_out_is_renewed_with_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = up(data, free_ports(), "max");
    let file = data.join("connection.json");
    let mut connection: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    // {"exp":1}
    connection["token"] = "x.eyJleHAiOjF9.x".into();
    fs::write(&file, connection.to_string()).unwrap();

    assert_eq!(operations(data).len(), 0);

    connection["password"] = "wrong".into();
    fs::write(&file, connection.to_string()).unwrap();
    let refused = kcp(data, &["operations"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("issuer") && !error.contains("\"wrong\""), "{error}");
}
