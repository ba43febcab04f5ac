//! Who reads secrets, what is asked for nobody, and how much an error may say.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use provisioner::{
    Error,
    configuration::{Component, Entry, Kyma},
    status::Parts,
};
use serde_json::{Value, json};

use crate::{
    recorder::Asked,
    sample,
    service::{KUBECONFIG, READ, Reply, Service, WRITE},
};

const OPEN: &str = "{ runtimeStatus(id: \"r\") { runtimeConfiguration { ...C } } }
    fragment C on RuntimeConfig { key: kubeconfig kymaConfig { version } }";
const ROLL_BACK: &str = "mutation { rollBackUpgradeOperation(id: \"r\") {
    runtimeConfiguration { kubeconfig } } }";

async fn send(service: &Service, scopes: &[&str], query: &str) -> Reply {
    let request = Request::post("/graphql")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {}", service.token(scopes, Some("t"))));
    service.send(request.body(Body::from(json!({"query": query}).to_string())).unwrap()).await
}

#[tokio::test]
async fn a_kubeconfig_needs_a_scope_of_its_own() {
    let service = Service::start().await;

    let opened = send(&service, &[READ, KUBECONFIG], OPEN).await.data();
    let closed = send(&service, &[READ], OPEN).await;
    let taken_back = send(&service, &[WRITE], ROLL_BACK).await;

    assert_eq!(opened["runtimeStatus"]["runtimeConfiguration"]["key"], "apiVersion: v1");
    for (reply, field) in [(closed, "runtimeStatus"), (taken_back, "rollBackUpgradeOperation")] {
        let error = reply.error();
        assert_eq!(error["extensions"]["error_code"], 403, "{error}");
        let message = "kubeconfig: the token lacks the scope provisioner:kubeconfig";
        assert_eq!(error["message"], message);
        assert!(!reply.text.contains("apiVersion"), "{}", reply.text);
        assert_ne!(reply.json()["data"][field], Value::Null, "the rest is answered");
    }
}

#[tokio::test]
async fn secret_overrides_are_told_to_nobody() {
    let service = Service::start().await;
    let entry =
        |key: &str, secret| Entry { key: key.into(), value: format!("{key}-value"), secret };
    let mut runtime = sample::runtime(sample::aws());
    runtime.configuration.kyma = Some(Kyma {
        version: "2.0.0".into(),
        profile: None,
        components: vec![Component {
            component: "monitoring".into(),
            namespace: "kyma-system".into(),
            configuration: vec![entry("size", false), entry("password", true)],
            source_url: None,
            conflict_strategy: None,
        }],
        configuration: vec![entry("domain", false), entry("token", true)],
        conflict_strategy: None,
    });
    *service.runtimes.runtime.lock().unwrap() = Ok(runtime);

    let fields = "configuration { key value secret }";
    let query = format!(
        "{{ runtimeStatus(id: \"r\") {{ runtimeConfiguration {{ kymaConfig {{
            {fields} components {{ {fields} }} }} }} }} }}"
    );
    let answer = service.run(&query).await.data();

    let kyma = &answer["runtimeStatus"]["runtimeConfiguration"]["kymaConfig"];
    let shown = |key: &str, value: &str, secret: bool| json!({"key": key, "value": value, "secret": secret});
    let global = [shown("domain", "domain-value", false), shown("token", "[REDACTED]", true)];
    let own = [shown("size", "size-value", false), shown("password", "[REDACTED]", true)];
    assert_eq!(kyma["configuration"], json!(global));
    assert_eq!(kyma["components"][0]["configuration"], json!(own));
}

#[tokio::test]
async fn only_what_a_query_selects_is_asked_for() {
    let service = Service::start().await;
    let none = Parts::NONE;
    let cases = [
        ("lastOperationStatus { state }", none),
        ("runtimeConfiguration { clusterConfig { name } }", none),
        ("a: runtimeConnectionStatus { status }", Parts { connection: true, ..none }),
        (
            "... on RuntimeStatus { hibernationStatus { hibernated } }",
            Parts { hibernation: true, ..none },
        ),
        ("runtimeConfiguration { kubeconfig }", Parts { kubeconfig: true, ..none }),
    ];

    for (selection, parts) in cases {
        let query = format!("{{ runtimeStatus(id: \"r\") {{ {selection} }} }}");
        service.run(&query).await.data();

        assert_eq!(service.runtimes.asked(), Asked::Runtime("r".into(), parts), "{selection}");
    }
}

#[tokio::test]
async fn a_removal_says_whether_it_supersedes() {
    let service = Service::start().await;
    let cases = [("", false), (", supersede: false", false), (", supersede: true", true)];

    for (argument, supersedes) in cases {
        service
            .run(&format!("mutation {{ deprovisionRuntime(id: \"r\"{argument}) }}"))
            .await
            .data();

        assert_eq!(service.runtimes.asked(), Asked::Deprovision("r".into(), supersedes));
    }
}

#[tokio::test]
async fn errors_are_few_and_short() {
    let service = Service::start().await;
    service.runtimes.fail(&Error::bad("x".repeat(100_000)));
    let long = service.run("{ runtimeOperationStatus(id: \"o\") { state } }").await;
    let arguments = "id: \"o\" ".repeat(5_000);
    let many = service.run(&format!("{{ runtimeOperationStatus({arguments}) {{ state }} }}")).await;
    let directives = "@skip(if: false) ".repeat(100);
    let directed = format!("{{ runtimeOperationStatus(id: \"o\") {{ state {directives} }} }}");
    let directed = service.run(&directed).await;

    assert!(long.text.len() < 4_000, "{}", long.text.len());
    assert_eq!(many.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(many.json()["errors"].as_array().unwrap().len() <= 20);
    assert!(many.text.len() < 10_000, "{}", many.text.len());
    assert_eq!(directed.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", directed.text);
}

#[tokio::test]
async fn a_directive_that_nobody_knows_is_refused_wherever_it_stands() {
    let service = Service::start().await;
    let ask = "runtimeOperationStatus(id: \"o\")";
    let queries = [
        format!("query @nope {{ {ask} {{ state }} }}"),
        format!("{{ {ask} @nope {{ state }} }}"),
        format!("{{ {ask} {{ state @nope }} }}"),
        format!("{{ ... @nope {{ {ask} {{ state }} }} }}"),
        format!("{{ ...F @nope }} fragment F on Query {{ {ask} {{ state }} }}"),
        format!("{{ ...F }} fragment F on Query @nope {{ {ask} {{ state }} }}"),
        "query($id: String! @nope) { runtimeOperationStatus(id: $id) { state } }".to_owned(),
    ];

    for query in queries {
        let reply = service.run_with(&query, json!({"id": "o"})).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}: {}", reply.text);
    }
    assert_eq!(service.runtimes.calls(), []);
}
