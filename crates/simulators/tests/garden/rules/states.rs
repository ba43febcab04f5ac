//! What depends on more than the Shoot: its Seed, its profile, its account, what happened to it before.

use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use crate::support::{Garden, refusal, shoot, whole};

const TASKS: &str = "shoot.gardener.cloud/tasks";
pub(super) const BOTH: [Version; 2] = [Version::V1_65, Version::V1_117];

pub(super) fn api(garden: &Garden, kind: &str) -> Api<DynamicObject> {
    let plural = format!("{}s", kind.to_lowercase());
    let gvk = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
    if ["Seed", "CloudProfile"].contains(&kind) {
        return Api::all_with(garden.client.clone(), &resource);
    }
    Api::namespaced_with(garden.client.clone(), "garden-kyma", &resource)
}

pub(super) async fn patch(
    api: &Api<DynamicObject>,
    name: &str,
    patch: Value,
) -> Result<DynamicObject, kube::Error> {
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gardenlet_is_told_its_tasks_until_they_are_done() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let tasks =
            |shoot: &Value| shoot["metadata"]["annotations"][TASKS].as_str().map(str::to_owned);
        let all = "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress";

        let made = garden.create(&shoot("busy")).await;
        let _controller = garden.controller();
        garden.until("busy", |shoot| tasks(shoot).is_none()).await;
        let other = garden.patch("busy", json!({"spec": {"purpose": "testing"}})).await.unwrap();
        let healthy = garden.until_healthy("busy").await;
        let ssh =
            json!({"spec": {"provider": {"workersSettings": {"sshAccess": {"enabled": false}}}}});
        let infrastructure = garden.patch("busy", ssh).await.unwrap();
        garden.until("busy", |shoot| tasks(shoot).is_none()).await;

        assert_eq!(tasks(&whole(&made)).as_deref(), Some(all), "{version}");
        assert_eq!(tasks(&whole(&other)), None);
        assert_eq!(healthy["status"]["gardener"]["version"], version.release());
        assert_eq!(tasks(&whole(&infrastructure)).as_deref(), Some("deployInfrastructure"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confined_change_counts_no_generation_but_hibernation_does() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut confined = shoot("confined");
        confined.data["spec"]["maintenance"]["confineSpecUpdateRollout"] = json!(true);
        let generation = |shoot: DynamicObject| shoot.metadata.generation.unwrap();

        let made = generation(garden.create(&confined).await);
        let change = json!({"spec": {"purpose": "testing"}});
        let changed = generation(garden.patch("confined", change).await.unwrap());
        let asleep = json!({"spec": {"hibernation": {"enabled": true}}});
        let asleep = generation(garden.patch("confined", asleep).await.unwrap());

        assert_eq!((made, changed, asleep), (1, 1, 2), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kubernetes_1_25_is_for_shoots_that_do_without_pod_security_policies() {
    let Some(garden) = Garden::of_version(Version::V1_65, Speed::MAX).await else { return };
    let mut old = shoot("old");
    old.data["spec"]["kubernetes"] = json!({"version": "1.24.4"});
    let made = garden.create(&old).await;
    let kubernetes = |kubernetes: Value| json!({"spec": {"kubernetes": kubernetes}});
    let newer = || kubernetes(json!({"version": "1.25.4", "allowPrivilegedContainers": null}));
    let plugins = json!([{"name": "PodSecurityPolicy", "disabled": true}]);
    let without = kubernetes(json!({
        "allowPrivilegedContainers": null, "kubeAPIServer": {"admissionPlugins": plugins},
    }));

    let with = refusal(garden.patch("old", newer()).await);
    let changed = garden.patch("old", without).await.unwrap();
    let unreconciled = refusal(garden.patch("old", newer()).await);
    let seen = json!({"status": {"observedGeneration": changed.metadata.generation}});
    let by = PatchParams::default();
    garden.shoots.patch_status("old", &by, &Patch::Merge(seen)).await.unwrap();
    let upgraded = garden.patch("old", newer()).await;

    assert_eq!(made.data["spec"]["kubernetes"]["allowPrivilegedContainers"], true);
    assert_eq!((with.0, unreconciled.0), (422, 422));
    assert!(
        with.1.contains("admission plugin \"PodSecurityPolicy\" should be disabled"),
        "{}",
        with.1
    );
    let text = "Shoot should have been reconciled successfully before upgrading to v1.25";
    assert!(unreconciled.1.contains(text), "{}", unreconciled.1);
    assert!(upgraded.is_ok(), "{upgraded:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_not_rotated_while_a_shoot_is_hibernated() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut asleep = shoot("asleep");
        asleep.data["spec"]["hibernation"] = json!({"enabled": true});
        garden.create(&asleep).await;
        let last = json!({"status": {"lastOperation": {"type": "Create", "state": "Succeeded", "progress": 100}}});
        let by = PatchParams::default();
        garden.shoots.patch_status("asleep", &by, &Patch::Merge(last)).await.unwrap();
        let ask = async |operation: &str| {
            let annotations = json!({"gardener.cloud/operation": operation});
            garden.patch("asleep", json!({"metadata": {"annotations": annotations}})).await
        };

        let etcd = refusal(ask("rotate-etcd-encryption-key-start").await);
        let authority = ask("rotate-ca-start").await;

        assert_eq!(etcd.0, 422, "{version}: {}", etcd.1);
        assert!(
            etcd.1.contains("metadata.annotations[gardener.cloud/operation]: Forbidden"),
            "{}",
            etcd.1
        );
        assert!(authority.is_ok(), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_must_be_wide_enough_and_its_networks_must_not_be_met() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let narrow = json!({"spec": {"provider": {"zones": ["eu-central-1a"]}}});
        patch(&api(&garden, "Seed"), "aws-ha-eu1", narrow).await.unwrap();
        let seeded = |name: &str, spread: bool, pods: &str| {
            let mut shoot = shoot(name);
            let spec = &mut shoot.data["spec"];
            spec["seedName"] = json!("aws-ha-us1");
            spec["networking"]["pods"] = json!(pods);
            if spread {
                spec["controlPlane"] =
                    json!({"highAvailability": {"failureTolerance": {"type": "zone"}}});
            }
            shoot
        };
        let mut wide = seeded("wide", true, "100.96.0.0/11");
        wide.data["spec"]["seedName"] = json!("aws-ha-eu1");

        let zones = garden.refused(&wide).await;
        let spread = garden.refused(&seeded("spread", true, "10.241.0.0/16")).await;
        let plain = garden
            .shoots
            .create(&PostParams::default(), &seeded("plain", false, "10.241.0.0/16"))
            .await;

        assert_eq!(zones.0, 403);
        let text = "cannot schedule shoot 'wide' with failure tolerance of zone on seed 'aws-ha-eu1' with only 1 zones";
        assert!(zones.1.contains(text), "{}", zones.1);
        assert_eq!(spread.0, 403);
        assert!(
            spread.1.contains("shoot pod network intersects with seed pod network"),
            "{}",
            spread.1
        );
        assert_eq!(plain.is_ok(), version == Version::V1_117, "newer ones map the Seed's ranges");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_image_is_for_pools_that_have_it() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let profiles = api(&garden, "CloudProfile");
        let with = |name: &str, image: &str| {
            let mut shoot = shoot(name);
            shoot.data["spec"]["provider"]["workers"][0]["machine"]["image"] =
                json!({"name": "gardenlinux", "version": image});
            shoot
        };
        garden.create(&with("had", "1443.9.0")).await;
        let mut images = profiles.get("aws").await.unwrap().data["spec"]["machineImages"].clone();
        for version in images[0]["versions"].as_array_mut().unwrap() {
            if version["version"] == "1443.9.0" || version["version"] == "1877.4.0" {
                version["expirationDate"] = json!("2020-01-01T00:00:00Z");
            }
        }
        patch(&profiles, "aws", json!({"spec": {"machineImages": images}})).await.unwrap();

        let fresh = garden.refused(&with("fresh", "1443.9.0")).await;
        let kept = garden.patch("had", json!({"spec": {"purpose": "testing"}})).await;
        let newest = garden.create(&shoot("newest")).await;

        assert_eq!(fresh.0, 403, "{version}");
        assert!(
            fresh.1.contains("spec.provider.workers[0].machine.image: Invalid value"),
            "{}",
            fresh.1
        );
        assert!(fresh.1.contains("expired"), "{}", fresh.1);
        assert!(kept.is_ok(), "{kept:?}");
        let limits = &profiles.get("aws").await.unwrap().data["spec"]["limits"];
        assert_eq!(limits.is_object(), version == Version::V1_117, "1.65 has no such field");
        let image = &newest.data["spec"]["provider"]["workers"][0]["machine"]["image"];
        assert_eq!(image["version"], "1592.13.0", "the highest that has not expired");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binding_leads_where_it_led_at_first_and_is_labelled_by_its_provider() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let bindings = api(&garden, "SecretBinding");
        let new = |secret: &str, provider: Value, quotas: Value| -> DynamicObject {
            serde_json::from_value(json!({
                "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
                "metadata": {"name": "odd"}, "provider": provider, "quotas": quotas,
                "secretRef": {"name": secret, "namespace": "garden-kyma"},
            }))
            .unwrap()
        };
        let create = async |binding: DynamicObject| {
            refusal(bindings.create(&PostParams::default(), &binding).await)
        };
        let aws = json!({"type": "aws"});

        let lost = create(new("nope", aws.clone(), Value::Null)).await;
        let quota = create(new("aws-free-1", aws, json!([{"name": "nope"}]))).await;
        let provider = create(new("aws-free-1", Value::Null, Value::Null)).await;
        let moved = json!({"secretRef": {"name": "aws-free-2"}});
        let moved = refusal(patch(&bindings, "aws-free-1", moved).await);
        let other =
            refusal(patch(&bindings, "aws-free-1", json!({"provider": {"type": "gcp"}})).await);
        let made = bindings.get("aws-free-1").await.unwrap();
        let seed = api(&garden, "Seed").get("aws-ha-eu1").await.unwrap();

        assert_eq!((lost.0, quota.0, provider.0, moved.0, other.0), (403, 403, 422, 422, 422));
        assert!(lost.1.contains("secrets \"nope\" not found"), "{}", lost.1);
        assert!(provider.1.contains("provider: Required value"), "{}", provider.1);
        assert!(moved.1.contains("secretRef: Invalid value"), "{}", moved.1);
        assert!(other.1.contains("provider: Invalid value"), "{}", other.1);
        let label = "provider.extensions.gardener.cloud/aws";
        assert_eq!(
            (&made.labels()[label], &seed.labels()[label]),
            (&"true".to_owned(), &"true".to_owned())
        );
        assert_eq!(made.metadata.generation, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ranges_of_a_shoot_are_its_own_or_those_of_its_seed() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let seeds = api(&garden, "Seed");
        let ranges = |value: Value| json!({"spec": {"networks": {"shootDefaults": value}}});
        let own = json!({"pods": "100.128.0.0/11", "services": "100.112.0.0/13"});
        let placed = |name: &str| {
            let mut shoot = shoot(name);
            shoot.data["spec"]["seedName"] = json!("aws-ha-eu1");
            shoot
        };
        let mut whole = placed("whole");
        whole.data["spec"]["networking"]["pods"] = json!("100.96.0.0/11");
        whole.data["spec"]["networking"]["services"] = json!("100.64.0.0/13");
        let bind = json!({"spec": {"seedName": "aws-ha-eu1"}});

        patch(&seeds, "aws-ha-eu1", ranges(own)).await.unwrap();
        let given = garden.create(&placed("given")).await;
        garden.create(&shoot("waiting")).await;
        patch(&seeds, "aws-ha-eu1", ranges(Value::Null)).await.unwrap();
        patch(&seeds, "gcp-ha-eu1", ranges(Value::Null)).await.unwrap();
        let refused = garden.refused(&placed("refused")).await;
        let mut elsewhere = placed("elsewhere");
        elsewhere.data["spec"]["seedName"] = json!("gcp-ha-eu1");
        let elsewhere = garden.refused(&elsewhere).await;
        let unbound: Result<DynamicObject, _> = garden
            .shoots
            .patch_subresource("binding", "waiting", &PatchParams::default(), &Patch::Merge(bind))
            .await;
        let kept = garden.patch("given", json!({"spec": {"networking": {"pods": null}}})).await;
        garden.create(&whole).await;

        let networking = &given.data["spec"]["networking"];
        assert_eq!(
            (&networking["pods"], &networking["services"]),
            (&json!("100.128.0.0/11"), &json!("100.112.0.0/13"))
        );
        assert_eq!(kept.unwrap().data["spec"]["networking"]["pods"], "100.128.0.0/11");
        for (code, message) in [refused, elsewhere, refusal(unbound)] {
            assert_eq!(code, 403, "{version}: {message}");
            assert!(message.contains("spec.networking.pods: Required value: pods is required"));
            assert!(message.contains("spec.networking.services: Required value"), "{message}");
            let looks = message.matches("Required value").count();
            assert_eq!(looks, if version == Version::V1_65 { 6 } else { 2 }, "{message}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_get_a_kubeconfig_where_the_version_has_one() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let _controller = garden.controller();
        garden.create(&shoot("seen")).await;
        garden.until_healthy("seen").await;
        let path =
            "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots/seen/viewerkubeconfig";
        let request = http::Request::post(path).header("content-type", "application/json");
        let body = json!({"spec": {"expirationSeconds": 1_000_000}});

        let answer: Result<Value, _> =
            garden.client.request(request.body(body.to_string().into_bytes()).unwrap()).await;

        if version == Version::V1_65 {
            assert_eq!(refusal(answer).0, 404);
        } else {
            let answer = answer.unwrap();
            assert_eq!(answer["kind"], "ViewerKubeconfigRequest");
            assert_eq!(answer["spec"]["expirationSeconds"], 86_400, "cut to a day");
        }
    }
}
