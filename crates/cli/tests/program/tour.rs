//! The guided tour, with and without a person to answer.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{KCP, free_ports, start};

fn kcp(data: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(KCP);
    command.arg("--data").arg(data).args(words).stdin(Stdio::null()).output().unwrap()
}

fn prints(data: &Path, words: &[&str]) -> String {
    let output = kcp(data, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tour_walks_through_and_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());
    prints(data, &["landscape", "trouble", "make", "cis", "down", "--seconds", "600"]);
    let troubles = prints(data, &["landscape", "trouble", "-o", "json"]);

    let walked = prints(data, &["tour", "--yes"]);

    let seen = [
        "1 of 7: break Gardener",
        "landscape trouble make gardener down",
        "provision --plan aws --name tour",
        "Now        failing at ",
        "Next try ",
        "has ended",
        " succeeded after ",
        "kube-system",
        " Remove_Runtime ",
        "That was the tour",
    ];
    let mut rest = walked.as_str();
    for part in seen {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part:?} in {walked}"));
        rest = after;
    }
    assert_eq!(prints(data, &["landscape", "trouble", "-o", "json"]), troubles);
    assert_eq!(prints(data, &["runtimes", "-S", "all", "-o", "name"]), "");
    let newest = prints(data, &["landscape", "ledger", "--tail", "2", "-o", "name"]);
    assert_eq!(newest.lines().count(), 2, "{newest}");
}

#[test]
fn the_tour_goes_on_after_a_restart_and_may_be_left() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let mut killed = start(&["up", "--speed", "max"], data, port);
    let mut walking = Command::new(KCP)
        .arg("--data")
        .arg(data)
        .arg("tour")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut typed = walking.stdin.take().unwrap();
    let mut lines = BufReader::new(walking.stdout.take().unwrap()).lines().map(Result::unwrap);
    typed.write_all(b"\n\n\n\n").unwrap();
    let kill = format!("  $ kill -9 {}   ", killed.0.id());
    assert!(lines.any(|line| line.starts_with(&kill)));
    assert!(lines.any(|line| line.starts_with("Waiting until it is back")));
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    fs::remove_file(data.join("connection.json")).unwrap();

    let _running = start(&["up", "--speed", "max"], data, port);
    assert!(lines.any(|line| line == "It is back."));
    typed.write_all(b"\n").unwrap();
    assert!(lines.any(|line| line.contains(" succeeded after ")));
    typed.write_all(b"q\n").unwrap();

    assert_eq!(walking.wait().unwrap().code(), Some(1));
    let left = kcp(data, &["tour", "--yes"]);
    let error = String::from_utf8(left.stderr).unwrap();
    assert!(error.contains("a runtime is called \"tour\" already"), "{error}");
}

#[test]
fn a_tour_that_is_broken_off_ends_the_trouble_that_it_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());
    let before = prints(data, &["landscape", "trouble", "-o", "json"]);
    let mut tour = Command::new(KCP);
    let tour = tour.arg("--data").arg(data).arg("tour").stdin(Stdio::piped());
    let mut walking = tour.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(walking.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut typed = walking.stdin.take().unwrap();
    typed.write_all(b"\n\n").unwrap();
    assert!(lines.any(|line| line.ends_with(": gardener is down")));
    assert!(lines.any(|line| line.starts_with("Operation  ")));

    let pressed = Command::new("kill").args(["-INT", &walking.id().to_string()]).status().unwrap();

    assert!(pressed.success() && lines.any(|line| line.ends_with(" has ended")));
    let output = walking.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(" deprovision "), "{error}");
    assert_eq!(prints(data, &["landscape", "trouble", "-o", "json"]), before);
}

#[test]
fn a_tour_without_an_answer_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());

    let left = kcp(data, &["tour"]);

    assert_eq!(left.status.code(), Some(1));
    assert!(String::from_utf8(left.stderr).unwrap().contains("--yes"));
    assert!(prints(data, &["operations"]).contains("no operations"));
}
