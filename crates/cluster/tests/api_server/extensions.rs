//! What the embedding program adds: admission rules and subresources.

use base::Clock;
use cluster::{Cause, Status, Verb, Where};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::support::{catalog, refusal, start_with, thing, thing_kind};

#[tokio::test]
async fn admission_refuses_changes_and_counts() {
    let catalog = catalog().admission(Where::Only("c".into()), "things.example.org", |write| {
        match write.verb {
            Verb::Delete if write.object["metadata"]["annotations"]["confirmed"] != "true" => {
                Err(Status::forbidden(write.kind, "a", "annotation confirmed is not true"))
            }
            Verb::Create if write.object["spec"]["region"].is_null() => {
                let cause = Cause::required("spec.region", "must be set");
                Err(Status::invalid(write.kind, "a", &[cause]))
            }
            Verb::Create => {
                assert!(write.find("namespaces", "", "default").is_some());
                write.object["spec"]["domain"] = json!("a.example.org");
                Ok(())
            }
            Verb::Update => {
                write.new_generation =
                    write.object["metadata"]["annotations"]["operation"] == "retry";
                Ok(())
            }
            Verb::Delete => Ok(()),
        }
    });
    let running = start_with(catalog, Clock::running(), |_| {}).await;
    let things = running.things().await;
    let post = PostParams::default();
    let annotate =
        |annotations: Value| Patch::Merge(json!({"metadata": {"annotations": annotations}}));
    let by = PatchParams::default();

    let invalid = things.create(&post, &thing("a", json!({}))).await.unwrap_err();
    let made = things.create(&post, &thing("a", json!({"region": "eu"}))).await.unwrap();
    let forbidden = things.delete("a", &DeleteParams::default()).await.unwrap_err();
    let retried = things.patch("a", &by, &annotate(json!({"operation": "retry"}))).await.unwrap();
    things
        .patch("a", &by, &annotate(json!({"operation": null, "confirmed": "true"})))
        .await
        .unwrap();
    things.delete("a", &DeleteParams::default()).await.unwrap();

    assert_eq!(refusal(invalid).0, 422);
    assert_eq!(made.data["spec"]["domain"], "a.example.org");
    assert_eq!(refusal(forbidden).0, 403);
    assert_eq!(retried.metadata.generation, Some(2));
    assert!(things.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_subresource_is_answered_by_the_embedding_program() {
    let mut kind = thing_kind().subresource("key");
    kind.plural = "boxes".into();
    kind.kind = "Box".into();
    let catalog = catalog().kind(Where::Everywhere, kind).subresource(
        Where::Everywhere,
        "boxes.example.org",
        "key",
        async |call| {
            let who = cluster::Identity::admin(&call.user.user);
            let kubeconfig = call.server.kubeconfig_with_certificate(
                &call.cluster,
                "box",
                &who,
                jiff::SignedDuration::from_hours(1),
            )?;
            let name = call.object["metadata"]["name"].clone();
            Ok((201, json!({"spec": call.body["spec"], "name": name, "status": {"kubeconfig": kubeconfig}})))
        },
    );
    let running = start_with(catalog, Clock::running(), |_| {}).await;
    let object = json!({
        "apiVersion": "example.org/v1", "kind": "Box",
        "metadata": {"name": "b", "namespace": "default"},
    });
    running.server.apply("c", "test", &object).unwrap();
    let ask = |name: &str| {
        http::Request::post(format!("/apis/example.org/v1/namespaces/default/boxes/{name}/key"))
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&json!({"spec": {"seconds": 5}})).unwrap())
            .unwrap()
    };
    let client = running.client().await;

    let answer: Value = client.request(ask("b")).await.unwrap();
    let missing = client.request::<Value>(ask("nope")).await.unwrap_err();

    assert_eq!((&answer["name"], &answer["spec"]["seconds"]), (&json!("b"), &json!(5)));
    let opened = crate::support::connect(answer["status"]["kubeconfig"].as_str().unwrap()).await;
    assert_eq!(opened.apiserver_version().await.unwrap().major, "1");
    assert_eq!(refusal(missing).0, 404);
}

#[tokio::test]
async fn layers_around_the_routes_can_disturb_requests() {
    let folder = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let broken = |router: axum::Router| {
        router.layer(axum::middleware::from_fn(async |_: axum::extract::Request, _| {
            Status::internal("broken for a test")
        }))
    };
    let settings = cluster::Settings::new(folder.path());
    let clock = Clock::running();
    let server =
        cluster::Server::start(settings, clock, catalog(), listener, broken).await.unwrap();
    server.create_cluster("c").unwrap();

    let client = crate::support::connect(&server.kubeconfig("c", "me").unwrap()).await;
    let (code, reason, _) = refusal(client.apiserver_version().await.unwrap_err());

    assert_eq!((code, reason.as_str()), (500, "InternalError"));
}
