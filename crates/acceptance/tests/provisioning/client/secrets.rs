//! Secrets appear in no log, no error and no number (C8), whatever happens to the calls that carry them.
//!
//! What a reader would get wrong: the provisioner, its engine and the landscape log into the same lines, and nothing may be
//! in theirs either.

use std::sync::{Arc, Mutex};

use base::failure::chain;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use clients::{
    CallReport, Observer,
    provisioner::{Entry, Kyma, KymaComponent, Provision, Upgrade},
};
use secrecy::ExposeSecret;
use simulators::{
    testing::{Fault, Lines, MACHINE, Speaks, leaked},
    trouble::Rule,
};
use uuid::Uuid;

use super::{
    call::{KEY, TENANT, order},
    side::{HASTY, PATIENT, Side, run},
};
use crate::service::{self, SYSTEM};

const OVERRIDES: [&str; 2] = ["overr1de-of-a-component", "overr1de-of-all"];

/// Keeps what it is told.
#[derive(Debug, Clone, Default)]
struct RecordingObserver(Arc<Mutex<Vec<String>>>);

impl Observer for RecordingObserver {
    fn finished(&self, seen: &CallReport<'_>) {
        self.0.lock().unwrap().push(format!("{seen:?}"));
    }
}

fn kyma(version: &str) -> Kyma {
    let entry = |value: &str| Entry {
        key: "grafana.password".into(),
        value: value.to_owned().into(),
        secret: true,
    };
    let component = KymaComponent {
        component: "monitoring".into(),
        namespace: "kyma-system".into(),
        configuration: vec![entry(OVERRIDES[0])],
        ..KymaComponent::default()
    };
    Kyma {
        version: version.into(),
        components: vec![component],
        configuration: vec![entry(OVERRIDES[1])],
        ..Kyma::default()
    }
}

/// What nobody may read: overrides, how one gets into the runtime, and how we get in.
async fn secrets(side: &Side, kubeconfig: &str) -> Vec<String> {
    let keys = ["token:", "client-key-data:"];
    let lines = kubeconfig.lines().map(str::trim);
    let values = lines.filter_map(|line| keys.iter().find_map(|key| line.strip_prefix(key)));
    let mut secrets: Vec<String> =
        values.map(|value| value.trim().trim_matches('"').to_owned()).collect();
    assert!(!secrets.is_empty(), "a kubeconfig has a secret");
    secrets.extend(OVERRIDES.map(str::to_owned));
    secrets.extend(OVERRIDES.map(|value| BASE64_STANDARD.encode(value)));
    secrets.push(BASE64_STANDARD.encode(format!("{}:{}", MACHINE.0, MACHINE.1)));
    secrets.push(format!("client_secret={}", MACHINE.1));
    // All tokens of an issuer begin alike: they name the same key.
    let scope = clients::provisioner::SCOPE;
    let tokens = service::tokens(&side.outside.running, scope, &side.outside.clock);
    let token = tokens.token().await.unwrap();
    secrets.push(token.expose_secret().split('.').next().unwrap().to_owned());
    secrets
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_brings_a_secret_into_a_log_an_error_or_a_number() {
    let (lines, told, side) = (Lines::kept(), RecordingObserver::default(), Side::start().await);
    let wanted = Provision { kyma: Some(kyma("1.22.0")), ..order("c-1") };
    let upgrade = Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None };
    let (root, observer) = (Uuid::new_v4(), Arc::new(told.clone()));
    let client = side.observed(PATIENT, observer.clone());
    let begun = run(root, "Order", 1).scope(client.provision(TENANT, KEY, &wanted)).await.unwrap();
    let operation = begun.id.clone().unwrap();
    let runtime = side.done(&operation).await;
    let mut texts = vec![format!("{wanted:?} {upgrade:?} {client:?} {:?}", side.settings())];
    let mut failures = 0;

    for fault in Fault::ALL {
        let limits = if fault == Fault::Silent { HASTY } else { PATIENT };
        let client = side.observed(limits, observer.clone());
        let rule = |step| Rule::next(1, fault.trouble(Speaks::Html)).of(SYSTEM).from_step(step);
        for step in ["Order", "Upgrade", "Look", "Ask"] {
            side.outside.meet(rule(step));
        }
        let named = |step| run(root, step, 2);
        let status = named("Look").scope(client.runtime_status(TENANT, &runtime)).await;
        texts.push(format!("{status:?}"));
        let errors = [
            status.err(),
            named("Order").scope(client.provision(TENANT, KEY, &wanted)).await.err(),
            named("Upgrade").scope(client.upgrade(TENANT, KEY, &runtime, &upgrade)).await.err(),
            named("Ask").scope(client.operation_status(TENANT, &operation)).await.err(),
        ];
        side.outside.calm();
        for error in errors.into_iter().flatten() {
            failures += 1;
            texts.push(format!("{error:?} {} {:?}", chain(&error), error.failure()));
        }
    }

    let status = client.runtime_status(TENANT, &runtime).await.unwrap();
    texts.push(told.0.lock().unwrap().join("\n"));
    texts.push(lines.text());
    assert!(failures > 50, "there were {failures} errors");
    assert!(texts.last().unwrap().contains("ordering the upgrade of runtime"), "the log was kept");
    let secrets = secrets(&side, status.kubeconfig().unwrap().expose_secret()).await;
    assert_eq!(leaked(&texts, &secrets), None);
}
