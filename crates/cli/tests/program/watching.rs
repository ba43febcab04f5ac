//! What is watched outlives the control plane's process and the login's token, and its end decides about the exit code.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    fake::Broker,
    remote::RemoteControlPlane,
    support::{KCP, free_ports, start},
    terminal::interrupted_on_terminal,
};

const ID: &str = "01a1e15b-0000-7000-8000-000000000001";

fn progress(state: &str, done: u64) -> (u16, Value) {
    let failures = json!([{ "count": 1, "component": "avs", "reason": "down", "message": "gone" }]);
    let failures = if state == "failed" { failures } else { json!([]) };
    (200, json!({ "state": state, "total": 3, "done": done, "waves": [], "failures": failures }))
}

fn watch(answers: Vec<(u16, Value)>, more: &[&str]) -> (String, String, Option<i32>) {
    let broker = Broker::answering(answers);
    let output = broker.kcp(&[&["orchestrations", ID, "--watch"], more].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn a_watched_orchestration_fails_when_it_is_canceled_as_when_a_runtime_failed() {
    for (state, code) in [("succeeded", 0), ("failed", 1), ("canceled", 1)] {
        let (told, error, ended) = watch(vec![progress(state, 3)], &[]);
        assert_eq!(ended, Some(code), "{state}: {error}");
        assert_eq!(told, format!("{state}: 3 of 3 done\n"));
    }
}

#[test]
fn watching_an_orchestration_goes_on_while_the_broker_is_started_again() {
    let away = (503, json!({ "error": "unavailable", "description": "it starts" }));
    let answers = vec![progress("in progress", 1), away.clone(), progress("succeeded", 3)];

    let (told, error, code) = watch(answers, &[]);

    assert_eq!(told, "in progress: 1 of 3 done\nsucceeded: 3 of 3 done\n");
    assert!(error.starts_with("no answer, still watching: "), "{error}");
    assert_eq!(code, Some(0));

    // One that never answered is not waited for.
    let (_, error, code) = watch(vec![away], &[]);
    assert!(error.starts_with("Error: ") && code == Some(1), "{error}");
}

#[test]
fn what_is_watched_as_yaml_is_one_document_after_the_other() {
    let answers = || vec![progress("in progress", 1), progress("succeeded", 3)];

    let (yaml, _, _) = watch(answers(), &["-o", "yaml"]);
    let (json, _, _) = watch(answers(), &["-o", "json"]);

    let documents: Vec<&str> = yaml.split("---\n").collect();
    assert_eq!((documents.len(), documents[0]), (3, ""), "{yaml}");
    assert!(documents[1].contains("state: in progress\n"), "{yaml}");
    assert!(documents[2].contains("state: succeeded\n"), "{yaml}");
    assert!(json.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{json}");

    let data = tempfile::tempdir().unwrap();
    let _running = start(&["up", "--speed", "max"], data.path(), free_ports());
    let mut order = Command::new(KCP);
    order.arg("--data").arg(data.path()).args(["provision", "--plan", "aws", "--name", "one"]);
    let output = order.args(["--watch", "--yes", "-o", "yaml"]).output().unwrap();
    let yaml = String::from_utf8(output.stdout).unwrap();
    let documents: Vec<&str> = yaml.split("---\n").collect();
    assert!(documents[0].is_empty() && documents[1].starts_with("instance: "), "{yaml}");
    assert!(documents[2].starts_with("entry:\n"), "{yaml}");
    assert!(documents[documents.len() - 1].starts_with("operation:\n"), "{yaml}");
}

#[test]
fn ctrl_c_ends_the_watching_of_an_orchestration_and_says_how_to_watch_it_again() {
    let data = tempfile::tempdir().unwrap();
    let _running = start(&["up", "--speed", "max"], data.path(), free_ports());
    let prints = |words: &[&str]| {
        let output = Command::new(KCP).arg("--data").arg(data.path()).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    prints(&["provision", "--plan", "aws", "--name", "one", "--watch", "--yes"]);
    let month = jiff::SignedDuration::from_hours(30 * 24);
    let later = (base::Clock::running().now() + month).to_string();
    let planned = ["upgrade", "kyma", "-t", "all", "--schedule", &later, "--yes", "-o", "name"];
    let id = prints(&planned);

    let watch = ["orchestrations", id.trim(), "--watch"];
    let shown = interrupted_on_terminal(data.path(), 100, &watch, " done");

    assert_eq!(shown.code, Some(130), "{}", shown.text);
    assert!(shown.text.contains("The orchestration goes on. Watch it again:\n"), "{}", shown.text);
    assert!(shown.text.contains(&format!("orchestrations {} --watch", id.trim())));
}

#[test]
fn the_login_is_renewed_when_its_token_ends_while_something_is_watched() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    elsewhere.add("dev", &[]);
    elsewhere.prints(&["login", "-u", &user, "-p", &password]);
    let here = |words: &[&str]| {
        let output = Command::new(KCP).arg("--data").arg(elsewhere.data()).args(words).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    here(&["provision", "--plan", "aws", "--name", "one", "--watch", "--yes"]);
    let month = jiff::SignedDuration::from_hours(30 * 24);
    let later = (base::Clock::running().now() + month).to_string();
    let id = here(&["upgrade", "kyma", "-t", "all", "--schedule", &later, "--yes", "-o", "name"]);
    let mut watching = elsewhere.command(&["orchestrations", id.trim(), "--watch"]);
    let mut watching = watching.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with(" done")));

    let [file] = &elsewhere.logins()[..] else { panic!("one login") };
    let read = || serde_json::from_slice::<Value>(&fs::read(file).unwrap()).unwrap();
    let mut login = read();
    let before = login["refresh_token"].clone();
    // {"exp":1}
    login["id_token"] = "x.eyJleHAiOjF9.x".into();
    // At once, so that it is never read half written.
    let written = file.with_extension("new");
    fs::write(&written, login.to_string()).unwrap();
    fs::rename(&written, file).unwrap();
    // An answer to a request that was sent before may have come with the old token. What is asked behind this line is not.
    here(&["orchestrations", id.trim(), "pause", "--yes"]);
    assert!(lines.any(|line| line.ends_with(" paused: paused on request")));
    here(&["orchestrations", id.trim(), "cancel", "--yes"]);

    assert!(lines.any(|line| line.starts_with("canceled: ")));
    assert_eq!(watching.wait().unwrap().code(), Some(1));
    assert_ne!(read()["refresh_token"], before, "it was used and replaced");
}
