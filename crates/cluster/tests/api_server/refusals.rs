//! Refusals over the wire: their words, their order, and the warnings that come with them.

use base::Clock;
use cluster::{Cause, Status, Where};
use http::Request;
use kube::{
    api::{DeleteParams, PostParams},
    client::Body,
};
use serde_json::{Value, json};

use crate::support::{Running, catalog, refusal, start, start_with, thing};

const THINGS: &str = "/apis/example.org/v1/namespaces/default/things";

/// The response to a request: status, warnings, body.
async fn ask(
    running: &Running,
    method: &str,
    path: &str,
    media: &str,
    body: &Value,
) -> (u16, Vec<String>, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", media);
    let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
    let response = running.client().await.send(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.into_body().collect_bytes().await.unwrap();
    let warnings = headers.get_all("warning").iter().map(|one| one.to_str().unwrap().to_owned());
    (status, warnings.collect(), serde_json::from_slice(&bytes).unwrap())
}

#[tokio::test]
async fn a_write_that_is_refused_comes_with_its_warnings() {
    let catalog = catalog().admission(Where::Everywhere, "things.example.org", |write| {
        write.warnings.push("think twice".to_owned());
        let is_odd = write.object["spec"]["odd"] == true;
        let cause = Cause::invalid("spec.odd", "true", "nothing is odd");
        if is_odd { Err(Status::invalid(write.kind, "a", &[cause])) } else { Ok(()) }
    });
    let running = start_with(catalog, Clock::running(), |_| {}).await;
    let mut odd = json!({"metadata": {"name": "a"}, "spec": {"odd": true}});
    let (json, merge) = ("application/json", "application/merge-patch+json");
    let one = format!("{THINGS}/a");

    let refused = ask(&running, "POST", THINGS, json, &odd).await;
    odd["spec"]["odd"] = json!(false);
    let (_, _, mut made) = ask(&running, "POST", THINGS, json, &odd).await;
    let patched = ask(&running, "PATCH", &one, merge, &json!({"spec": {"odd": true}})).await;
    made["spec"]["odd"] = json!(true);
    let replaced = ask(&running, "PUT", &one, json, &made).await;

    for (status, warnings, said) in [refused, patched, replaced] {
        assert_eq!((status, &said["reason"]), (422, &json!("Invalid")), "{said}");
        assert_eq!(warnings, [r#"299 - "think twice""#]);
    }
}

#[tokio::test]
async fn parameters_that_make_no_sense_are_named_with_the_options_of_the_request() {
    let running = start().await;
    let things = running.things().await;
    let made = things.create(&PostParams::default(), &thing("a", json!({}))).await.unwrap();
    let made = serde_json::to_value(made).unwrap();
    let (json, merge) = ("application/json", "application/merge-patch+json");
    let apply = "application/apply-patch+yaml";
    let long = format!("fieldManager={}", "m".repeat(129));

    for (method, media, query, options, reason, field) in [
        ("POST", json, "dryRun=Foo", "CreateOptions", "FieldValueNotSupported", "dryRun"),
        ("POST", json, &long, "CreateOptions", "FieldValueTooLong", "fieldManager"),
        ("PUT", json, "dryRun=Foo", "UpdateOptions", "FieldValueNotSupported", "dryRun"),
        (
            "PUT",
            json,
            "fieldValidation=X",
            "UpdateOptions",
            "FieldValueNotSupported",
            "fieldValidation",
        ),
        ("PATCH", merge, &long, "PatchOptions", "FieldValueTooLong", "fieldManager"),
        ("PATCH", merge, "force=true", "PatchOptions", "FieldValueForbidden", "force"),
        ("PATCH", apply, "", "PatchOptions", "FieldValueRequired", "fieldManager"),
        ("DELETE", json, "dryRun=Foo", "DeleteOptions", "FieldValueNotSupported", "dryRun"),
    ] {
        let path = if method == "POST" { THINGS.to_owned() } else { format!("{THINGS}/a") };

        let (status, _, said) =
            ask(&running, method, &format!("{path}?{query}"), media, &made).await;

        assert_eq!(status, 422, "{method} {query}: {said}");
        let details = &said["details"];
        assert_eq!((&details["group"], &details["kind"]), (&json!("meta.k8s.io"), &json!(options)));
        let cause = &details["causes"][0];
        assert_eq!((&cause["field"], &cause["reason"]), (&json!(field), &json!(reason)));
        let start = format!("{options}.meta.k8s.io \"\" is invalid: {field}: ");
        assert!(said["message"].as_str().unwrap().starts_with(&start), "{said}");
    }
    assert!(things.get_opt("a").await.unwrap().is_some());
}

#[tokio::test]
async fn a_version_that_is_no_number_is_an_error_without_a_reason() {
    let running = start().await;
    let things = running.things().await;
    things.create(&PostParams::default(), &thing("a", json!({}))).await.unwrap();
    let odd = json!({"metadata": {"name": "a", "resourceVersion": "abc"}});

    let (status, _, said) =
        ask(&running, "PUT", &format!("{THINGS}/a"), "application/json", &odd).await;

    assert_eq!((status, said.get("reason")), (500, None), "{said}");
    assert_eq!(said["message"], r#"strconv.ParseUint: parsing "abc": invalid syntax"#);
}

#[tokio::test]
async fn an_applied_configuration_names_its_own_type() {
    let running = start().await;
    let path = format!("{THINGS}/a?fieldManager=one");
    let nameless = [
        (json!({"kind": "Thing", "spec": {}}), "expected: example.org/v1"),
        (json!({"apiVersion": "example.org/v1", "spec": {}}), "Object 'Kind' is missing"),
    ];

    for (config, text) in nameless {
        let media = "application/apply-patch+yaml";
        let (status, _, said) = ask(&running, "PATCH", &path, media, &config).await;

        assert_eq!(status, 400, "{said}");
        assert!(said["message"].as_str().unwrap().contains(text), "{said}");
    }
}

#[tokio::test]
async fn a_name_that_is_taken_is_noticed_after_a_broken_rule() {
    let running = start().await;
    let things = running.things().await;
    let post = PostParams::default();
    let mut held = thing("a", json!({}));
    held.metadata.finalizers = Some(vec!["example.org/hold".into()]);
    let made = things.create(&post, &held).await.unwrap();
    let mut broken = thing("a", json!({}));
    broken.metadata.labels = Some([("a b".to_owned(), "c".to_owned())].into());

    let refused = things.create(&post, &broken).await.unwrap_err();
    let taken = things.create(&post, &thing("a", json!({}))).await.unwrap_err();
    let unchanged = things.get("a").await.unwrap();
    things.delete("a", &DeleteParams::default()).await.unwrap();
    let going = things.create(&post, &thing("a", json!({}))).await.unwrap_err();

    assert_eq!(refusal(refused).0, 422);
    let exists = r#"things.example.org "a" already exists"#;
    assert_eq!(refusal(taken), (409, "AlreadyExists".into(), exists.into()));
    assert_eq!(unchanged.metadata.resource_version, made.metadata.resource_version);
    assert_eq!(refusal(going).2, format!("object is being deleted: {exists}"));
}
