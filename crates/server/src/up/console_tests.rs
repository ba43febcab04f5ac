//! Every page and form of the console, with each of its scopes missing: the same as for the API.
//!
//! What a reader would get wrong: the routes are those of the table of access, so a page without a row here fails the test.

use std::collections::BTreeSet;

use api::{RequestLimits, router::shielded};
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    http::Request,
    response::Response,
};
use console::{Person, SCOPES};
use reqwest::Method;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{Up, access_tests::CONSOLE, audited_tests::bearer, testing};

const RUNTIMES: &[&str] = &["runtimes:read"];
const KUBECONFIG: &[&str] = &["kubeconfig:read"];
const BROKER: &[&str] = &["broker:write"];
const READ: &[&str] = &["operations:read"];
const WRITE: &[&str] = &["operations:write"];
const ASK: &[&str] = &["operations:read", "operations:write"];
const FLEET_READ: &[&str] = &["orchestrations:read"];
const FLEET_WRITE: &[&str] = &["orchestrations:write"];
const FLEET_ASK: &[&str] = &["orchestrations:read", "orchestrations:write"];
const ANY_TENANT: &str = "tenants:any";

/// Needs one of two scopes: operators and platforms get their tokens in different ways.
const TOKEN: (&str, &str) = ("post", "/console/runtimes/{instance}/kubeconfig");
const TOKEN_SCOPES: [&str; 2] = ["kubeconfig:read", "broker:write"];

/// Method, path, the scopes that it needs, and whether only those may come in who speak for all tenants.
pub(crate) const PAGES: [(&str, &str, &[&str], bool); 39] = [
    ("get", "/console/events", READ, true),
    ("get", "/console/runtimes", RUNTIMES, false),
    ("get", "/console/runtimes/export", RUNTIMES, false),
    ("get", "/console/runtimes/{instance}", RUNTIMES, false),
    ("get", "/console/runtimes/{instance}/kubeconfig", KUBECONFIG, false),
    ("get", "/console/runtimes/{instance}/bindings/{binding}/end", BROKER, false),
    ("post", "/console/runtimes/{instance}/bindings/{binding}/end", BROKER, false),
    ("get", "/console/runtimes/{instance}/delete", BROKER, false),
    ("post", "/console/runtimes/{instance}/delete", BROKER, false),
    ("get", "/console/runtimes/{instance}/change", BROKER, false),
    ("post", "/console/runtimes/{instance}/change", BROKER, false),
    ("get", "/console/runtimes/{instance}/suspend", BROKER, false),
    ("post", "/console/runtimes/{instance}/suspend", BROKER, false),
    ("get", "/console/runtimes/{instance}/resume", BROKER, false),
    ("post", "/console/runtimes/{instance}/resume", BROKER, false),
    ("get", "/console/order", BROKER, false),
    ("post", "/console/order", BROKER, false),
    ("get", "/console/operations", READ, true),
    ("get", "/console/operations/{id}", READ, true),
    ("get", "/console/operations/{id}/{action}", ASK, true),
    ("post", "/console/operations/{id}/{action}", WRITE, true),
    ("get", "/console/orchestrations", FLEET_READ, true),
    ("get", "/console/orchestrations/new", FLEET_READ, true),
    ("post", "/console/orchestrations/new", FLEET_ASK, true),
    ("get", "/console/orchestrations/{id}", FLEET_READ, true),
    ("get", "/console/orchestrations/{id}/cancel", FLEET_ASK, true),
    ("post", "/console/orchestrations/{id}/cancel", FLEET_WRITE, true),
    ("post", "/console/orchestrations/{id}/pause", FLEET_WRITE, true),
    ("post", "/console/orchestrations/{id}/resume", FLEET_WRITE, true),
    ("post", "/console/orchestrations/{id}/retry", FLEET_WRITE, true),
    ("post", "/console/orchestrations/{id}/workers", FLEET_WRITE, true),
    ("get", "/console/jobs", READ, true),
    ("get", "/console/jobs/{name}", READ, true),
    ("post", "/console/jobs/{name}/run", WRITE, true),
    ("get", "/console/pool", READ, true),
    ("get", "/console/audit", READ, true),
    ("get", "/console/may-exist", READ, true),
    ("get", "/console/may-exist/{id}/settle", ASK, true),
    ("post", "/console/may-exist/{id}/settle", WRITE, true),
];

/// The overview shows everyone what they may see, and so does the page that an address has nothing; the landscape is there in `kcp up` alone, for the development identity.
fn is_for_all(path: &str) -> bool {
    let all = ["/console/assets/", "/console/landscape", "/console/{*rest}"];
    ["/", "/console", "/console/"].contains(&path)
        || all.iter().any(|start| path.starts_with(start))
}

/// Somebody with these scopes.
pub(super) fn person<'a>(
    scopes: impl IntoIterator<Item = &'a str>,
    tenant: Option<&str>,
) -> Person {
    let scopes = scopes.into_iter().map(str::to_owned).collect();
    Person { scopes, tenant: tenant.map(str::to_owned), ..Person::developer("word".into()) }
}

/// Whether a page lets somebody in.
async fn opens(pages: &Router, method: &str, path: &str, person: Person) -> bool {
    let status = answer(pages, method, path, person).await.status().as_u16();
    assert!(status < 500 && status != 401, "{method} {path}: {status}");
    status != 403
}

pub(super) async fn answer(pages: &Router, method: &str, path: &str, person: Person) -> Response {
    let path = path.replace("{action}", "retry").replace(['{', '}'], "");
    let form = if method == "post" { "form=word&do=create&include-0-all=on" } else { "" };
    let request = Request::builder().method(method.to_uppercase().as_str()).uri(&path);
    let request = request.header("host", "127.0.0.1:1").body(Body::from(form)).unwrap();
    let pages = pages.clone().layer(Extension(person));
    pages.oneshot(request).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_opens_with_its_scopes_and_to_nobody_who_lacks_one() {
    let listed: BTreeSet<_> = PAGES.iter().map(|(method, path, ..)| (*method, *path)).collect();
    let routes = CONSOLE.iter().map(|(method, path, ..)| (*method, *path));
    let routes: BTreeSet<_> =
        routes.filter(|route| !is_for_all(route.1) && *route != TOKEN).collect();
    assert_eq!(listed, routes, "the rows of this test, and the routes");
    let started = testing::start().await;
    let pages = console::router(started.console());

    for (method, path, scopes, operators) in PAGES {
        let shown = format!("{method} {path}");
        let own = || scopes.iter().copied();
        for missing in own() {
            let others = SCOPES.into_iter().filter(|scope| *scope != missing);
            assert!(!opens(&pages, method, path, person(others, None)).await, "{shown}: {missing}");
        }
        let any = person(own().chain([ANY_TENANT]), None);
        assert!(opens(&pages, method, path, any).await, "{shown}: its scopes");
        let nobody = person(own(), None);
        assert!(!opens(&pages, method, path, nobody).await, "{shown}: for no tenant");
        let of_tenant = person(SCOPES, Some("ga-1"));
        assert_eq!(opens(&pages, method, path, of_tenant).await, !operators, "{shown}: a tenant");
    }
    let (method, path) = TOKEN;
    let others = SCOPES.into_iter().filter(|scope| !TOKEN_SCOPES.contains(scope));
    assert!(!opens(&pages, method, path, person(others, None)).await, "{path}: neither scope");
    for scope in TOKEN_SCOPES {
        let any = person([scope, ANY_TENANT], None);
        assert!(opens(&pages, method, path, any).await, "{path}: {scope}");
    }
    drop(pages);
    started.stop().await;
}

/// Orders a runtime of a plan that cannot be bound.
pub(super) async fn order_trial(up: &Up, instance: &str, account: &str) {
    let http = reqwest::Client::new();
    let asked = |method: Method, path: &str| {
        let request = http.request(method, format!("{}/oauth/v2{path}", up.connection.broker));
        request.header("authorization", bearer(up, None)).header("x-broker-api-version", "2.17")
    };
    let catalog = asked(Method::GET, "/catalog").send().await.unwrap();
    let catalog: Value = catalog.json().await.unwrap();
    let service = &catalog["services"][0];
    let mut plans = service["plans"].as_array().unwrap().iter();
    let trial = plans.find(|plan| plan["name"] == "trial").unwrap();
    let body = json!({
        "service_id": service["id"], "plan_id": trial["id"],
        "context": {"globalaccount_id": account, "subaccount_id": "sa-1", "user_id": "jo"},
        "parameters": {"name": "own"},
    });
    let path = format!("/service_instances/{instance}?accepts_incomplete=true");
    let ordered = asked(Method::PUT, &path).json(&body).send().await.unwrap();
    assert_eq!(ordered.status(), 202, "{:?}", ordered.text().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_scope_for_tokens_it_is_said_that_a_runtime_offers_none() {
    let started = testing::start().await;
    order_trial(started.up(), "i-trial", "ga-1").await;
    let pages = console::router(started.console());
    let (method, path) = ("post", TOKEN.1.replace("{instance}", "i-trial"));

    // A tenant is no operator, and nobody binds a trial.
    for (scope, tenant) in
        [("kubeconfig:read", Some("ga-1")), ("broker:write", Some("ga-1")), ("broker:write", None)]
    {
        let person = person([scope, ANY_TENANT], tenant);
        let answer = answer(&pages, method, &path, person).await;
        let status = answer.status().as_u16();
        let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(status, 400, "{scope} {tenant:?}: {text}");
        let said = "Kubeconfigs with a token are not offered for this runtime.";
        assert!(text.contains(said), "{scope} {tenant:?}: {text}");
    }
    let others = SCOPES.into_iter().filter(|scope| !TOKEN_SCOPES.contains(scope));
    assert_eq!(answer(&pages, method, &path, person(others, None)).await.status(), 403);
    drop(pages);
    started.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_leads_nowhere_or_cannot_be_read_is_answered_with_a_page() {
    let started = testing::start().await;
    let pages = console::router(started.console()).merge(console::assets());
    let pages = shielded(pages, RequestLimits::DEFAULT);

    for (path, status, said) in [
        ("/console/nothing", 404, "There is no page /console/nothing."),
        ("/console/runtimes/i/j/k", 404, "There is no page /console/runtimes/i/j/k."),
        ("/console/runtimes?page=x", 400, "page: invalid digit"),
        ("/console/orchestrations?page=-1", 400, "page: invalid digit"),
        ("/console/operations?after=xyz", 400, "after: "),
        ("/console/pool?days=many", 400, "days: invalid digit"),
        ("/console/audit?before=1", 400, "before: "),
        ("/console/runtimes/%ff", 404, "There is no page /console/runtimes/%ff."),
        ("/console/runtimes/i/bindings/%e4/end", 404, "There is no page /console/runtimes/i/"),
        ("/console/%ff", 404, "There is no page /console/%ff."),
        ("/console/jobs/%c3%28", 404, "There is no page /console/jobs/%c3%28."),
        ("/console/assets/%ff", 404, "There is no page /console/assets/%ff."),
        ("/console/jobs/drift/run", 405, "/console/jobs/drift/run takes a form only."),
    ] {
        let answer = answer(&pages, "get", path, person(SCOPES, None)).await;
        let given = answer.status().as_u16();
        let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(given, status, "{path}: {text}");
        assert!(text.starts_with("<!DOCTYPE html>") && text.contains(said), "{path}: {text}");
    }
    for (method, path) in [
        ("post", "/console/jobs"),
        ("put", "/console/order"),
        ("delete", "/console/jobs/drift/run"),
    ] {
        let answer = answer(&pages, method, path, person(SCOPES, None)).await;
        let given = answer.status().as_u16();
        let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&text);
        let said = format!("{path} does not take {}. Nothing was changed.", method.to_uppercase());
        assert!(given == 405 && text.contains(&said), "{method} {path}: {given} {text}");
    }
    for path in ["/console", "/console/"] {
        let answer = answer(&pages, "get", path, person(SCOPES, None)).await;
        let led = (answer.status().as_u16(), answer.headers()["location"].to_str().unwrap());
        assert_eq!(led, (303, "/"), "{path}");
    }
    drop(pages);
    started.stop().await;
}
