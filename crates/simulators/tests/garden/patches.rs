//! Strategic merge patches of the kinds beside Shoots.

use kube::{
    Api,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use crate::support::{Garden, whole};

const NAMESPACE: &str = "garden-kyma";

/// The objects of a kind that is called `group/version/plural/Kind`.
fn objects(garden: &Garden, kind: &str, namespaced: bool) -> Api<DynamicObject> {
    let [group, version, plural, kind] = kind.split('/').collect::<Vec<_>>()[..] else {
        panic!("{kind} has four parts")
    };
    let named = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&named, plural);
    let client = garden.client.clone();
    if namespaced {
        Api::namespaced_with(client, NAMESPACE, &resource)
    } else {
        Api::all_with(client, &resource)
    }
}

fn core(garden: &Garden, plural: &str, kind: &str) -> Api<DynamicObject> {
    objects(garden, &format!("core.gardener.cloud/v1beta1/{plural}/{kind}"), false)
}

async fn merged(api: &Api<DynamicObject>, name: &str, patch: Value) -> Value {
    let patch = Patch::Strategic(patch);
    whole(&api.patch(name, &PatchParams::default(), &patch).await.unwrap())
}

/// The item of a list that has this value in this field.
fn item<'a>(list: &'a Value, field: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|item| item[field] == value);
    found.unwrap_or_else(|| panic!("no {value} in {list}"))
}

fn length(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_profile_is_merged_by_names_and_versions() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let profiles = core(&garden, "cloudprofiles", "CloudProfile");
        let before = whole(&profiles.get("aws").await.unwrap());
        let image = &before["spec"]["machineImages"][0];
        let (image, first) = (&image["name"], &image["versions"][0]["version"]);
        let machine = &before["spec"]["machineTypes"][0]["name"];
        let region = &before["spec"]["regions"][0];

        let after = merged(
            &profiles,
            "aws",
            json!({"spec": {
                "kubernetes": {"versions": [{"version": "1.99.0"}]},
                "machineImages": [{"name": image, "versions": [{"version": first, "classification": "deprecated"}]}],
                "machineTypes": [{"name": machine, "usable": false}],
                "regions": [{"name": region["name"], "zones": [{"name": "more"}]}],
                "volumeTypes": [{"name": "gp2", "$patch": "delete"}],
            }}),
        )
        .await;

        let mut expected = before.clone();
        let spec = &mut expected["spec"];
        let versions = spec["kubernetes"]["versions"].as_array_mut().unwrap();
        versions.push(json!({"version": "1.99.0"}));
        spec["machineImages"][0]["versions"][0]["classification"] = json!("deprecated");
        spec["machineTypes"][0]["usable"] = json!(false);
        spec["regions"][0]["zones"].as_array_mut().unwrap().push(json!({"name": "more"}));
        spec["volumeTypes"].as_array_mut().unwrap().retain(|volume| volume["name"] != "gp2");
        assert_eq!(after["spec"], expected["spec"]);
        assert!(length(&before["spec"]["machineTypes"]) > 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tolerations_and_conditions_are_merged_by_their_keys() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let classes = core(&garden, "exposureclasses", "ExposureClass");
    let projects = core(&garden, "projects", "Project");
    let tolerations = |key: &str| json!([{"key": key}]);

    for key in ["one", "two"] {
        let name = "converged-cloud-internet";
        let scheduling = json!({"scheduling": {"tolerations": tolerations(key)}});
        merged(&classes, name, scheduling).await;
        let tolerations = json!({"whitelist": tolerations(key), "defaults": tolerations(key)});
        merged(&projects, "kyma", json!({"spec": {"tolerations": tolerations}})).await;
    }
    let class = whole(&classes.get("converged-cloud-internet").await.unwrap());
    let project = whole(&projects.get("kyma").await.unwrap());
    let seeds = core(&garden, "seeds", "Seed");
    let before = whole(&seeds.get("aws-ha-eu1").await.unwrap());
    let known = before["status"]["conditions"][0]["type"].as_str().unwrap();
    let condition = json!({"status": {"conditions": [{"type": known, "status": "False"}]}});
    let patch = Patch::Strategic(condition);
    let seed = seeds.patch_status("aws-ha-eu1", &PatchParams::default(), &patch).await.unwrap();

    let both = json!([{"key": "one"}, {"key": "two"}]);
    assert_eq!(class["scheduling"]["tolerations"], both);
    assert_eq!(project["spec"]["tolerations"], json!({"whitelist": both, "defaults": both}));
    let (seed, before) = (&whole(&seed)["status"]["conditions"], &before["status"]["conditions"]);
    assert_eq!(length(seed), length(before));
    let (now, then) = (item(seed, "type", known), item(before, "type", known));
    assert_eq!((&now["status"], &now["message"]), (&json!("False"), &then["message"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_without_keys_are_replaced_by_a_strategic_merge() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let projects = core(&garden, "projects", "Project");
    let member = |name: &str| json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name, "role": "admin"}]);
    let owner = whole(&projects.get("kyma").await.unwrap())["spec"]["members"][0].clone();
    for name in ["one", "two"] {
        let project = merged(&projects, "kyma", json!({"spec": {"members": member(name)}})).await;
        assert_eq!(project["spec"]["members"], json!([member(name)[0], owner]), "the owner stays");
    }

    let quotas = objects(&garden, "core.gardener.cloud/v1beta1/quotas/Quota", true);
    let quota = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Quota", "metadata": {"name": "little"},
        "spec": {"metrics": {"cpu": "60", "gpu": "1"}, "scope": {"apiVersion": "v1", "kind": "Secret"}},
    });
    let quota = serde_json::from_value(quota).unwrap();
    quotas.create(&PostParams::default(), &quota).await.unwrap();
    let quota = merged(&quotas, "little", json!({"spec": {"metrics": {"cpu": "70"}}})).await;
    assert_eq!(quota["spec"]["metrics"], json!({"cpu": "70", "gpu": "1"}));

    let kind = "security.gardener.cloud/v1alpha1/credentialsbindings/CredentialsBinding";
    let bindings = objects(&garden, kind, true);
    let binding = json!({
        "apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
        "metadata": {"name": "bound", "labels": {"a": "1"}}, "provider": {"type": "aws"},
        "credentialsRef": {
            "apiVersion": "v1", "kind": "Secret", "name": "aws-free-1", "namespace": NAMESPACE,
        },
    });
    let binding = serde_json::from_value(binding).unwrap();
    bindings.create(&PostParams::default(), &binding).await.unwrap();
    let binding = merged(&bindings, "bound", json!({"metadata": {"labels": {"b": "2"}}})).await;
    let labels = json!({"a": "1", "b": "2", "provider.extensions.gardener.cloud/aws": "true"});
    assert_eq!(binding["metadata"]["labels"], labels);
    assert_eq!(binding["provider"], json!({"type": "aws"}));
}
