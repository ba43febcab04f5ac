//! What a Shoot keeps although the profile has moved on, and what another Shoot or its own state keeps from it.

use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use simulators::pace::Speed;

use super::{
    states::{BOTH, api, patch},
    table::set,
};
use crate::support::{Garden, refusal, shoot};

const WORKER: &str = "spec/provider/workers/0";

/// A Shoot with one thing changed in its first group of machines.
fn with(name: &str, path: &str, value: Value) -> DynamicObject {
    let mut shoot = shoot(name);
    set(&mut shoot.data, &format!("{WORKER}/{path}"), Some(value));
    shoot
}

/// The change of a Shoot's first group of machines.
async fn change(
    garden: &Garden,
    name: &str,
    path: &str,
    value: Value,
) -> Result<DynamicObject, kube::Error> {
    let mut workers =
        garden.shoots.get(name).await.unwrap().data["spec"]["provider"]["workers"].clone();
    set(&mut workers[0], path, Some(value));
    garden.patch(name, json!({"spec": {"provider": {"workers": workers}}})).await
}

/// Takes what has a name out of a list.
fn without(list: &mut Value, name: &str) {
    list.as_array_mut().unwrap().retain(|one| one["name"] != name);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_profile_offers_no_longer_is_for_pools_that_have_it() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let profiles = api(&garden, "CloudProfile");
        garden.create(&shoot("had")).await;
        let mut spec = profiles.get("aws").await.unwrap().data["spec"].clone();
        without(&mut spec["machineTypes"], "m5.xlarge");
        without(&mut spec["volumeTypes"], "gp3");
        let regions = spec["regions"].as_array_mut().unwrap();
        let region = regions.iter_mut().find(|one| one["name"] == "eu-central-1").unwrap();
        without(&mut region["zones"], "eu-central-1a");
        for version in spec["machineImages"][0]["versions"].as_array_mut().unwrap() {
            version["cri"] = json!([{"name": "other"}]);
        }
        let narrower = json!({"spec": spec});
        patch(&profiles, "aws", narrower).await.unwrap();

        let kept = garden.patch("had", json!({"spec": {"purpose": "testing"}})).await;
        let offered = change(&garden, "had", "machine/type", json!("m5.2xlarge")).await;
        let fresh = garden.refused(&shoot("fresh")).await;
        let machine = refusal(change(&garden, "had", "machine/type", json!("m5.xlarge")).await);
        let disk = refusal(change(&garden, "had", "volume/type", json!("gp9")).await);
        let zones = json!(["eu-central-1a", "eu-central-1z"]);
        let zones = refusal(change(&garden, "had", "zones", zones).await);
        let runtime = refusal(change(&garden, "had", "cri", json!({"name": "docker"})).await);

        assert!(kept.is_ok(), "{version}: {kept:?}");
        assert!(offered.is_ok(), "{version}: {offered:?}");
        for (refused, fields) in [
            (fresh, ["machine.type", "volume.type", "zones[0]", "cri.name"].as_slice()),
            (machine, &["machine.type"]),
            (disk, &["volume.type"]),
            (zones, &["zones[0]", "zones[1]"]),
            (runtime, &["cri.name"]),
        ] {
            assert_eq!(refused.0, 403, "{version}: {}", refused.1);
            let named = refused.1.matches("spec.provider.workers[0].").count();
            assert_eq!(named, fields.len(), "{version}: {}", refused.1);
            for field in fields {
                let field = format!("spec.provider.workers[0].{field}: ");
                assert!(refused.1.contains(&field), "{version} {field}: {}", refused.1);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_region_that_the_profile_has_no_more_is_for_shoots_that_are_in_it() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let profiles = api(&garden, "CloudProfile");
        garden.create(&shoot("had")).await;
        let mut regions = profiles.get("aws").await.unwrap().data["spec"]["regions"].clone();
        without(&mut regions, "eu-central-1");
        patch(&profiles, "aws", json!({"spec": {"regions": regions}})).await.unwrap();

        let kept = garden.patch("had", json!({"spec": {"purpose": "testing"}})).await;
        let fresh = garden.refused(&shoot("fresh")).await;

        assert!(kept.is_ok(), "{version}: {kept:?}");
        assert_eq!(fresh.0, 403, "{version}");
        assert!(fresh.1.contains("spec.region: Unsupported value"), "{}", fresh.1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_gardeners_let_a_pool_that_is_there_take_an_expired_version() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let profiles = api(&garden, "CloudProfile");
        let kubernetes = |version: &str| json!({"version": version});
        garden.create(&with("behind", "kubernetes", kubernetes("1.24.5"))).await;
        let mut offered = profiles.get("aws").await.unwrap().data["spec"]["kubernetes"].clone();
        for one in offered["versions"].as_array_mut().unwrap() {
            if one["version"] == "1.24.7" {
                one["expirationDate"] = json!("2020-01-01T00:00:00Z");
            }
        }
        patch(&profiles, "aws", json!({"spec": {"kubernetes": offered}})).await.unwrap();

        let fresh = garden.refused(&with("fresh", "kubernetes", kubernetes("1.24.7"))).await;
        let nowhere = change(&garden, "behind", "kubernetes", kubernetes("1.24.99")).await;
        let there = change(&garden, "behind", "kubernetes", kubernetes("1.24.7")).await;

        for (code, message) in [fresh, refusal(nowhere)] {
            assert_eq!(code, 403, "{version}: {message}");
            assert!(message.contains("spec.provider.workers[0].kubernetes.version"), "{message}");
        }
        match there {
            Ok(_) => assert_eq!(version, BOTH[1]),
            refused => assert_eq!((refusal(refused).0, version), (403, BOTH[0])),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_is_used_by_one_shoot_alone() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let own = |name: &str, domain: &str| {
            let mut shoot = shoot(name);
            let provider =
                json!({"type": "aws-route53", "primary": true, "secretName": "aws-free-1"});
            shoot.data["spec"]["dns"] = json!({"domain": domain, "providers": [provider]});
            shoot
        };
        garden.create(&own("first", "a.example.org")).await;

        let same = garden.refused(&own("same", "a.example.org")).await;
        let below = garden.refused(&own("below", "b.a.example.org")).await;
        let above = garden.refused(&own("above", "example.org")).await;
        garden.create(&own("beside", "aa.example.org")).await;
        let kept = garden.patch("first", json!({"spec": {"purpose": "testing"}})).await;
        garden.delete("first").await;
        garden.create(&own("same", "a.example.org")).await;

        let twice = r#"spec.dns.domain: Duplicate value: "a.example.org""#;
        let used = "spec.dns.domain: Forbidden: the domain is already used by another shoot or it is a subdomain";
        for ((code, message), why) in [(same, twice), (below, used), (above, used)] {
            assert_eq!(code, 403, "{version}: {message}");
            assert!(message.contains(why), "{version}: {message}");
        }
        assert!(kept.is_ok(), "{version}: {kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_sleeps_only_where_the_constraint_is_true_or_not_known_yet() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let sleep = json!({"spec": {"hibernation": {"enabled": true}}});
        for (name, status) in [("yes", "True"), ("no", "False"), ("maybe", "Progressing")] {
            garden.create(&shoot(name)).await;
            let constraint =
                json!({"type": "HibernationPossible", "status": status, "message": "m"});
            let status = Patch::Merge(json!({"status": {"constraints": [constraint]}}));
            garden.shoots.patch_status(name, &PatchParams::default(), &status).await.unwrap();
        }
        garden.create(&shoot("new")).await;

        for name in ["yes", "new"] {
            garden.patch(name, sleep.clone()).await.unwrap();
        }
        for (name, status) in [("no", "False"), ("maybe", "Progressing")] {
            let (code, message) = refusal(garden.patch(name, sleep.clone()).await);

            let why = format!("'HibernationPossible' constraint is '{status}': m");
            assert_eq!(code, 403, "{version}: {message}");
            assert!(message.contains(&why), "{version}: {message}");
        }
    }
}
