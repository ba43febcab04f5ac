//! `kcp up` in this process: what its contract promises to scripts and tests.

mod access;
mod client;
mod restarts;

use std::{os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;
use server::{
    settings,
    up::{Options, Up},
};

use crate::support::free_ports;
use client::{Client, data, order};

fn options(port: u16, data: &Path, speed: &str) -> Options {
    crate::support::options(port, data, speed, settings::load(None).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_serves_everything_its_contract_names() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let client = Client::found_in(&data);
    let token = Some(client.field("token"));

    let fields: Vec<&String> = client.connection.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["broker", "provisioner", "landscape", "token", "user", "password", "pid"]);
    for service in ["broker", "provisioner", "landscape"] {
        for path in ["/healthz", "/readyz", "/version"] {
            let (status, body) = client.get(service, path, None).await;
            assert_eq!(status, 200, "{service}{path}: {body}");
        }
    }
    let page = reqwest::get(client.field("broker")).await.unwrap();
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(
        (header("x-content-type-options"), header("x-frame-options")),
        ("nosniff".into(), "DENY".into())
    );
    for word in
        ["default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]
    {
        assert!(header("content-security-policy").contains(word), "{word}");
    }
    for cluster in ["garden", "kcp"] {
        let file = data.join("kubeconfigs").join(format!("{cluster}.yaml"));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let address = format!("https://127.0.0.1:{}/clusters/{cluster}", port + 3);
        assert!(std::fs::read_to_string(file).unwrap().contains(&address), "{address}");
    }
    let (_, systems) = client.get("landscape", "/landscape/systems", token).await;
    let systems: Vec<&str> = systems["systems"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    for system in ["gardener", "control-plane", "runtimes"] {
        assert!(systems.contains(&system), "{system} in {systems:?}");
    }
    order(&up).await;
    let ended = client.until(|operation| operation["state"] == "succeeded").await;
    let id = ended["id"].as_str().unwrap();
    let (_, journal) = client.get("broker", &format!("/operations/{id}/journal"), token).await;
    let (_, waiting) = client.get("broker", &format!("/operations/{id}/waiting"), token).await;
    let (_, metrics) = client.get("broker", "/metrics", token).await;
    let (_, page) = client.get("broker", "/", None).await;

    let stages = ["start", "create_runtime", "check_kyma", "create_kyma_resource", "post_actions"];
    assert_eq!(ended["closed"], json!(stages));
    assert!(journal.as_array().unwrap().iter().any(|entry| entry["step"] == "AVS_Tags"));
    assert_eq!(waiting["kind"], "ended");
    assert!(metrics.as_str().unwrap().contains("kcp_operations_ended_total"), "{metrics}");
    assert!(page.as_str().unwrap().contains(id), "{page}");
    let foreign = client.http.get(client.field("broker")).header("host", "elsewhere.example");
    assert_eq!(foreign.send().await.unwrap().status(), 403);
    assert_eq!(client.get("broker", "/operations", None).await.0, 401);
    assert_eq!(client.get("broker", "/metrics", None).await.0, 401);
    up.stop().await;
    assert!(!data.join("connection.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_or_a_port_in_use_is_named() {
    let (_folder, data) = data();
    let port = free_ports();
    let up = Up::start(options(port, &data, "max")).await.unwrap();
    let error = |options| {
        Box::pin(async {
            let refused: anyhow::Result<Up> = Up::start(options).await;
            format!("{:#}", refused.err().unwrap())
        })
    };

    let locked = error(options(free_ports(), &data, "max")).await;
    let taken = error(options(port - 1, &data.with_extension("other"), "max")).await;

    assert!(locked.contains(data.canonicalize().unwrap().to_str().unwrap()), "{locked}");
    assert!(locked.contains("--data"), "{locked}");
    assert!(taken.contains(&format!("port {port}")) && taken.contains("--port"), "{taken}");
    up.stop().await;
}
