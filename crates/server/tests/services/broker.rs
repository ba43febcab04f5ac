//! The broker from outside: every plan is ordered, followed, updated and removed over a socket, against the landscape of
//! `kcp up`, and nothing is left.

mod access;
mod effects;
mod removals;

use std::{collections::BTreeSet, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::json;
use server::{Settings, settings, up::Up};

use crate::{
    platform::Platform,
    support::{free_ports, options},
};

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
