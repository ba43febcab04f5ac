//! The provisioner's client against small servers: golden requests, and what only a provisioner of another kind answers.
//!
//! All that can happen to a call is tried against our own provisioner, in `acceptance/tests/provisioning/client`. What is
//! left here it cannot be brought to do: it reads requests and does not show their bytes, its answers have neither more nor
//! fewer fields than its schema, and it has no refusals with the codes of others.

mod golden;
mod refusals;
mod waiting;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use base::Key;
use clients::{
    CallLimits, Gate,
    provisioner::{
        self, AwsProvider, AwsZone, Cluster, Provider, Provision, Provisioner, RuntimeInput,
        Settings, Tenant,
    },
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::{Journal, answering, noon};

const KEY: Key = Key::named("order");
const TENANT: Tenant<'_> = Tenant { id: "ga", subaccount: Some("sa") };
const STATUS: &str =
    "{ id operation state message runtimeID lastError { errMessage reason component } } }";

fn status() -> Value {
    json!({
        "id": "o-1", "operation": "ProvisionNoInstall", "state": "InProgress", "message": "m",
        "runtimeID": "r-1", "more": 1,
        "lastError": {"errMessage": "", "reason": "", "component": ""},
    })
}

fn data(result: &Value) -> Response {
    Json(json!({"data": {"result": result}})).into_response()
}

fn refusal(code: &Value, reason: &str, message: &str) -> Response {
    let extensions =
        json!({"error_code": code, "error_component": "provisioner", "error_reason": reason});
    let first = json!({"message": message, "path": ["result"], "extensions": extensions});
    Json(json!({"errors": [first, {"message": "other"}], "data": {"result": null}})).into_response()
}

async fn provisioner<F>(answer: F) -> (Provisioner, Journal)
where
    F: Fn(usize) -> Response + Clone + Send + Sync + 'static,
{
    let (url, journal) = answering(move |number, _| answer(number)).await;
    let gate = || Gate::new(provisioner::COMPONENT, CallLimits::DEFAULT, noon());
    let settings = Settings { url: url.join("/graphql").unwrap(), access: None };
    (Provisioner::through(gate(), gate(), &settings).unwrap(), journal)
}

fn order(name: &str) -> Provision {
    let zone = AwsZone { name: "eu-central-1a".into(), ..AwsZone::default() };
    Provision {
        runtime_input: RuntimeInput { name: name.into(), ..RuntimeInput::default() },
        cluster: (
            Cluster {
                name: "c-1".into(),
                provider: "aws".into(),
                eu_access: Some(false),
                max_unavailable: Some(0),
                provider_config: Provider::Aws(AwsProvider {
                    vpc_cidr: "10.250.0.0/16".into(),
                    aws_zones: vec![zone],
                }),
                ..Cluster::default()
            },
            vec!["ada@example.org".into()],
        ),
        kyma: None,
    }
}

#[tokio::test]
async fn a_runtimes_status_is_read_with_what_is_missing_and_what_is_new() {
    let (whole, _) = provisioner(|_| {
        data(&json!({
            "lastOperationStatus": status(),
            "runtimeConnectionStatus": {"status": "Connected", "new": 1},
            "hibernationStatus": {"hibernated": true},
            "runtimeConfiguration": {
                "kubeconfig": "k3bec0nfig", "kymaConfig": {"version": "1.24.11"},
                "clusterConfig": {"name": "c-1", "volumeSizeGB": 50, "oidcConfig": {"clientID": "c"}},
            },
        }))
    })
    .await;
    let (bare, _) =
        provisioner(|_| data(&json!({"runtimeConfiguration": {"kubeconfig": ""}}))).await;

    let whole = whole.runtime_status(TENANT, "r-1").await.unwrap();
    let bare = bare.runtime_status(TENANT, "r-1").await.unwrap();

    assert_eq!(whole.kubeconfig().unwrap().expose_secret(), "k3bec0nfig");
    assert_eq!(whole.kyma_version(), Some("1.24.11"));
    assert_eq!(whole.hibernated(), Some(true));
    assert_eq!(whole.cluster().unwrap().volume_size_gb, Some(50));
    assert!(!format!("{whole:?}").contains("k3bec0nfig"));
    assert!(bare.kubeconfig().is_none() && bare.cluster().is_none() && bare.agent.is_none());
}
