//! The provisioner's client against small servers: golden requests, and what only a provisioner of another kind answers.
//!
//! All that can happen to a call is tried against our own provisioner, in `acceptance/tests/provisioning/client`. What is
//! left here it cannot be brought to do: it reads requests and does not show their bytes, its answers have neither more nor
//! fewer fields than its schema, and it has no refusals with the codes of others.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base::Key;
use clients::{
    CallLimits, Component, Gate, Kind,
    provisioner::{
        self, AwsProvider, AwsZone, Cluster, OperationLimits, OperationProgress, OperationState,
        OperationType, Provider, Provision, Provisioner, RuntimeInput, Settings, ShootChange,
        Tenant, Upgrade, UpgradeShoot,
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
async fn requests_are_what_the_provisioner_documents() {
    let (provisioner, heard) = provisioner(|number| match number {
        4 | 6 => data(&json!("o-1")),
        _ => data(&status()),
    })
    .await;
    let change = UpgradeShoot {
        cluster: ShootChange { auto_scaler_max: Some(5), ..ShootChange::default() },
        administrators: Vec::new(),
    };
    let upgrade = Upgrade { kubernetes_version: Some("1.30.1".into()), kyma: None };

    let begun = provisioner.provision(TENANT, KEY, &order("demo")).await.unwrap();
    provisioner.upgrade(TENANT, KEY, "r-1", &upgrade).await.unwrap();
    provisioner.upgrade_shoot(TENANT, KEY, "r-1", &change).await.unwrap();
    let removal = provisioner.deprovision(TENANT, KEY, "r-1").await.unwrap();
    provisioner.hibernate(TENANT, KEY, "r-1").await.unwrap();
    provisioner.reconnect(TENANT, KEY, "r-1").await.unwrap();
    provisioner.operation_status(Tenant::new("ga"), "o-1").await.unwrap();
    provisioner.provision_registered(TENANT, KEY, "r-1", &order("demo")).await.unwrap();

    assert_eq!(removal, "o-1");
    assert_eq!(
        (begun.operation, begun.state),
        (OperationType::ProvisionNoInstall, OperationState::InProgress)
    );
    assert_eq!((begun.runtime_id.as_deref(), begun.last_error), (Some("r-1"), None));
    let zone =
        json!({"name": "eu-central-1a", "publicCidr": "", "internalCidr": "", "workerCidr": ""});
    let config = json!({
        "runtimeInput": {"name": "demo"},
        "clusterConfig": {
            "gardenerConfig": {
                "name": "c-1", "provider": "aws", "targetSecret": "", "region": "", "workerCidr": "",
                "providerSpecificConfig": {
                    "awsConfig": {"vpcCidr": "10.250.0.0/16", "awsZones": [zone]},
                },
                "maxUnavailable": 0, "euAccess": false,
            },
            "administrators": ["ada@example.org"],
        },
    });
    let id = json!({"id": "r-1"});
    let golden = [
        (
            format!(
                "mutation ($config: ProvisionRuntimeInput!) {{ result: provisionRuntime(config: $config) {STATUS}"
            ),
            json!({"config": config}),
        ),
        (
            format!(
                "mutation ($id: String!, $config: UpgradeRuntimeInput!) {{ result: upgradeRuntime(id: $id, config: $config) {STATUS}"
            ),
            json!({"id": "r-1", "config": {"kubernetesVersion": "1.30.1"}}),
        ),
        (
            format!(
                "mutation ($id: String!, $config: UpgradeShootInput!) {{ result: upgradeShoot(id: $id, config: $config) {STATUS}"
            ),
            json!({"id": "r-1", "config": {"gardenerConfig": {"autoScalerMax": 5}}}),
        ),
        ("mutation ($id: String!) { result: deprovisionRuntime(id: $id) }".into(), id.clone()),
        (
            format!("mutation ($id: String!) {{ result: hibernateRuntime(id: $id) {STATUS}"),
            id.clone(),
        ),
        ("mutation ($id: String!) { result: reconnectRuntimeAgent(id: $id) }".into(), id),
        (
            format!("query ($id: String!) {{ result: runtimeOperationStatus(id: $id) {STATUS}"),
            json!({"id": "o-1"}),
        ),
        (
            format!(
                "mutation ($id: String!, $config: ProvisionRuntimeInput!) {{ result: provisionRuntime(runtimeID: $id, config: $config) {STATUS}"
            ),
            json!({"id": "r-1", "config": config}),
        ),
    ];
    let all = heard.all();
    assert_eq!(all.len(), golden.len());
    for (heard, (query, variables)) in all.iter().zip(&golden) {
        assert_eq!(heard.json(), json!({"query": query, "variables": variables}));
        assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/graphql"));
        assert_eq!(heard.header("tenant"), Some("ga"));
        assert_eq!(heard.header("content-type"), Some("application/json; charset=utf-8"));
    }
    assert_eq!(all[0].header("sub-account"), Some("sa"));
    assert_eq!(all[6].header("sub-account"), None);
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

#[tokio::test]
async fn refusals_are_classified_by_what_known_clients_rely_on() {
    let busy = "cannot start new operation for r Runtime while previous one is in progress";
    let table = [
        (json!(2), "err_db_not_found", "no", Kind::NotFound),
        (json!(400), "err_provisioner_internal", busy, Kind::Busy),
        (json!(400), "err_provisioner_internal", "no", Kind::Refused { status: 400 }),
        (json!(403), "Forbidden", "no", Kind::Refused { status: 403 }),
        (json!(1), "err_db_internal", "no", Kind::Unavailable),
        (json!(500), "err_provisioner_internal", busy, Kind::Unavailable),
        (json!(501), "gardener", "no", Kind::Unavailable),
        (json!(null), "", "no", Kind::Unavailable),
    ];

    for (code, reason, message, kind) in table {
        let (provisioner, _) = provisioner({
            let code = code.clone();
            move |_| refusal(&code, reason, message)
        })
        .await;
        let error = provisioner.upgrade(TENANT, KEY, "r", &Upgrade::default()).await.unwrap_err();
        assert_eq!(error.kind, kind, "{code} {reason}");
        assert_eq!(error.component, Component::PROVISIONER);
        assert_eq!(error.said.as_deref(), Some(message));
    }
}

#[tokio::test]
async fn a_gateway_that_says_when_to_come_back_is_heard_and_strange_answers_are_classified() {
    let wait = Kind::Throttled { retry_after: Some(Duration::from_secs(7)) };
    for (status, kind) in [(429, wait), (503, wait), (504, Kind::Unavailable)] {
        let (provisioner, _) = provisioner(move |_| {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("retry-after", "7")], "<html>").into_response()
        })
        .await;
        let error = provisioner.deprovision(TENANT, KEY, "r").await.unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
    }
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"data":{}}"#,
        r#"{"data":{"result":null}}"#,
        r#"{"data":{"result":7}}"#,
    ] {
        let (provisioner, _) = provisioner(move |_| Response::new(Body::from(body))).await;
        let error = provisioner.deprovision(TENANT, KEY, "r").await.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed, "{body}");
    }
    let (wrong, _) = provisioner(|_| {
        let mut strange = status();
        strange["state"] = json!(3);
        data(&strange)
    })
    .await;
    let named = wrong.operation_status(TENANT, "o").await.unwrap_err();
    assert!(named.to_string().contains("state"), "{named}");
}

#[tokio::test]
async fn a_removal_that_supersedes_says_so_and_is_busy_where_nobody_knows_how() {
    let unknown =
        "Unknown argument \"supersede\" on field \"deprovisionRuntime\" of type \"Mutation\".";
    let (provisioner, heard) = provisioner(move |number| match number {
        1 => data(&json!("o-1")),
        // Some servers say so with a status, some without.
        number => {
            let body = json!({"errors": [{"message": unknown, "locations": [{"line": 1, "column": 27}]}], "data": null});
            let status = if number == 2 { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
            (status, body.to_string()).into_response()
        }
    })
    .await;

    let begun = provisioner.deprovision_superseding(TENANT, KEY, "r-1").await.unwrap();

    assert_eq!(begun, "o-1");
    for _ in 0..2 {
        let error = provisioner.deprovision_superseding(TENANT, KEY, "r-1").await.unwrap_err();
        assert_eq!(error.kind, Kind::Busy, "{error:?}");
    }
    assert_eq!(
        heard.all()[0].json(),
        json!({
            "query": "mutation ($id: String!) { result: deprovisionRuntime(id: $id, supersede: true) }",
            "variables": {"id": "r-1"},
        })
    );
}

#[tokio::test]
async fn limits_are_asked_for_and_a_provisioner_that_does_not_know_them_is_no_problem() {
    let longest = json!({"provisioning": 15_300, "upgradeShoot": 6_300, "deprovisioning": 17_700});
    let (knows, journal) = provisioner(move |_| data(&longest)).await;
    let (older, _) = provisioner(|_| {
        let error = json!({
            "message": "Cannot query field \"operationLimits\" on type \"Query\".",
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        });
        let body = json!({"errors": [error], "data": null});
        (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
    })
    .await;
    let (away, _) = provisioner(|_| StatusCode::SERVICE_UNAVAILABLE.into_response()).await;

    let limits =
        OperationLimits { provisioning: 15_300, upgrade_shoot: 6_300, deprovisioning: 17_700 };
    assert_eq!(knows.limits().await.unwrap(), Some(limits));
    let text = "query { result: operationLimits { provisioning upgradeShoot deprovisioning } }";
    assert_eq!(journal.last().json()["query"], text);
    assert_eq!(older.limits().await.unwrap(), None);
    assert_eq!(away.limits().await.unwrap_err().kind, Kind::Unavailable);
}

/// The original provisioner's response to an unknown argument.
fn unknown_argument() -> Response {
    let text =
        "Unknown argument \"waitSeconds\" on field \"runtimeOperationStatus\" of type \"Query\".";
    let body = json!({"errors": [{"message": text}], "data": null});
    (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
}

fn seen() -> OperationProgress {
    let (state, message) = (OperationState::InProgress, Some("m".into()));
    OperationProgress { operation: "o-1".into(), state, message }
}

#[tokio::test]
async fn a_wait_for_a_change_tells_what_was_seen() {
    let (provisioner, heard) = provisioner(|_| data(&status())).await;

    let answer = provisioner.follow(TENANT, &seen(), Duration::from_secs(20)).await.unwrap();

    assert!(!seen().differs(&answer.unwrap()));
    let query = format!(
        "query ($id: String!, $wait: Int, $state: OperationState, $message: String) {{ result: runtimeOperationStatus(id: $id, waitSeconds: $wait, seenState: $state, seenMessage: $message) {STATUS}"
    );
    let variables = json!({"id": "o-1", "wait": 20, "state": "InProgress", "message": "m"});
    assert_eq!(heard.last().json(), json!({"query": query, "variables": variables}));
    assert_eq!(heard.last().header("tenant"), Some("ga"));
}

#[tokio::test]
async fn a_provisioner_that_cannot_wait_is_asked_again_only_after_a_while() {
    let (url, heard) =
        answering(move |number, _| if number < 3 { unknown_argument() } else { data(&status()) })
            .await;
    let clock = noon();
    let gate = || Gate::new(provisioner::COMPONENT, CallLimits::DEFAULT, clock.clone());
    let settings = Settings { url: url.join("/graphql").unwrap(), access: None };
    let provisioner = Provisioner::through(gate(), gate(), &settings).unwrap();
    let follow = async || provisioner.follow(TENANT, &seen(), Duration::from_secs(1)).await;

    for _ in 0..5 {
        assert_eq!(follow().await.unwrap(), None);
    }
    assert_eq!(heard.len(), 1);
    clock.advance(Duration::from_secs(599));
    assert_eq!(follow().await.unwrap(), None);
    assert_eq!(heard.len(), 1);
    clock.advance(Duration::from_secs(2));
    assert_eq!(follow().await.unwrap(), None);
    assert_eq!(heard.len(), 2);
    clock.advance(Duration::from_secs(601));
    assert!(follow().await.unwrap().is_some(), "it has learnt to wait");
}

#[tokio::test]
async fn waits_that_fail_do_not_keep_other_calls_from_a_provisioner() {
    let (url, _) = answering(|_, heard| {
        let waits = heard.body.contains("waitSeconds");
        if waits { StatusCode::BAD_GATEWAY.into_response() } else { data(&status()) }
    })
    .await;
    let gate = || Gate::new(provisioner::COMPONENT, CallLimits::DEFAULT, noon());
    let settings = Settings { url: url.join("/graphql").unwrap(), access: None };
    let provisioner = Provisioner::through(gate(), gate(), &settings).unwrap();

    for _ in 0..20 {
        let failed = provisioner.follow(TENANT, &seen(), Duration::from_secs(1)).await;
        assert_eq!(failed.unwrap_err().kind, Kind::Unavailable);
    }

    provisioner.operation_status(TENANT, "o-1").await.unwrap();
}
