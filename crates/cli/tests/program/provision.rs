//! Runtimes ordered and removed from the command line, with everything behind it.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::support::{KCP, free_ports, start};

const INSTANCE: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";

fn kcp(data: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(KCP);
    command.arg("--data").arg(data).args(words).stdin(Stdio::null()).output().unwrap()
}

/// The output of a command that must succeed.
fn prints(data: &Path, words: &[&str]) -> String {
    let output = kcp(data, words);
    let (out, error) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert!(output.status.success(), "{words:?}: {} {}", out.unwrap(), error.unwrap());
    out.unwrap()
}

/// The output and the error of a command that must fail.
fn fails(data: &Path, words: &[&str]) -> (String, String) {
    let output = kcp(data, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Whether these words come one after the other.
fn in_order(text: &str, words: &[&str]) -> bool {
    let mut rest = text;
    words.iter().all(|word| match rest.split_once(word) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[test]
fn a_runtime_is_ordered_watched_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());
    let order =
        ["provision", "--yes", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "--watch"];

    let made = prints(data, &order);
    let stages = [
        INSTANCE,
        "Operation ",
        "Dashboard ",
        "\nstart\n",
        " Starting ",
        "\ncreate_runtime\n",
        " Create_Runtime_Without_Kyma ",
        " Check_Runtime ",
        "\ncheck_kyma\n",
        " succeeded after ",
    ];
    assert!(in_order(&made, &stages), "{made}");
    let operation = made.lines().nth(1).unwrap().split_whitespace().nth(1).unwrap().to_owned();
    let shown = prints(data, &["operations", "show", &operation]);
    assert!(in_order(&shown, &["Kind       provision", "after ", " Check_Runtime "]), "{shown}");

    let again = prints(data, &order);
    assert!(again.contains("Operation  none: it is complete"), "{again}");
    let (_, error) =
        fails(data, &["provision", "--yes", "--plan", "aws", "--name", "other", "--id", INSTANCE]);
    assert!(error.contains("provisioning operation already exist"), "{error}");

    let removed = prints(data, &["deprovision", INSTANCE, "--yes", "--watch"]);
    assert!(in_order(&removed, &[INSTANCE, " Remove_Runtime ", " succeeded after "]), "{removed}");
    let (_, error) = fails(data, &["deprovision", INSTANCE, "--yes"]);
    assert!(
        error
            .contains(&format!("no instance or runtime \"{INSTANCE}\" found by id, name or Shoot")),
        "{error}"
    );
}

#[test]
fn failures_go_by_with_their_reason_and_fail_the_command_when_they_last() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());

    prints(data, &["landscape", "trouble", "make", "avs", "down", "--calls", "1"]);
    let healed =
        prints(data, &["provision", "--yes", "--plan", "aws", "--name", "healed", "--watch"]);
    let tries = [" AVS_Create_Internal_Eval_Step ", "failed", ": unavailable", " done "];
    assert!(in_order(&healed, &tries), "{healed}");

    let refusing = ["landscape", "trouble", "make", "reconciler", "status", "--with", "status=400"];
    prints(data, &[&refusing[..], &["--calls", "100"]].concat());
    let (told, error) =
        fails(data, &["provision", "--yes", "--plan", "aws", "--name", "refused", "--watch"]);
    let end = [" Create_Cluster_Configuration ", "failed for good"];
    assert!(in_order(&told, &end), "{told}");
    let why = [" failed after ", ": refused with status 400", "Next:", "operations retry "];
    assert!(in_order(&error, &why), "{error}");

    let (_, error) = fails(data, &["provision", "--yes", "--plan", "tin", "--name", "dev"]);
    assert!(error.contains("plan \"tin\" is not in the catalog, which has: "), "{error}");
    let mars = ["provision", "--yes", "--plan", "aws", "--name", "dev", "--region", "mars"];
    let (_, error) = fails(data, &mars);
    assert!(error.contains("region must be one of the following"), "{error}");
}

#[test]
fn the_same_parameters_are_the_same_order_wherever_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());
    let file = |name: &str, text: &str| {
        let path = data.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let some = file("some.json", r#"{"machineType": "m5.2xlarge", "autoScalerMin": 2}"#);
    let all = file(
        "all.json",
        r#"{"machineType": "m5.2xlarge", "autoScalerMin": 4, "region": "eu-west-2",
            "oidc": {"clientID": "me", "issuerURL": "https://issuer.test"}}"#,
    );
    let order =
        ["provision", "--yes", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "-g", "ga-7"];
    let order = |more: &[&'static str], file: &str| {
        let words = [&order[..], more, &["--parameters"]].concat();
        words.into_iter().map(str::to_owned).chain([file.to_owned()]).collect::<Vec<_>>()
    };
    let oidc = ["--param", "oidc.clientID=me", "--param", "oidc.issuerURL=https://issuer.test"];
    let over = [&["--region", "eu-west-2", "--param", "autoScalerMin=4", "-o", "json"], &oidc[..]];

    let mixed = order(&over.concat(), &some);
    let told = prints(data, &mixed.iter().map(String::as_str).collect::<Vec<_>>());

    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["instance"], INSTANCE);
    let operation = told["operation"].as_str().unwrap();
    let same = order(&["--watch"], &all);
    let same = prints(data, &same.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(same.contains(operation) || same.contains("it is complete"), "{same}");
    let other = order(&["--param", "autoScalerMin=5"], &all);
    let (_, error) = fails(data, &other.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(error.contains("provisioning operation already exist"), "{error}");
    let three =
        ["provision", "--yes", "--plan", "aws", "--name", "dev", "--param", "autoScalerMin=\"x\""];
    let (_, error) = fails(data, &three);
    assert!(error.contains("autoScalerMin"), "{error}");
}

#[test]
fn watching_goes_on_after_the_control_plane_was_killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let mut killed = start(&["up", "--speed", "1"], data, port);
    let order = ["provision", "--yes", "--plan", "aws", "--name", "dev", "--watch"];
    let mut watching = Command::new(KCP);
    let watching = watching.arg("--data").arg(data).args(order);
    let mut watching = watching.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(" Starting ")));

    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    let mut missing = BufReader::new(watching.stderr.take().unwrap()).lines();
    let missing = missing.next().unwrap().unwrap();
    let _running = start(&["up", "--speed", "max"], data, port);

    assert!(missing.starts_with("no answer, still watching: "), "{missing}");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.iter().any(|line| line.contains("taken by a replica")), "{rest:?}");
    assert!(rest.last().unwrap().contains(" succeeded after "), "{rest:?}");
    assert!(watching.wait().unwrap().success());
}

#[test]
fn what_a_removal_could_not_remove_is_listed_until_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (data, settings) = (folder.path().join("data"), folder.path().join("settings.toml"));
    std::fs::write(&settings, "[operations]\nremoval_patience = \"1s\"\n").unwrap();
    let words = ["up", "--speed", "max", "--config", settings.to_str().unwrap()];
    let _running = start(&words, &data, free_ports());
    prints(
        &data,
        &["provision", "--yes", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "--watch"],
    );
    prints(&data, &["landscape", "trouble", "make", "edp", "down", "--seconds", "600"]);

    prints(&data, &["deprovision", INSTANCE, "--yes", "--watch"]);

    let left = prints(&data, &["leftovers"]);
    let line = [INSTANCE, "aws", "the data tenant in the event data platform"];
    assert!(in_order(&left, &line), "{left}");
    prints(&data, &["landscape", "reset", "edp", "-y"]);
    prints(&data, &["deprovision", INSTANCE, "--yes", "--watch"]);
    assert_eq!(prints(&data, &["leftovers"]), "nothing is left of what was removed\n");
}

#[test]
fn what_may_exist_after_a_lost_answer_is_listed_until_it_is_settled() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());
    let lost = ["avs", "lost-answer", "--calls", "1", "--method", "POST"];
    prints(data, &[["landscape", "trouble", "make"].as_slice(), &lost].concat());

    prints(
        data,
        &["provision", "--yes", "--plan", "aws", "--name", "dev", "--id", INSTANCE, "--watch"],
    );

    let listed = prints(data, &["leftovers"]);
    let name = format!("K8S-AWS-Kyma-int-{INSTANCE}-dev");
    assert!(in_order(&listed, &["avs", &name]), "{listed}");
    let wide = prints(data, &["leftovers", "-o", "wide"]);
    assert!(in_order(&wide, &["avs", "not known", INSTANCE, &name]), "{wide}");
    let entry = listed.lines().find(|line| line.contains("K8S-AWS")).unwrap();
    let entry = entry.split_whitespace().next().unwrap();
    assert_eq!(
        prints(data, &["leftovers", "settle", entry, "-y"]),
        format!("{entry} is settled\n")
    );
    assert_eq!(prints(data, &["leftovers"]), "nothing is left of what was removed\n");
    let (_, again) = fails(data, &["leftovers", "settle", entry, "-y"]);
    assert!(again.contains("there is no entry"), "{again}");
}
