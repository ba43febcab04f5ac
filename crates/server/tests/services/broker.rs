//! The broker from outside: every plan is ordered, followed, updated and removed over a socket, against the landscape of
//! `kcp up`, and nothing is left.

use std::{collections::BTreeSet, path::Path, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::json;
use server::{Settings, settings, up::Up};

use crate::platform::Platform;
use crate::support::{free_ports, options};

/// The plans, and the region of the platform that they are ordered from.
const PLANS: [(&str, Option<&str>); 9] = [
    ("azure", None),
    ("azure_lite", None),
    ("aws", None),
    ("gcp", None),
    ("openstack", None),
    ("trial", None),
    ("free", Some("cf-eu10")),
    ("own_cluster", None),
    ("preview", None),
];

async fn start(data: &Path, settings: Settings) -> Up {
    Up::start(options(free_ports(), data, "max", settings)).await.unwrap()
}

/// Where an instance is addressed.
fn instance(plan: &str, region: Option<&str>) -> String {
    let region = region.map(|region| format!("/{region}")).unwrap_or_default();
    format!("/oauth{region}/v2/service_instances/instance-of-{plan}")
}

/// Changes the issuer of the users of an instance.
async fn updated(platform: &Platform<'_>, plan: &str, path: &str) {
    let oidc = json!({
        "clientID": "kcp", "issuerURL": "https://issuer.example.test", "groupsClaim": "groups",
        "usernameClaim": "sub", "usernamePrefix": "-", "signingAlgs": ["RS256"],
    });
    let change = json!({
        "service_id": platform.service, "plan_id": platform.plans[plan], "parameters": {"oidc": oidc},
    });
    let asked = format!("{path}?accepts_incomplete=true");
    let (status, answer) = platform.ask(Method::PATCH, &asked, Some(&change)).await;
    assert_eq!(status, 202, "{plan}: {answer}");
}

async fn removed(platform: &Platform<'_>, plan: &str, path: &str) {
    let (service, id) = (&platform.service, &platform.plans[plan]);
    let removal = format!("{path}?accepts_incomplete=true&service_id={service}&plan_id={id}");
    let (status, first) = platform.ask(Method::DELETE, &removal, None).await;
    assert_eq!(status, 202, "{plan}: {first}");
    platform.succeeded(path).await;
    assert_eq!(platform.ask(Method::GET, path, None).await.0, 404);
    assert_eq!(platform.ask(Method::DELETE, &removal, None).await.0, 410);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_plan_is_ordered_updated_and_removed_over_a_socket_and_nothing_is_left() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let platform = Platform::of(&up).await;
    let names: BTreeSet<&str> = platform.plans.keys().map(String::as_str).collect();
    assert_eq!(names, PLANS.map(|(plan, _)| plan).into(), "every plan of the catalog is tried");
    let kubeconfig = std::fs::read(data.path().join("kubeconfigs/kcp.yaml")).unwrap();
    let own = json!({
        "kubeconfig": BASE64_STANDARD.encode(kubeconfig),
        "shootName": "mine",
        "shootDomain": "mine.example.test",
    });
    let before = platform.things().await;

    for (plan, region) in PLANS {
        let parameters = if plan == "own_cluster" { own.clone() } else { json!({}) };
        let order = platform.order(plan, &parameters);
        let path = instance(plan, region);
        let asked = format!("{path}?accepts_incomplete=true");
        let (status, first) = platform.ask(Method::PUT, &asked, Some(&order)).await;
        assert_eq!(status, 202, "{plan}: {first}");
        let (_, again) = platform.ask(Method::PUT, &asked, Some(&order)).await;
        assert_eq!(again["dashboard_url"], first["dashboard_url"], "{plan}");
    }
    for (plan, region) in PLANS {
        platform.succeeded(&instance(plan, region)).await;
    }

    let made: Vec<_> = platform.things().await.difference(&before).cloned().collect();
    let count = |system: &str, kind: &str| {
        made.iter().filter(|thing| thing.0 == system && thing.1 == kind).count()
    };
    assert_eq!(count("gardener", "shoot"), 8, "all but the brought one: {made:?}");
    assert_eq!(count("director", "runtime"), 8, "{made:?}");
    assert_eq!(count("control-plane", "kyma"), 9, "{made:?}");
    // Nine kubeconfigs, and the credentials of the BTP operator in the cluster that was brought.
    assert_eq!(count("control-plane", "secret"), 10, "{made:?}");
    assert_eq!(count("reconciler", "cluster"), 8, "all but the preview: {made:?}");
    assert_eq!(count("edp", "tenant"), 8, "{made:?}");
    assert!(count("avs", "evaluation") >= 9, "{made:?}");
    let shoots = platform.posted().await;
    assert!(shoots.len() == 8 && shoots.values().all(|times| *times == 1), "{shoots:?}");

    // Of a cluster that was brought along nobody here knows the issuers.
    let made_here = || PLANS.into_iter().filter(|(plan, _)| *plan != "own_cluster");
    for (plan, region) in made_here() {
        updated(&platform, plan, &instance(plan, region)).await;
    }
    for (plan, region) in made_here() {
        platform.succeeded(&instance(plan, region)).await;
    }
    for (plan, region) in PLANS {
        removed(&platform, plan, &instance(plan, region)).await;
    }

    let mut after = platform.things().await;
    // The parent of all evaluations was there before; the landscape only learns of it from the first one. The
    // operator in the cluster that was brought goes on, and so do its credentials.
    after.retain(|thing| thing.1 != "parent" && thing.2 != "kyma-system/sap-btp-manager");
    let left: Vec<_> = after.symmetric_difference(&before).collect();
    assert!(left.is_empty(), "{left:?}");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_stops_an_order_at_whatever_step_it_is_and_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let platform = Platform::of(&up).await;
    let before = platform.things().await;
    let paths: Vec<String> =
        (0..12).map(|at| format!("/oauth/v2/service_instances/removed-at-step-{at}")).collect();

    for (at, path) in paths.iter().enumerate() {
        let order = platform.order("aws", &json!({}));
        let asked = format!("{path}?accepts_incomplete=true");
        assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202);
        let mut looks = 0;
        while platform.is_before(path, at * 2).await {
            looks += 1;
            assert!(looks < 100_000, "the order does not go on");
        }
        let (service, plan) = (&platform.service, &platform.plans["aws"]);
        let removal = format!("{asked}&service_id={service}&plan_id={plan}");
        let (status, first) = platform.ask(Method::DELETE, &removal, None).await;
        let (_, again) = platform.ask(Method::DELETE, &removal, None).await;
        assert_eq!(status, 202, "{first}");
        assert!(again["operation"] == first["operation"] || again == json!({}), "{again}");
    }
    for path in &paths {
        platform.succeeded(path).await;
    }

    let mut after = platform.things().await;
    after.retain(|thing| thing.1 != "parent");
    let left: Vec<_> = after.symmetric_difference(&before).collect();
    assert!(left.is_empty(), "{left:?}");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_removal_left_is_listed_until_another_one_has_removed_it() {
    let data = tempfile::tempdir().unwrap();
    let mut settings = settings::load(None).unwrap();
    settings.operations.removal_patience = Duration::from_secs(1);
    let up = start(data.path(), settings).await;
    let platform = Platform::of(&up).await;
    let path = instance("aws", None);
    let order = platform.order("aws", &json!({}));
    let asked = format!("{path}?accepts_incomplete=true");
    assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202);
    platform.succeeded(&path).await;
    let trouble = json!({"system": "edp", "seconds": 600, "trouble": {"kind": "down"}});
    let (status, rule) = platform.ask(Method::POST, "/landscape/troubles", Some(&trouble)).await;
    assert_eq!(status, 201, "{rule}");
    let (service, plan) = (&platform.service, &platform.plans["aws"]);
    let removal = format!("{asked}&service_id={service}&plan_id={plan}");

    assert_eq!(platform.ask(Method::DELETE, &removal, None).await.0, 202);
    platform.succeeded(&path).await;

    let (_, all) = platform.ask(Method::GET, "/leftovers", None).await;
    let left = &all["leftovers"][0];
    assert_eq!(left["instance"], "instance-of-aws", "{all}");
    assert_eq!(left["left"][0]["step"], "EDP_Deregistration", "{all}");
    let (_, tenants) =
        platform.ask(Method::GET, "/landscape/systems/edp/objects?kind=tenant", None).await;
    assert_eq!(tenants["objects"].as_array().unwrap().len(), 1);

    let healed = format!("/landscape/troubles/{}", rule["id"]);
    assert_eq!(platform.ask(Method::DELETE, &healed, None).await.0, 204);
    assert_eq!(platform.ask(Method::DELETE, &removal, None).await.0, 202);
    platform.succeeded(&path).await;

    let (_, all) = platform.ask(Method::GET, "/leftovers", None).await;
    assert_eq!(all["leftovers"], json!([]));
    let (_, tenants) =
        platform.ask(Method::GET, "/landscape/systems/edp/objects?kind=tenant", None).await;
    assert_eq!(tenants["objects"], json!([]));
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_legacy_in_the_settings_orders_go_the_way_of_the_older_documents() {
    let data = tempfile::tempdir().unwrap();
    let mut settings = settings::load(None).unwrap();
    settings.runtimes.legacy = true;
    let up = start(data.path(), settings).await;
    let platform = Platform::of(&up).await;
    let path = instance("azure", None);
    let before = platform.things().await;

    let order = platform.order("azure", &json!({}));
    let asked = format!("{path}?accepts_incomplete=true");
    let (status, first) = platform.ask(Method::PUT, &asked, Some(&order)).await;
    assert_eq!(status, 202, "{first}");
    platform.succeeded(&path).await;

    let operation = first["operation"].as_str().unwrap();
    let (_, journal) =
        platform.ask(Method::GET, &format!("/operations/{operation}/journal"), None).await;
    let steps: BTreeSet<&str> =
        journal.as_array().unwrap().iter().filter_map(|e| e["step"].as_str()).collect();
    for step in [
        "Initialization",
        "AVS_Configuration_Step",
        "Create_LMS_Tenant",
        "IAS_Registration",
        "Provision Azure Event Hubs",
        "ServiceManagerOverrides",
        "Request_LMS_Certificates",
        "Create_Runtime",
    ] {
        assert!(steps.contains(step), "{step} is not in {steps:?}");
    }
    let made: Vec<_> = platform.things().await.difference(&before).cloned().collect();
    for system in ["azure", "ias", "lms", "avs", "edp", "gardener", "director"] {
        assert!(made.iter().any(|thing| thing.0 == system), "{system} has nothing new: {made:?}");
    }

    removed(&platform, "azure", &path).await;

    let after = platform.things().await;
    // Tenants for logs are kept: other runtimes of their account use them.
    let left: Vec<_> = after.difference(&before).filter(|thing| thing.0 != "lms").collect();
    assert!(left.iter().all(|thing| thing.1 == "parent"), "{left:?}");
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn platforms_enter_with_a_password_and_nobody_without() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let http = reqwest::Client::new();
    let connection = &up.connection;
    let asked = |path: &str| {
        http.get(format!("{}{path}", connection.broker)).header("x-broker-api-version", "2.16")
    };

    let password = Some(connection.password.expose_secret());
    let welcome = asked("/v2/catalog").basic_auth(&connection.user, password).send().await;
    let wrong = asked("/v2/catalog").basic_auth(&connection.user, Some("wrong")).send().await;
    let nobody = asked("/v2/catalog").send().await;
    let no_token = asked("/oauth/v2/catalog").send().await;

    assert_eq!(welcome.unwrap().status(), 200);
    for refused in [wrong, nobody, no_token] {
        assert_eq!(refused.unwrap().status(), 401);
    }
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_requests_take_effect_and_calls_outside_are_counted() {
    let data = tempfile::tempdir().unwrap();
    let mut settings = settings::load(None).unwrap();
    settings.requests.body = 4_000.try_into().unwrap();
    settings.answers.address = Some("https://broker.example.test".into());
    settings.answers.assume_async = true;
    settings.bindings.kubeconfig_origins = vec!["https://dashboard.example.test".into()];
    let up = start(data.path(), settings).await;
    let platform = Platform::of(&up).await;
    let path = instance("aws", None);
    let large = platform.order("aws", &json!({"more": "x".repeat(4_000)}));
    assert_eq!(platform.ask(Method::PUT, &path, Some(&large)).await.0, 413);

    let (status, first) =
        platform.ask(Method::PUT, &path, Some(&platform.order("aws", &json!({})))).await;
    assert_eq!(status, 202, "nobody said accepts_incomplete: {first}");
    let labels = first["metadata"]["labels"].to_string();
    assert!(labels.contains("https://broker.example.test"), "{first}");
    platform.succeeded(&path).await;
    let id = path.rsplit('/').next().unwrap();
    for (origin, allowed) in
        [("https://dashboard.example.test", true), ("https://other.example.test", false)]
    {
        let asked = platform.http.get(format!("{}/kubeconfig/{id}", up.connection.broker));
        let asked = asked.header("origin", origin);
        let answer = asked.bearer_auth(up.connection.token.expose_secret()).send().await.unwrap();
        assert_eq!(answer.status(), 200, "the token is what counts");
        let said = answer.headers().get("access-control-allow-origin");
        assert_eq!(said.is_some_and(|said| said == origin), allowed, "{origin}");
    }

    for (base, systems) in [
        (&up.connection.broker, &["gardener", "edp", "avs", "provisioner", "issuer"][..]),
        (&up.connection.provisioner, &["gardener", "director", "issuer"][..]),
    ] {
        let asked = platform.http.get(format!("{base}/metrics"));
        let answer = asked.bearer_auth(up.connection.token.expose_secret()).send().await.unwrap();
        let text = answer.text().await.unwrap();
        for system in systems {
            let counted = format!("kcp_outside_calls_total{{system=\"{system}\"");
            assert!(text.contains(&counted), "{base}: {counted} is not in {text}");
            let timed = format!("kcp_outside_call_seconds_count{{system=\"{system}\"}}");
            assert!(text.contains(&timed), "{base}: {timed}");
        }
        assert!(text.contains("kcp_outside_call_wait_seconds_count"), "{text}");
    }
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_of_the_landscape_enter_a_runtime_that_was_ordered_without_an_issuer() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let platform = Platform::of(&up).await;
    let path = instance("aws", None);
    let order = platform.order("aws", &json!({}));
    let asked = format!("{path}?accepts_incomplete=true");
    assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202);
    platform.succeeded(&path).await;

    let kubeconfig = format!("{}/kubeconfig/instance-of-aws", up.connection.broker);
    let token = up.connection.token.expose_secret();
    let kubeconfig = platform.http.get(kubeconfig).bearer_auth(token).send().await.unwrap();
    let kubeconfig = kubeconfig.error_for_status().unwrap().text().await.unwrap();
    let of = |name: &str| {
        let line = kubeconfig.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name} is not in {kubeconfig}")).trim().to_owned()
    };
    let issuer = up.connection.landscape.replace("http://", "https://");
    assert!(kubeconfig.contains(&format!("--oidc-issuer-url={issuer}\"")), "{kubeconfig}");
    let pem = BASE64_STANDARD.decode(of("certificate-authority-data:")).unwrap();
    let trusted = reqwest::Certificate::from_pem(&pem).unwrap();
    let runtime = reqwest::Client::builder().add_root_certificate(trusted).build().unwrap();
    let enter = async |token: &str| {
        let namespaces = format!("{}/api/v1/namespaces", of("server:"));
        runtime.get(namespaces).bearer_auth(token).send().await.unwrap().status().as_u16()
    };
    let (user, password) = (&up.connection.user, up.connection.password.expose_secret());
    let login = [
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("scope", "openid"),
        ("username", user),
        ("password", password),
    ];
    let tokens = platform.http.post(format!("{}/oauth2/token", up.connection.landscape));
    let tokens: serde_json::Value = tokens.form(&login).send().await.unwrap().json().await.unwrap();
    let person = tokens["id_token"].as_str().unwrap();

    assert_eq!(enter(person).await, 200);
    assert_eq!(enter(&format!("{person}x")).await, 401);
    up.stop().await;
}
