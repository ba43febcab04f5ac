//! Shoots: the requests, golden, and what the tests about Shoots share.

mod adopting;
mod fields;
mod kubeconfigs;
mod watches;

use clients::{
    CallLimits, Kind,
    gardener::{Deletion, Gardener, RUNTIME_ANNOTATION, Shoot},
};
use serde_json::{Value, json};

use crate::kube_api::KubeApi;

const ROOT: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";

pub(crate) async fn garden(api: &KubeApi) -> Gardener {
    Gardener::new(api.cluster(CallLimits::DEFAULT).await, "kyma", "kcp-provisioner")
}

fn at(name: &str) -> String {
    format!("{ROOT}/{name}")
}

pub(crate) fn shoot(name: &str, runtime: &str) -> Shoot {
    let mut shoot = Shoot::named(name);
    let annotations = shoot.metadata.annotations.get_or_insert_default();
    annotations.insert(RUNTIME_ANNOTATION.into(), runtime.into());
    shoot.spec.region = Some("eu".into());
    shoot.spec.rest.insert("networking".into(), json!({"type": "calico"}));
    shoot
}

#[tokio::test]
async fn requests_are_those_of_gardener() {
    let api = KubeApi::default();
    let garden = garden(&api).await;

    garden.create(&shoot("c-1", "r-1")).await.unwrap();
    garden.shoot("c-1").await.unwrap().unwrap();
    garden.apply("c-1", &json!({"spec": {"purpose": "production"}})).await.unwrap();
    garden.hibernate("c-1", true).await.unwrap();

    let heard: Vec<_> = api
        .journal
        .all()
        .iter()
        .map(|heard| {
            let body = serde_json::from_str(&heard.body).unwrap_or(Value::Null);
            let kind = heard.header("content-type").unwrap().to_owned();
            (format!("{} {}?{}", heard.method, heard.path, heard.query), kind, body)
        })
        .collect();
    let kind = json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot"});
    let with_kind = |mut fields: Value| {
        fields.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        fields
    };
    let owner = "fieldManager=kcp-provisioner&force=true";
    assert_eq!(
        heard,
        [
            (
                format!("POST {ROOT}?"),
                "application/json".into(),
                with_kind(json!({
                    "metadata": {"name": "c-1", "annotations": {RUNTIME_ANNOTATION: "r-1"}},
                    "spec": {"region": "eu", "networking": {"type": "calico"}},
                }))
            ),
            (format!("GET {ROOT}/c-1?"), "application/json".into(), Value::Null),
            (
                format!("PATCH {ROOT}/c-1?{owner}"),
                "application/apply-patch+yaml".into(),
                with_kind(json!({"spec": {"purpose": "production"}}))
            ),
            (
                format!("PATCH {ROOT}/c-1?"),
                "application/merge-patch+json".into(),
                json!({"spec": {"hibernation": {"enabled": true}}})
            ),
        ]
    );
}

#[tokio::test]
async fn calls_can_be_made_from_any_thread() {
    let api = KubeApi::default();
    let garden = garden(&api).await;

    let made = tokio::spawn(async move {
        garden.create(&shoot("c-1", "r-1")).await?;
        let pool = garden.pool(clients::gardener::BindingKind::Secret);
        let wanted = clients::gardener::AccountNeed { hyperscaler: "aws", eu_access: false };
        let claimed = pool.claim("ga", wanted).await;
        assert_eq!(claimed.unwrap_err().kind, Kind::NotFound);
        garden.delete("c-1").await
    });

    assert_eq!(made.await.unwrap().unwrap(), Deletion::Going);
}
