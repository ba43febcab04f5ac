//! Secrets appear in no log, no error and no number (C8), whatever happens to the calls that carry them.
//!
//! What a reader would get wrong: the simulated clusters never repeat what they were sent. Trouble that speaks for an API
//! server does, in every way in which one could.

use std::sync::Arc;

use base::failure::chain;
use base64::{Engine, prelude::BASE64_STANDARD};
use clients::{
    Component, Gate,
    btp::{Btp, ManagerCredentials},
    kubernetes::Cluster,
    lifecycle_manager::{LifecycleManager, Version},
    runtime::Runtime,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use simulators::{
    testing::{Fault, Lines, Speaks, leaked},
    trouble::{Kind, Rule},
};

use crate::{
    CallLog,
    control_plane::{NAMESPACE, RUNTIME, World, marks},
};

const CLIENT: &str = "cl1ent-of-the-operator";
const SECRET: &str = "s3cret-of-the-operator";
const TOKEN: &str = "t0ken-of-a-runtime";
const KEY: &str = "a2V5LW9mLWEtcnVudGltZQ==";

fn kubeconfig() -> SecretString {
    let user = json!({"token": TOKEN, "client-key-data": KEY});
    format!("apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user: {user}\n").into()
}

fn credentials() -> ManagerCredentials {
    ManagerCredentials {
        client_id: CLIENT.to_owned().into(),
        client_secret: SECRET.to_owned().into(),
        service_manager_url: "https://sm.example".into(),
        token_url: "https://uaa.example".into(),
        cluster_id: "1".into(),
    }
}

/// The secrets: in clear, and as they are sent.
fn secrets(world: &World) -> Vec<String> {
    let whole = kubeconfig();
    let mut secrets = [CLIENT, SECRET, TOKEN, KEY].map(str::to_owned).to_vec();
    secrets.extend([CLIENT, SECRET, whole.expose_secret()].map(encoded));
    // How we get in ourselves.
    for name in ["kcp", RUNTIME] {
        let ours = world.running.clusters().kubeconfig(name).unwrap();
        let lines = ours.lines().map(str::trim);
        let values = lines.filter_map(|line| {
            line.strip_prefix("token:").or_else(|| line.strip_prefix("client-key-data:"))
        });
        secrets.extend(values.map(|value| value.trim().trim_matches('"').to_owned()));
    }
    secrets
}

fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

/// Refusals of a change that repeat what was sent: values as they are written, and lines of them.
fn chatty(system: &str) -> Vec<Kind> {
    let whole = kubeconfig();
    let (lines, values) = match system {
        "runtimes" => ([CLIENT, SECRET], vec![CLIENT, SECRET]),
        _ => ([TOKEN, KEY], vec![whole.expose_secret()]),
    };
    let encoded: Vec<_> = values.iter().map(|value| encoded(value)).collect();
    let long = format!("{}{}", "x".repeat(1_990), lines[0]);
    let mut all = Vec::new();
    for message in [format!("{lines:?} {values:?} {encoded:?}"), long] {
        for (status, reason) in [(422, "Invalid"), (400, "BadRequest"), (409, "Conflict")] {
            let body = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
                "reason": reason, "message": message, "details": {"name": "k"},
            });
            all.push(Kind::Status { status, body: Some(body.to_string()) });
        }
        let page = Some(format!("<html>{message}"));
        all.push(Kind::Status { status: 502, body: page.clone() });
        all.push(Kind::Malformed { body: page });
    }
    all
}

/// The trouble of calls with a method, in each of the clusters.
fn troubles(system: &str, method: &str) -> Vec<Kind> {
    let mut all = Fault::ALL.map(|fault| fault.trouble(Speaks::Kubernetes)).to_vec();
    if method != "GET" {
        all.extend(chatty(system));
    }
    all
}

#[tokio::test]
async fn kubeconfigs_and_credentials_are_in_no_log_no_error_and_no_number() {
    let (lines, told, world) = (Lines::kept(), CallLog::default(), World::new().await);
    let cluster = async |name: &str, component| {
        let observer = Arc::new(told.clone());
        let gate = Gate::observed(component, World::limits(), world.clock.clone(), observer);
        let kubeconfig = world.running.clusters().kubeconfig(name).unwrap();
        Cluster::connect(gate, &kubeconfig.into()).await.unwrap()
    };
    let modules = cluster("kcp", Component::CONTROL_PLANE).await;
    let modules = LifecycleManager::new(modules, NAMESPACE, Version::V1Beta2);
    let runtime = cluster(RUNTIME, Component::RUNTIME).await;
    let (btp, runtime) = (Btp::new(runtime.clone()), Runtime::new(runtime, "test"));
    let (kubeconfig, credentials) = (kubeconfig(), credentials());
    let (mut texts, mut failures) = (Vec::new(), 0);

    for method in ["GET", "POST", "PUT"] {
        let pairs = troubles("control-plane", method).into_iter().zip(troubles("runtimes", method));
        for (number, (one, other)) in pairs.enumerate() {
            // A missing object is created.
            let name = if method == "POST" { format!("k-{number}") } else { "k".into() };
            if method == "POST" {
                runtime.delete_secret("kyma-system", "sap-btp-manager").await.unwrap();
            }
            for (system, trouble) in [("control-plane", one), ("runtimes", other)] {
                let rule = Rule::next(1, trouble).of(system).on(method, "/clusters");
                world.running.landscape.troubles().add(rule).unwrap();
            }
            let manager = btp.manager(&credentials).await;
            let written = btp.write_manager(&credentials).await;
            texts.push(format!("{manager:?} {written:?}"));
            let errors = [
                modules.write_kubeconfig(&name, &kubeconfig, &marks(&[])).await.err(),
                modules.find_kubeconfig(&name).await.err(),
                modules.kubeconfig_of(&name).await.err(),
                manager.err(),
                written.err(),
            ];
            for error in errors.into_iter().flatten() {
                failures += 1;
                texts.push(format!("{error:?} {} {:?}", chain(&error), error.failure()));
            }
            world.running.landscape.troubles().clear(None).unwrap();
            // What works in between keeps the breakers closed.
            modules.write_kubeconfig("k", &kubeconfig, &marks(&[])).await.unwrap();
            btp.write_manager(&credentials).await.unwrap();
        }
    }

    texts.push(format!("{modules:?} {btp:?} {credentials:?}"));
    texts.push(told.0.lock().unwrap().join("\n"));
    texts.push(lines.text());
    assert!(failures > 100, "{failures}");
    assert!(texts.iter().any(|text| text.contains(r#"[\"[REDACTED]"#)), "something was repeated");
    let log = texts.last().unwrap();
    for doing in ["creating Secret kubeconfig-k", "writing Secret sap-btp-manager"] {
        assert!(log.contains(doing), "the log was kept: {doing}");
    }
    let secrets = secrets(&world);
    assert!(secrets.len() > 8, "there were {} secrets", secrets.len());
    assert_eq!(leaked(&texts, &secrets), None);
}
