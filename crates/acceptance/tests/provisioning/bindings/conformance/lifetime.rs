//! A binding from bind to unbind, by the ids of the checklist of the protocol.

use serde_json::json;

use super::{Platform, time};

#[tokio::test(flavor = "multi_thread")]
async fn b_f_d_a_binding_lives_from_bind_to_unbind() {
    let platform = Box::pin(Platform::start()).await;
    let (path, body) = (platform.path("b-1"), platform.body(&json!({"expiration_seconds": 900})));

    // F2, D4: there is nothing yet.
    assert_eq!(platform.send("GET", &path, None).await.status, 404);
    assert_eq!(platform.send("GET", &format!("{path}/last_operation"), None).await.status, 404);
    let gone = platform.send("DELETE", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!((gone.status, gone.body), (410, json!({})));

    // B2, B5, S4: made by this request, with or without the leave to answer later.
    let made = platform.send("PUT", &format!("{path}?accepts_incomplete=true"), Some(&body)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(made.body["credentials"]["kubeconfig"].as_str().unwrap().contains("token"));
    assert!(made.body.get("operation").is_none());
    let (ends, renew) =
        (time(&made.body["metadata"]["expires_at"]), time(&made.body["metadata"]["renew_before"]));
    assert!(renew < ends, "B7");

    // B2: the same again. B3: another one under the same id.
    let again = platform.bind("b-1", &body).await;
    assert_eq!((again.status, &again.body), (200, &made.body));
    let other = platform.bind("b-1", &platform.body(&json!({"expiration_seconds": 901}))).await;
    assert_eq!(other.status, 409, "{}", other.body);

    // F1, F3, section 8: it can be fetched, and its last operation has succeeded.
    let found = platform.send("GET", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!(found.status, 200);
    assert_eq!(found.body["credentials"], made.body["credentials"]);
    assert_eq!(found.body["parameters"], json!({"expiration_seconds": 900}));
    let last = platform.send("GET", &format!("{path}/last_operation?operation="), None).await;
    assert_eq!((last.status, &last.body["state"]), (200, &json!("succeeded")));

    // B10: the next one has credentials of its own.
    let second = platform.bind("b-2", &body).await;
    assert_eq!(second.status, 201);
    assert_ne!(second.body["credentials"], made.body["credentials"]);

    // D1, D2, D4.
    for hint in ["", "service_id=s", "plan_id=p", "service_id=&plan_id=p"] {
        let refused = platform.send("DELETE", &format!("{path}?{hint}"), None).await;
        assert_eq!(refused.status, 400, "{hint}");
    }
    let unbound = platform.send("DELETE", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!((unbound.status, unbound.body), (200, json!({})));
    let again = platform.send("DELETE", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!((again.status, again.body), (410, json!({})));
    assert_eq!(platform.send("GET", &path, None).await.status, 404);
    assert_eq!(platform.send("GET", &platform.path("b-2"), None).await.status, 200, "B10");
    assert_eq!(platform.runtime.made().len(), 3, "D7");
}

#[tokio::test(flavor = "multi_thread")]
async fn b9_a_binding_is_rotated_and_both_work_side_by_side() {
    let platform = Box::pin(Platform::start()).await;
    let first = platform.bind("b-1", &platform.body(&json!({"expiration_seconds": 1800}))).await;
    let mut body = platform.body(&json!({}));
    body["predecessor_binding_id"] = "b-1".into();

    let second = platform.bind("b-2", &body).await;

    assert_eq!(second.status, 201, "{}", second.body);
    assert_ne!(second.body["credentials"], first.body["credentials"]);
    let found = platform.send("GET", &platform.path("b-2"), None).await;
    assert_eq!(found.body["parameters"], json!({"expiration_seconds": 1800}));
    assert_eq!(platform.send("GET", &platform.path("b-1"), None).await.status, 200);
    assert_eq!(platform.bind("b-2", &body).await.status, 200, "the same again");
}
