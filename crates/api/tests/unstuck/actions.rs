//! Operators' actions on operations: each needs a reason, and each is audited.

use serde_json::{Value, json};

use crate::{
    service,
    support::operations::{ENDED, RUNNING},
};

#[tokio::test]
async fn nothing_is_done_without_a_reason_and_the_refusal_is_audited() {
    let service = service().await;
    let before = service.call("GET", &format!("/operations/{RUNNING}"), "").await;
    let actions = ["cancel", "retry", "skip", "abandon"];

    for action in actions {
        let bodies = match action {
            "skip" => {
                [r#"{"step": "Wait_For_Parts"}"#, r#"{"step": "Wait_For_Parts", "reason": " "}"#]
            }
            _ => ["", r#"{"reason": ""}"#],
        };
        for body in bodies {
            let (status, answer) = service.post(RUNNING, action, body).await;
            assert_eq!((status, &answer["error"]), (400, &json!("bad_request")), "{action} {body}");
            let told = answer["description"].as_str().unwrap();
            assert!(told.starts_with("reason is missing"), "{action} {body}: {told}");
        }
    }

    let after = service.call("GET", &format!("/operations/{RUNNING}"), "").await;
    assert_eq!(after, before);
    let id = RUNNING.parse().unwrap();
    let entries = service.operations.operations.audit().of(&[], &[id], 20).await.unwrap();
    for action in actions {
        let refused = entries.iter().filter(|it| it.action == action);
        let told: Vec<_> = refused.map(|it| (it.result.as_deref(), it.reason.as_deref())).collect();
        let expected = (Some("refused"), Some("reason is missing: it is kept in the audit"));
        assert_eq!(told, [expected; 2], "{action}");
    }
}

#[tokio::test]
async fn each_action_is_audited_with_its_reason() {
    for (action, body) in [
        ("cancel", json!({"reason": "not wanted"})),
        ("skip", json!({"reason": "not wanted", "step": "Wait_For_Parts"})),
        ("abandon", json!({"reason": "not wanted"})),
        ("retry", json!({"reason": "not wanted"})),
    ] {
        let service = service().await;
        if action == "retry" {
            service.post(RUNNING, "abandon", r#"{"reason": "it hangs"}"#).await;
        }
        let (status, answer) = service.post(RUNNING, action, &body.to_string()).await;
        assert_eq!(status, 202, "{action}: {answer}");

        let audit = service.operations.operations.audit();
        let entries = audit.of(&["instance-1".into()], &[], 10).await.unwrap();
        let entry = entries.iter().find(|it| it.action == action).unwrap();
        assert_eq!(entry.result.as_deref(), Some("accepted"), "{action}");
        assert!(entry.reason.as_deref().unwrap().ends_with("not wanted"), "{action}: {entry:?}");
    }
}

#[tokio::test]
async fn only_steps_that_a_removal_can_go_on_without_are_skipped() {
    let service = service().await;
    let step = |step: &str| json!({"step": step, "reason": "gone"}).to_string();

    let unknown = service.post(RUNNING, "skip", &step("No_Such_Step")).await;
    let needed = service.post(RUNNING, "skip", &step("Order_Parts")).await;
    let unnamed = service.post(RUNNING, "skip", r#"{"reason": "gone"}"#).await;
    let ended = service.post(ENDED, "skip", &step("Do_Nothing")).await;
    let skipped = service.post(RUNNING, "skip", &step("Wait_For_Parts")).await;

    assert_eq!((unknown.0, needed.0, unnamed.0, ended.0), (400, 400, 400, 409));
    let text = |answer: &Value| answer["description"].as_str().unwrap().to_owned();
    assert_eq!(text(&unknown.1), "step is not in the plan of building");
    assert!(text(&needed.1).starts_with("step cannot be skipped"), "{}", text(&needed.1));
    assert_eq!(text(&unnamed.1), "step is missing");
    assert_eq!(skipped.0, 202, "{}", skipped.1);
    let done = loop {
        let (_, found) = service.call("GET", &format!("/operations/{RUNNING}"), "").await;
        if found["state"] == "succeeded" {
            break found;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(done["incomplete"], json!(["build/Wait_For_Parts"]));
}
