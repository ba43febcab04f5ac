//! Credentials of bindings appear in no log, no error and nowhere in the database in clear.

use base::failure::chain;
use secrecy::ExposeSecret;
use simulators::testing::{Fault, Lines, Speaks, leaked};

use super::{BoundRuntime, MAKING, anybody, meets};

/// The parts of a kubeconfig that nobody may read.
fn secrets_of(kubeconfig: &str) -> Vec<String> {
    let lines = kubeconfig.lines().map(str::trim);
    let values = lines.filter_map(|line| line.strip_prefix("token:"));
    values.map(|value| value.trim().trim_matches('"').to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_brings_credentials_into_a_log_an_error_or_the_database() {
    let (lines, runtime) = (Lines::kept(), Box::pin(BoundRuntime::start()).await);
    let mut secrets = Vec::new();
    let mut texts = Vec::new();

    // Not those that only a time-out ends.
    for fault in Fault::ALL.into_iter().filter(|fault| *fault != Fault::Silent) {
        for call in MAKING {
            runtime.outside.meet(meets(call, fault.trouble(Speaks::Kubernetes)));
            match runtime.bind("b-1").await {
                Ok(bound) => {
                    secrets.extend(secrets_of(bound.kubeconfig.expose_secret()));
                    texts.push(format!("{bound:?}"));
                }
                Err(error) => texts.push(format!("{error:?} {}", chain(&error))),
            }
            runtime.outside.calm();
            let _ = runtime.unbind("b-1").await;
            runtime.wait_for_takeover();
            runtime.bindings.clean_up().await.unwrap();
        }
    }
    let bound = runtime.bind("b-1").await.unwrap();
    secrets.extend(secrets_of(bound.kubeconfig.expose_secret()));
    let listed = runtime.bindings.list(&anybody(), &runtime.order.instance_id).await.unwrap();
    texts.push(format!("{listed:?} {}", serde_json::to_string(&listed).unwrap()));
    texts.push(runtime.bindings.kubeconfig(&anybody(), &runtime.order.instance_id).await.unwrap());
    texts.push(lines.text());
    texts.extend(runtime.broker.raw_database());

    assert!(secrets.len() > 1 && secrets.iter().all(|secret| secret.len() > 50));
    assert!(texts.iter().any(|text| text.contains("binding created")), "the log was kept");
    assert_eq!(leaked(&texts, &secrets), None);
}
