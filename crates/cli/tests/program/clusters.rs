//! The simulated clusters of the program as a process: `kubectl` looks, applies, and sees it carry on.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::support::{KCP, Running, free_ports, start};

const SHOOT: &str = include_str!("../shoot.yaml");

fn garden(data: &Path) -> PathBuf {
    data.join("kubeconfigs").join("garden.yaml")
}

fn kubectl(kubeconfig: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("kubectl");
    // What `kubectl` remembers of a server must not come from a server of another test.
    command
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .arg("--cache-dir")
        .arg(kubeconfig.with_extension("cache"));
    command.args(words);
    command
}

fn said(mut command: Command, input: &str) -> String {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn landscape(data: &Path, words: &[&str]) -> String {
    let mut command = Command::new(KCP);
    command.arg("--data").arg(data).arg("landscape").args(words);
    said(command, "")
}

fn killed(mut running: Running, data: &Path) {
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    std::fs::remove_file(data.join("connection.json")).unwrap();
}

/// Follows objects until a line is as expected; comes back with all lines that were seen.
fn followed(
    kubeconfig: &Path,
    what: &[&str],
    columns: &str,
    expected: impl Fn(&str) -> bool,
) -> Vec<String> {
    let columns = format!("custom-columns={columns}");
    let words = [&["get"], what, &["-w", "--no-headers", "-o", &columns]].concat();
    let mut child = kubectl(kubeconfig, &words).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    for line in lines {
        let line = line.unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        seen.push(line.clone());
        if expected(&line) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen.last().is_some_and(|last| expected(last)), "{seen:?}");
    seen
}

/// Follows the Shoot until its last operation is as expected.
fn watched(data: &Path, expected: &str) -> Vec<String> {
    let columns = "TYPE:.status.lastOperation.type,STATE:.status.lastOperation.state";
    let what = ["shoots", "-n", "garden-kyma"];
    followed(&garden(data), &what, columns, |line| line == expected)
}

#[test]
fn a_shoot_applied_by_hand_goes_through_its_life() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let _running = start(&["up", "--speed", "20"], data, free_ports());
    let mode = std::fs::metadata(garden(data)).unwrap().permissions().mode();

    said(kubectl(&garden(data), &["apply", "-f", "-"]), SHOOT);
    let seen = watched(data, "Create Succeeded");

    assert_eq!(mode & 0o777, 0o600);
    assert!(seen.iter().any(|line| line == "Create Processing"), "{seen:?}");
    assert!(landscape(data, &["objects", "runtimes"]).contains("abc"));
    let ledger: Value =
        serde_json::from_str(&landscape(data, &["ledger", "--system", "gardener", "-o", "json"]))
            .unwrap();
    let objects: Vec<&str> = ledger["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line["object"].as_str())
        .collect();
    assert_eq!(objects, ["create shoots/garden-kyma/abc"]);
    let kcp = data.join("kubeconfigs").join("kcp.yaml");
    let namespaces = said(kubectl(&kcp, &["get", "namespaces", "-o", "name"]), "");
    assert!(namespaces.contains("namespace/kcp-system"), "{namespaces}");
}

#[test]
fn the_garden_is_of_the_version_and_has_the_webhooks_that_the_options_say() {
    // Its subnets are outside of its network, which only the extension of the provider knows.
    let odd = SHOOT.replace("vpc: {cidr: 10.250.0.0/16}", "vpc: {cidr: 10.251.0.0/16}");
    assert_ne!(odd, SHOOT);
    for (options, version, refuses) in [
        (["--gardener", "1.65"].as_slice(), "gardener.v1.65.", true),
        (["--bare-gardener"].as_slice(), "gardener.v1.117.", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (data, file) = (folder.path(), folder.path().join("odd.yaml"));
        std::fs::write(&file, &odd).unwrap();
        let _running = start(&[["landscape"].as_slice(), options].concat(), data, free_ports());

        let found = said(kubectl(&garden(data), &["get", "--raw", "/clusters/garden/version"]), "");
        let words = ["create", "--dry-run=server", "-f", file.to_str().unwrap()];
        let tried = kubectl(&garden(data), &words).output().unwrap();

        let answer = String::from_utf8_lossy(&tried.stderr);
        assert!(found.contains(version), "{options:?}: {found}");
        assert_eq!(answer.contains("denied the request"), refuses, "{options:?}: {answer}");
        assert_eq!(tried.status.success(), !refuses, "{options:?}: {answer}");
    }
}

#[test]
fn killed_in_the_middle_of_a_creation_it_carries_on() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let running = start(&["landscape", "--speed", "1"], data, port);
    said(kubectl(&garden(data), &["apply", "-f", "-"]), SHOOT);
    watched(data, "Create Processing");
    killed(running, data);

    let running = start(&["landscape", "--speed", "1"], data, port);
    watched(data, "Create Processing");
    killed(running, data);
    let _running = start(&["landscape", "--speed", "max"], data, port);
    watched(data, "Create Succeeded");

    let runtimes: Value =
        serde_json::from_str(&landscape(data, &["objects", "runtimes", "-o", "json"])).unwrap();
    assert_eq!(runtimes["objects"].as_array().unwrap().len(), 1);
}

/// Asks the Director of a running landscape.
async fn director(data: &Path, query: &str) -> Value {
    let connection = std::fs::read(data.join("connection.json")).unwrap();
    let connection: Value = serde_json::from_slice(&connection).unwrap();
    let text = |key: &str| connection[key].as_str().unwrap();
    let answer = reqwest::Client::new()
        .post(format!("{}/director/graphql", text("landscape")))
        .bearer_auth(text("token"))
        .header("tenant", "any")
        .json(&json!({"query": query}));
    let answer: Value = answer.send().await.unwrap().json().await.unwrap();
    assert!(answer["errors"].is_null(), "{answer}");
    answer["data"]["result"].clone()
}

#[tokio::test]
async fn an_agent_killed_before_it_connected_does_so_with_the_same_token() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let running = start(&["landscape", "--speed", "max"], data, port);
    said(kubectl(&garden(data), &["apply", "-f", "-"]), SHOOT);
    watched(data, "Create Succeeded");
    // Now so slow that the agent never gets there before the kill.
    landscape(data, &["speed", "0.01"]);
    // A raw path begins at the root of the port, not at the cluster's address.
    let path = "/clusters/garden/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots/abc\
                /adminkubeconfig";
    let request = json!({"spec": {"expirationSeconds": 3600}}).to_string();
    let answer = said(kubectl(&garden(data), &["create", "--raw", path, "-f", "-"]), &request);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let text = answer["status"]["kubeconfig"].as_str().unwrap();
    let runtime = data.join("runtime.yaml");
    std::fs::write(&runtime, STANDARD.decode(text).unwrap()).unwrap();
    let made = "mutation { result: registerRuntime(in: { name: \"abc\" }) { id } }";
    let id = director(data, made).await["id"].as_str().unwrap().to_owned();
    let token = director(
        data,
        &format!(
            "mutation {{ result: requestOneTimeTokenForRuntime(id: \"{id}\") {{ token connectorURL }} }}"
        ),
    )
    .await;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "compass-agent-configuration", "namespace": "kyma-system"},
        "stringData": {
            "CONNECTOR_URL": token["connectorURL"], "TOKEN": token["token"],
            "RUNTIME_ID": id, "TENANT": "any",
        },
    });
    said(kubectl(&runtime, &["create", "namespace", "kyma-system"]), "");
    let agent =
        ["create", "deployment", "compass-runtime-agent", "--image=agent:1", "-n", "kyma-system"];
    said(kubectl(&runtime, &agent), "");
    said(kubectl(&runtime, &["apply", "-f", "-"]), &secret.to_string());
    let trying = "TRYING:.metadata.annotations.landscape\\.kcp\\.dev/trying";
    followed(&runtime, &["compassconnections"], trying, |line| line != "<none>");
    killed(running, data);

    let _running = start(&["landscape", "--speed", "max"], data, port);
    let state = "STATE:.status.connectionState";
    followed(&runtime, &["compassconnections"], state, |line| line == "Synchronized");

    let query = format!("query {{ result: runtime(id: \"{id}\") {{ status {{ condition }} }} }}");
    assert_eq!(director(data, &query).await["status"]["condition"], "CONNECTED");
}

#[test]
fn the_definitions_can_be_applied_to_an_api_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let definitions = landscape(data, &["crds"]);
    let _running = start(&["landscape", "--speed", "max"], data, free_ports());
    let kcp = data.join("kubeconfigs").join("kcp.yaml");

    let applied = said(kubectl(&kcp, &["apply", "-f", "-"]), &definitions);
    let known = said(kubectl(&kcp, &["get", "crd", "-o", "json"]), "");

    for name in ["shoots.core.gardener.cloud", "compassconnections.compass.kyma-project.io"] {
        assert!(applied.contains(name), "{applied}");
    }
    let known: Value = serde_json::from_str(&known).unwrap();
    let established = |one: &Value| {
        one["status"]["conditions"].as_array().unwrap().iter().any(|condition| {
            condition["type"] == "Established" && condition["status"] == json!("True")
        })
    };
    assert!(known["items"].as_array().unwrap().iter().all(established));
}
