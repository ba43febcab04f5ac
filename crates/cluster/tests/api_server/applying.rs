//! Server-side apply over the wire.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::support::{refusal, start, thing};

#[tokio::test]
async fn apply_creates_shares_refuses_and_takes_by_force() {
    let running = start().await;
    let things = running.things().await;
    let one = PatchParams::apply("one");
    let two = PatchParams::apply("two");
    let wanted = |spec: Value| Patch::Apply(thing("a", spec));

    things.patch("a", &one, &wanted(json!({"n": 1, "list": [1, 2]}))).await.unwrap();
    things.patch("a", &two, &wanted(json!({"n": 1, "m": 5}))).await.unwrap();
    let refused = things.patch("a", &two, &wanted(json!({"n": 2}))).await.unwrap_err();
    let forced = two.clone().force();
    let taken = things.patch("a", &forced, &wanted(json!({"n": 2}))).await.unwrap();
    let left = things.patch("a", &one, &wanted(json!({}))).await.unwrap();

    let (code, reason, message) = refusal(refused);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert_eq!(message, r#"Apply failed with 1 conflict: conflict with "one": .spec.n"#);
    assert_eq!(taken.data["spec"], json!({"n": 2, "list": [1, 2]}));
    assert_eq!(left.data["spec"], json!({"n": 2}));
}

#[tokio::test]
async fn applied_status_and_applied_spec_have_different_owners() {
    let running = start().await;
    let things = running.things().await;
    let by = PatchParams::apply("controller");
    things.patch("a", &by, &Patch::Apply(thing("a", json!({"n": 1})))).await.unwrap();
    let mut status = thing("a", json!({"n": 7}));
    status.data["status"] = json!({"state": "ready"});

    things.patch_status("a", &by, &Patch::Apply(status)).await.unwrap();
    let live = things.patch("a", &by, &Patch::Apply(thing("a", json!({"n": 2})))).await.unwrap();

    assert_eq!(live.data, json!({"spec": {"n": 2}, "status": {"state": "ready"}}));
    assert_eq!(live.metadata.managed_fields.unwrap().len(), 2);
}
