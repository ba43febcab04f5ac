//! The garden's kinds beside Shoots and bindings: their fields, and what is refused.

use kube::{
    Api, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use crate::support::{Garden, refusal, shoot, whole};

const BOTH: [Version; 2] = [Version::V1_65, Version::V1_117];

fn objects(garden: &Garden, plural: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, plural);
    if plural == "quotas" {
        return Api::namespaced_with(garden.client.clone(), "garden-kyma", &resource);
    }
    Api::all_with(garden.client.clone(), &resource)
}

fn object(kind: &str, name: &str, spec: &Value) -> DynamicObject {
    let object = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": kind,
        "metadata": {"name": name}, "spec": spec,
    });
    serde_json::from_value(object).unwrap()
}

async fn create(
    api: &Api<DynamicObject>,
    kind: &str,
    spec: &Value,
) -> Result<DynamicObject, kube::Error> {
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    api.create(&dry, &object(kind, "made", spec)).await
}

async fn merge(
    api: &Api<DynamicObject>,
    name: &str,
    patch: Value,
) -> Result<DynamicObject, kube::Error> {
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_limits_what_is_counted_of_a_project_or_an_account() {
    let of = |kind: &str, version: &str| json!({"apiVersion": version, "kind": kind});
    let (project, secret) = (of("Project", "core.gardener.cloud/v1beta1"), of("Secret", "v1"));
    let identity = of("WorkloadIdentity", "security.gardener.cloud/v1alpha1");
    let (other_secret, other_project) = (of("Secret", "v2"), of("Project", "v1"));
    let nothing = json!({});
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let quotas = objects(&garden, "quotas", "Quota");
        for (scope, metrics, expected) in [
            (&project, json!({"cpu": "60", "storage.premium": "1Gi"}), None),
            (&secret, json!({"loadbalancer": 2}), None),
            (&secret, json!({}), None),
            (&secret, json!({"cpu": "-1"}), Some((422, "spec.metrics[cpu]: Invalid value"))),
            (&secret, json!({"cpu": "-0"}), None),
            (&secret, json!({"disks": "1"}), Some((422, "spec.metrics[disks]: Invalid value"))),
            (&secret, json!({"cpu": "many"}), Some((400, "quantities must match"))),
            (&secret, json!([]), Some((400, "of type map"))),
            (&other_secret, json!({}), Some((422, "spec.scope: Unsupported value"))),
            (&other_project, json!({}), Some((422, "spec.scope: Unsupported value"))),
            (&nothing, json!({}), Some((422, "spec.scope: Unsupported value"))),
            (
                &identity,
                json!({}),
                (version == Version::V1_65).then_some((422, "spec.scope: Unsupported value")),
            ),
        ] {
            let spec = json!({"scope": scope, "metrics": metrics});
            match (create(&quotas, "Quota", &spec).await, expected) {
                (Ok(_), None) => {}
                (answer, None) => panic!("{version} {spec}: {answer:?}"),
                (answer, Some((code, text))) => {
                    let (found, message) = refusal(answer);
                    assert_eq!(found, code, "{version} {spec}: {message}");
                    assert!(message.contains(text), "{version} {spec}: {message}");
                }
            }
        }
        let spec = json!({"scope": secret, "metrics": {"cpu": "1"}});
        let quota = object("Quota", "kept", &spec);
        quotas.create(&PostParams::default(), &quota).await.unwrap();
        let elsewhere = merge(&quotas, "kept", json!({"spec": {"scope": project}})).await;
        let (code, message) = refusal(elsewhere);
        assert_eq!((code, message.contains("spec.scope: Invalid value")), (422, true), "{message}");
        merge(&quotas, "kept", json!({"spec": {"metrics": {"cpu": "2"}}})).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_belongs_to_its_creator_and_is_deleted_when_that_is_confirmed() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let projects = objects(&garden, "projects", "Project");
        let user = |name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name});
        let with_roles = |name: &str, roles: Value| {
            let mut member = user(name);
            member["role"] = json!("admin");
            member["roles"] = roles;
            member
        };
        let owner = with_roles("boss", json!(["owner"]));
        let create = async |name: &str, spec: Value| {
            let project = object("Project", name, &spec);
            projects.create(&PostParams::default(), &project).await
        };

        let own = whole(&create("own", json!({})).await.unwrap())["spec"].clone();
        let owned = create("owned", json!({"members": [owner]})).await.unwrap();
        let long = create("eleven-long", json!({})).await;
        let empty = create("empty", json!({"purpose": ""})).await;
        let creator = merge(&projects, "own", json!({"spec": {"createdBy": user("x")}})).await;
        let reset = merge(&projects, "own", json!({"spec": {"owner": null}})).await;
        let given = merge(&projects, "own", json!({"spec": {"owner": user("next")}})).await;
        let hasty = projects.delete("own", &DeleteParams::default()).await;
        let confirmation = json!({"confirmation.gardener.cloud/deletion": "true"});
        let confirmed = json!({"metadata": {"annotations": confirmation}});
        merge(&projects, "own", confirmed).await.unwrap();
        projects.delete("own", &DeleteParams::default()).await.unwrap();

        let tester = user("tester");
        assert_eq!((&own["owner"], &own["createdBy"]), (&tester, &tester));
        assert_eq!(own["members"], json!([with_roles("tester", json!(["owner"]))]));
        let owned = &owned.data["spec"];
        assert_eq!((&owned["owner"], &owned["createdBy"]), (&user("boss"), &tester));
        assert_eq!(owned["members"], json!([owner]));
        for ((code, message), field) in [
            (refusal(long), "metadata.name: Too long"),
            (refusal(empty), "spec.purpose: Required value"),
            (refusal(creator), "spec.createdBy: Invalid value"),
            (refusal(reset), "spec.owner: Invalid value"),
        ] {
            assert_eq!(code, 422, "{version}: {message}");
            assert!(message.contains(field), "{version}: {message}");
        }
        let members = &given.unwrap().data["spec"]["members"];
        let mut before = user("tester");
        before["role"] = json!("admin");
        assert_eq!(*members, json!([before, with_roles("next", json!(["owner"]))]));
        let (code, message) = refusal(hasty);
        assert_eq!(code, 403);
        let text = "must have a \"confirmation.gardener.cloud/deletion\" annotation to delete";
        assert!(message.contains(text), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_and_profiles_have_the_defaults_of_the_version() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let seed = whole(&objects(&garden, "seeds", "Seed").get("gcp-ha-eu1").await.unwrap());
        let profiles = objects(&garden, "cloudprofiles", "CloudProfile");
        let profile = whole(&profiles.get("gcp").await.unwrap());
        let newer = version == Version::V1_117;

        let on = json!({"enabled": true});
        let settings = if newer {
            json!({
                "scheduling": {"visible": true}, "verticalPodAutoscaler": on,
                "dependencyWatchdog": {"prober": on, "weeder": on},
                "excessCapacityReservation": {"configs": [{"resources": {"cpu": "2", "memory": "6Gi"}}]},
                "topologyAwareRouting": {"enabled": false},
            })
        } else {
            json!({
                "scheduling": {"visible": true}, "verticalPodAutoscaler": on,
                "dependencyWatchdog": {"endpoint": on, "probe": on},
                "excessCapacityReservation": on, "ownerChecks": on,
            })
        };
        assert_eq!(seed["spec"]["settings"], settings, "{version}");
        assert_eq!(seed["spec"]["networks"]["ipFamilies"], json!(["IPv4"]));
        let labels = &seed["metadata"]["labels"];
        assert_eq!(labels["dnsrecord.extensions.gardener.cloud/aws-route53"], "true");
        assert_eq!(labels.get("name.seed.gardener.cloud/gcp-ha-eu1").is_some(), newer);
        let image = &profile["spec"]["machineImages"][0];
        assert_eq!(image["updateStrategy"], if newer { json!("major") } else { Value::Null });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_with_shoots_stays() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let seeds = objects(&garden, "seeds", "Seed");
        let mut placed = shoot("placed");
        placed.data["spec"]["seedName"] = json!("aws-ha-eu1");
        garden.create(&placed).await;

        let used = seeds.delete("aws-ha-eu1", &DeleteParams::default()).await;
        seeds.delete("aws-ha-us1", &DeleteParams::default()).await.unwrap();

        let (code, message) = refusal(used);
        assert_eq!(code, 403);
        let text = "cannot delete seed aws-ha-eu1 since it is still used by shoot(s)";
        assert!(message.contains(text), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_a_kind_does_not_have_are_dropped_and_wrong_types_are_refused() {
    for version in BOTH {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let kinds = [
            ("seeds", "Seed", "aws-ha-eu1", json!({"spec": {"provider": {"region": 5}}})),
            ("cloudprofiles", "CloudProfile", "aws", json!({"spec": {"regions": "x"}})),
            ("projects", "Project", "kyma", json!({"spec": {"members": [{"name": true}]}})),
            ("exposureclasses", "ExposureClass", "converged-cloud-internet", json!({"handler": 1})),
        ];
        for (plural, kind, name, wrong) in kinds {
            let api = objects(&garden, plural, kind);
            let kept = merge(&api, name, json!({"foo": 1, "metadata": {"labels": {"a": "b"}}}));
            let kept = kept.await.unwrap();
            let strict = PatchParams {
                field_validation: Some(kube::api::ValidationDirective::Strict),
                ..PatchParams::default()
            };
            let unknown = api.patch(name, &strict, &Patch::Merge(json!({"foo": 1}))).await;
            let wrong = merge(&api, name, wrong).await;

            assert_eq!(kept.labels()["a"], "b", "{version} {kind}");
            assert_eq!(kept.data.get("foo"), None, "{version} {kind}");
            for (code, message) in [refusal(unknown), refusal(wrong)] {
                assert_eq!(code, 422, "{version} {kind}: {message}");
                assert!(message.contains("patch: Invalid value"), "{version} {kind}: {message}");
            }
        }
        let seeds = objects(&garden, "seeds", "Seed");
        let newer = json!({"spec": {"settings": {"topologyAwareRouting": {"enabled": true}}}});
        let seed = whole(&merge(&seeds, "aws-ha-eu1", newer).await.unwrap());
        let has = !seed["spec"]["settings"]["topologyAwareRouting"].is_null();
        assert_eq!(has, version == Version::V1_117, "{version} has it or not");
    }
}
