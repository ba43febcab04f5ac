//! Every request that the known client makes about orchestrations, in the order in which its commands make them, and what it needs
//! of each answer to go on.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{FORM, Service, body};

/// A body with other targets, as the client writes it.
fn to(include: &Value, exclude: Option<Value>) -> Value {
    let mut body = body("now", 1, Some(json!({})));
    body["targets"] = json!({ "include": include });
    if let Some(exclude) = exclude {
        body["targets"]["exclude"] = exclude;
    }
    body
}

fn with(mut body: Value, path: &str, value: Value) -> Value {
    let (parent, field) = path.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap()[field] = value;
    body
}

/// Without a version a body for clusters has no `kyma`.
fn of_cluster(mut body: Value) -> Value {
    body.as_object_mut().unwrap().remove("kyma");
    body
}

#[tokio::test]
async fn every_upgrade_that_the_client_can_order_is_answered_with_202_and_an_id() {
    let service = Service::start().await;
    service.made(2).await;
    let row = service.broker.parts().store.find("i-0").await.unwrap().unwrap();
    let (runtime, shoot) = (row.runtime_id.unwrap(), row.shoot_name.clone());
    let everything = json!([{
        "globalAccount": "ga.*", "subAccount": "sa.*", "region": "europe|eu-", "runtimeID": runtime,
        "planName": "aws", "shoot": shoot, "instanceID": row.id,
    }]);
    let accounts = json!([{ "globalAccount": "ga-1" }, { "globalAccount": "ga-2" }]);
    let excluded =
        json!([{ "planName": "trial" }, { "subAccount": "sa-x", "region": "westeurope" }]);
    let all = || body("now", 1, Some(json!({})));
    let later = body("2026-12-31T22:00:00+01:00", 3, None);
    let no_schedule = {
        let mut body = all();
        body["strategy"].as_object_mut().unwrap().remove("schedule");
        body
    };
    let kyma: BTreeMap<&str, Value> = BTreeMap::from([
        ("all", all()),
        ("a version", body("now", 1, Some(json!({ "version": "2.11.0" })))),
        ("a dry run", with(all(), "/dryRun", json!(true))),
        ("every selector", to(&everything, None)),
        ("several targets and exclusions", to(&accounts, Some(excluded))),
        ("workers", body("immediate", 7, Some(json!({})))),
        (
            "a time and windows",
            with(
                body("2026-12-31T22:00:00Z", 1, Some(json!({}))),
                "/strategy/maintenanceWindow",
                json!(true),
            ),
        ),
        ("windows", with(all(), "/strategy/maintenanceWindow", json!(true))),
        ("no schedule", no_schedule),
        ("a pull request", body("now", 1, Some(json!({ "version": "PR-123" })))),
        ("a commit of main", body("now", 1, Some(json!({ "version": "main-00e83e99" })))),
    ]);
    let cluster: BTreeMap<&str, Value> = BTreeMap::from([
        ("all", of_cluster(all())),
        (
            "a dry run of an account",
            of_cluster(with(
                to(&json!([{ "globalAccount": "ga.*" }]), None),
                "/dryRun",
                json!(true),
            )),
        ),
        (
            "a time with an offset",
            with(
                with(later, "/targets/include", json!([{ "region": "europe|eu|uk" }])),
                "/targets/exclude",
                json!([{ "planName": "trial" }]),
            ),
        ),
        (
            "no workers",
            of_cluster(with(
                to(&json!([{ "shoot": shoot }]), None),
                "/strategy/parallel",
                json!({ "workers": 0 }),
            )),
        ),
    ]);

    for (path, bodies) in [("/upgrade/kyma", kyma), ("/upgrade/cluster", cluster)] {
        for (what, body) in bodies {
            let (status, answer) = service.post(path, &body).await;
            assert_eq!(status, 202, "{path} of {what}: {answer}");
            assert!(answer["orchestrationID"].as_str().unwrap().parse::<Uuid>().is_ok());
            assert_eq!(answer.as_object().unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn orchestrations_and_their_operations_are_listed_until_all_have_come() {
    let service = Service::start().await;
    service.made(230).await;
    let id = service.upgraded(230, |n| n % 2 == 0).await;
    // Without those that failed, two pages have nearly everything.
    let few = service.upgraded(230, |n| n < 20).await;
    let other = service.upgraded(3, |_| false).await;

    let list = service.read_list("/orchestrations", "", "").await;
    assert_eq!(
        list.iter().map(|it| &it["state"]).collect::<Vec<_>>(),
        ["failed", "failed", "succeeded"]
    );
    let states = "&state=in+progress&state=failed&state=pending&state=succeeded&state=canceled\
                  &state=canceling&state=retrying";
    assert_eq!(service.read_list("/orchestrations", states, states).await.len(), 3);

    let path = format!("/orchestrations/{id}/operations");
    let operations = service.read_list(&path, "", "").await;
    assert_eq!(operations.len(), 230);
    let of = |list: &[Value], state: &str| list.iter().filter(|it| it["state"] == state).count();
    for (id, fails) in [(&id, 115), (&few, 20)] {
        // From the second page on the client leaves `failed` out.
        let path = format!("/orchestrations/{id}/operations");
        let first = "&state=failed&state=succeeded";
        let both = service.read_list(&path, first, "&state=succeeded").await;
        let failed = service.read_list(&path, "&state=failed", "").await;
        assert_eq!((of(&both, "failed"), of(&both, "succeeded")), (fails, 230 - fails));
        assert_eq!((failed.len(), of(&failed, "failed")), (fails, fails));
        let unique: std::collections::BTreeSet<_> =
            both.iter().map(|it| it["operationID"].as_str().unwrap()).collect();
        assert_eq!(unique.len(), 230);
    }
    assert_eq!(
        service.read_list(&format!("/orchestrations/{other}/operations"), "", "").await.len(),
        3
    );
}

#[tokio::test]
async fn what_the_client_prints_of_an_orchestration_and_an_operation_is_there() {
    let service = Service::start().await;
    service.made(3).await;
    let id = service.upgraded(3, |n| n == 1).await;

    let (status, one) = service.get(&format!("/orchestrations/{id}")).await;
    assert_eq!(status, 200);
    for field in ["orchestrationID", "type", "state", "description", "createdAt", "updatedAt"] {
        assert!(one[field].is_string(), "{field} of {one}");
    }
    assert_eq!(one["parameters"]["targets"]["include"], json!([{ "target": "all" }]));
    assert_eq!(one["parameters"]["strategy"]["parallel"]["workers"], 1_000);
    assert_eq!(one["parameters"]["kyma"]["version"], "2.11.0");
    assert_eq!(one["operationStats"], json!({ "failed": 1, "succeeded": 2 }));

    let operations = service.read_list(&format!("/orchestrations/{id}/operations"), "", "").await;
    for operation in &operations {
        let path = format!(
            "/orchestrations/{id}/operations/{}",
            operation["operationID"].as_str().unwrap()
        );
        let (status, detail) = service.get(&path).await;
        assert_eq!(status, 200);
        for field in [
            "operationID",
            "runtimeID",
            "globalAccountID",
            "subAccountID",
            "orchestrationID",
            "servicePlanID",
            "servicePlanName",
            "shootName",
            "state",
            "description",
            "maintenanceWindowBegin",
            "maintenanceWindowEnd",
        ] {
            assert!(detail[field].is_string(), "{field} of {detail}");
            assert_eq!(detail[field], operation[field]);
        }
        assert_eq!(detail["kymaConfig"]["version"], "2.11.0");
    }
}

#[tokio::test]
async fn the_client_cancels_what_has_not_ended_and_reads_why_it_cannot_cancel_the_rest() {
    let service = Service::start().await;
    service.made(1).await;
    let wish = body("now", 1, Some(json!({})));
    let (_, created) = service.post("/upgrade/kyma", &wish).await;
    let id = created["orchestrationID"].as_str().unwrap().to_owned();
    let path = format!("/orchestrations/{id}");

    // It asks with the counts: what waits, and what runs.
    let (_, before) = service.get(&path).await;
    assert_eq!(
        (&before["state"], &before["operationStats"]["failed"]),
        (&json!("pending"), &json!(0))
    );
    let (status, answer) = service.send(Method::PUT, &format!("{path}/cancel"), "", "").await;
    assert_eq!((status, &answer["orchestrationID"]), (200, &json!(id)));
    service.end(&id).await;

    // One that has ended is not asked to cancel: its state is read, and told.
    let (_, canceled) = service.get(&path).await;
    assert_eq!(canceled["state"], "canceled");
    let ended = service.upgraded(1, |_| false).await;
    let (_, succeeded) = service.get(&format!("/orchestrations/{ended}")).await;
    assert_eq!(succeeded["state"], "succeeded");
}

#[tokio::test]
async fn the_client_retries_all_that_failed_some_of_it_and_at_once() {
    for (form, retried, invalid) in [
        ("", 3, 0),
        ("&immediate=true", 3, 0),
        ("operation-id=FIRST&operation-id=OTHER", 1, 1),
        ("operation-id=FIRST&operation-id=SECOND&immediate=true", 2, 0),
    ] {
        let service = Service::start().await;
        service.made(5).await;
        let id = service.upgraded(5, |n| n < 3).await;
        let (_, one) = service.get(&format!("/orchestrations/{id}")).await;
        assert_eq!(one["state"], "failed");
        let path = format!("/orchestrations/{id}/operations");
        let failed = service.read_list(&path, "&state=failed", "").await;
        let form = form
            .replace("FIRST", failed[0]["operationID"].as_str().unwrap())
            .replace("SECOND", failed[1]["operationID"].as_str().unwrap());

        let path = format!("/orchestrations/{id}/retry");
        let (status, answer) = service.send(Method::POST, &path, FORM, &form).await;

        assert_eq!((status, &answer["orchestrationID"]), (202, &json!(id)), "{form}: {answer}");
        let number = |field: &str| answer[field].as_array().map_or(0, Vec::len);
        assert_eq!(
            (number("retryShoots"), number("invalidOperations")),
            (retried, invalid),
            "{answer}"
        );
        assert!(answer["oldOperations"].is_null());
        assert_eq!(answer["msg"], "retry operations are queued for processing");
        // Asked again, nothing is left to retry of what was.
        let (_, one) = service.get(&format!("/orchestrations/{id}")).await;
        assert_eq!(one["state"], "retrying");
        assert_eq!(one["operationStats"]["failed"], 3 - retried);
        let plural = if retried == 1 { "" } else { "s" };
        let told = one["description"].as_str().unwrap();
        assert!(told.ends_with(&format!(", retried {retried} operation{plural}")), "{told}");
    }
}
