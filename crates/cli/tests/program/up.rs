//! The whole program as a process: started, asked, killed, started again, stopped.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::support::{KCP, Running, free_ports, start, start_with_log};

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
    let ordered = kcp(data, &["provision", "--yes", "--plan", "aws", "--name", "dev"]);
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

/// Starts it in the folder, and returns with what it says.
fn greeted(folder: &Path, port: u16, speed: &str) -> (Running, String) {
    greeted_with(folder, &["--speed", speed, "--port", &port.to_string()])
}

fn greeted_with(folder: &Path, options: &[&str]) -> (Running, String) {
    let mut command = Command::new(KCP);
    let command = command.arg("up").args(options).current_dir(folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let running = Running(child);
    let mut said = String::new();
    for line in lines {
        said.push_str(&line);
        said.push('\n');
        if line.contains("Ctrl-C stops it") {
            return (running, said);
        }
    }
    panic!("it ended after {said}")
}

#[test]
fn a_folder_keeps_the_port_of_its_last_start_and_is_warned_of_on_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (first, other) = (free_ports(), free_ports());
    drop(greeted(folder.path(), first, "max"));

    let (again, kept) = greeted_with(folder.path(), &["--speed", "max"]);
    drop(again);
    let (_moved, moved) = greeted(folder.path(), other, "max");

    let address = |port| format!("http://127.0.0.1:{port}/\n");
    assert!(kept.contains(&address(first)) && !kept.contains("Warning"), "{kept}");
    let warning = format!("\nWarning: the last start had --port {first}. ");
    assert!(moved.contains(&address(other)) && moved.contains(&warning), "{moved}");
}

#[test]
fn the_greeting_says_what_to_type_and_what_is_carried_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path().join(".kcp"), free_ports());
    let (mut killed, first) = greeted(folder.path(), port, "max");
    assert!(first.contains("simulated world, in development mode"), "{first}");
    assert!(!first.contains("Carrying on"), "{first}");
    let token = String::from_utf8(kcp(&data, &["token"]).stdout).unwrap();
    assert!(token.trim().split('.').count() == 3 && !first.contains(token.trim()), "{token}");
    let down = ["landscape", "trouble", "make", "gardener", "down", "--seconds", "600"];
    let made = String::from_utf8(kcp(&data, &down).stdout).unwrap();
    assert!(made.starts_with("trouble 1: gardener: down until "), "{made}");
    let ordered = kcp(&data, &["provision", "--yes", "--plan", "aws", "--name", "dev"]);
    let hint = String::from_utf8(ordered.stderr).unwrap();
    let id = operations(&data).remove(0)["id"].as_str().unwrap().to_owned();
    assert!(hint.contains(&format!("operations {id} --watch")), "{hint}");
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();

    let (_running, again) = greeted(folder.path(), port, "max");

    assert!(again.contains("\nCarrying on with 1 operation: kcp operations\n"), "{again}");
    let curl = "curl -sf -H \"Authorization: Bearer $(cat)\"";
    let script = format!("{KCP} token | {curl} http://127.0.0.1:{port}/operations");
    let asked = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output();
    assert!(String::from_utf8(asked.unwrap().stdout).unwrap().contains(&id));
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

#[test]
fn a_log_on_a_full_disk_stops_and_fails_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let mut running = start_with_log(&["up", "--speed", "max"], data, free_ports(), full());

    let ordered = kcp(data, &["provision", "--yes", "--plan", "aws", "--name", "dev", "--watch"]);

    assert!(ordered.status.success(), "{}", String::from_utf8_lossy(&ordered.stderr));
    let states: Vec<_> = operations(data).iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["succeeded"]);
    let pid = running.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(running.0.wait().unwrap().success());
}
