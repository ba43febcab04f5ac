//! Runtimes, listed and removed by name, with everything behind them.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::support::{KCP, free_ports, start};

/// The output of a command that must succeed.
fn prints(data: &Path, words: &[&str]) -> String {
    let mut command = Command::new(KCP);
    let command = command.arg("--data").arg(data).args(words).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn runtimes_are_listed_and_removed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "max"], data, free_ports());
    for name in ["one", "two"] {
        prints(
            data,
            &["provision", "--yes", "--plan", "aws", "--name", name, "-g", name, "--watch"],
        );
    }
    let chosen = |more: &[&str]| -> Vec<String> {
        let words = [&["runtimes", "-o", "custom=N:parameters.name,S:status.state"], more].concat();
        prints(data, &words).lines().skip(1).map(str::to_owned).collect()
    };

    assert_eq!(chosen(&[]), ["one      succeeded", "two      succeeded"]);
    assert_eq!(chosen(&["-g", "two", "-p", "aws", "-S", "succeeded"]), ["two      succeeded"]);
    assert_eq!(chosen(&["-S", "failed,error"]), Vec::<String>::new());
    let json =
        ["runtimes", "-g", "one", "--ops", "--kyma-config", "--cluster-config", "-o", "json"];
    let page: Value = serde_json::from_str(&prints(data, &json)).unwrap();
    let one = &page["data"][0];
    assert_eq!(one["clusterConfig"]["region"], one["region"]);
    assert_eq!(one["kymaConfig"]["version"], one["kymaVersion"]);
    assert!(one["status"]["provisioning"]["finishedStages"].as_array().unwrap().len() > 3, "{one}");

    let removed = prints(data, &["deprovision", "--name", "one", "--yes", "--watch"]);
    assert!(removed.contains(" succeeded after "), "{removed}");

    assert_eq!(chosen(&["-S", "all"]), ["two      succeeded"]);
    let instance = one["instanceID"].as_str().unwrap();
    let gone = prints(data, &["runtimes", "-i", instance, "-S", "deprovisioned", "-o", "wide"]);
    assert!(gone.contains(instance) && gone.contains("deprovisioned"), "{gone}");
}
