//! What the operators' client of the original reads beside its lists: kubeconfigs and events.

use serde_json::Value;

use super::{Operator, text};

/// A kubeconfig with a token, for people whose group may have one; the account must be the runtime's.
pub(super) async fn kubeconfigs_are_for_people(
    operator: &Operator,
    person: &str,
    shoot: &str,
    runtime: &str,
) {
    let kubeconfig = async |account: &str, token: &str| {
        let address = format!("{}/kubeconfig/{account}/{runtime}", operator.broker);
        operator.get(&address, token).await
    };
    let (status, file) = kubeconfig("ga-aws", person).await;
    assert_eq!(status, 200, "{file}");
    assert!(text(&file).contains("token: ") && text(&file).contains(shoot), "{file}");
    let address = format!("{}/kubeconfig/ga-aws/{runtime}", operator.broker);
    let asked = operator.http.get(address).bearer_auth(person);
    let headers = asked.send().await.unwrap().headers().clone();
    assert_eq!(headers["cache-control"], "no-store", "nobody in between keeps credentials");
    assert_eq!(kubeconfig("ga-gcp", person).await.0, 404);
    assert_eq!(kubeconfig("ga-aws", &operator.machine().await).await.0, 403);
}

/// A list with events: a page with all operations, and then what happened to its instances, which is shown below each operation.
pub(super) async fn events_are_in_the_known_form(
    operator: &Operator,
    person: &str,
    [first, second]: [&str; 2],
    runtime: &str,
) {
    let events = async |query: &str| {
        let address = format!("{}/events?{query}", operator.broker);
        let (status, events) = operator.get(&address, person).await;
        assert_eq!(status, 200, "{query}: {events}");
        events.as_array().unwrap().clone()
    };
    let page = format!("instance_id={first}&op_detail=all&page=1&page_size=100");
    let page = operator.page(&page, person).await["data"][0].clone();
    let operation = text(&page["status"]["provisioning"]["operationID"]);

    let own = events(&format!("instance_ids={first}")).await;
    let shown = own.iter().filter(|event| event["OperationID"] == operation);
    let messages: Vec<_> = shown.map(|event| text(&event["Message"])).collect();
    let expected = ["processing step: Starting", "operation processing succeeded"];
    assert!(expected.iter().all(|it| messages.iter().any(|own| own == it)), "{messages:#?}");
    for event in &own {
        let texts = ["ID", "InstanceID", "OperationID", "Message", "CreatedAt"];
        assert!(texts.iter().all(|field| event[field].is_string()), "{event}");
        assert!(["info", "error"].contains(&&*text(&event["Level"])), "{event}");
        assert_eq!(event["InstanceID"], first);
    }
    let time = |event: &Value| text(&event["CreatedAt"]).parse::<jiff::Timestamp>().unwrap();
    assert!(own.is_sorted_by_key(time), "{own:#?}");
    let both = events(&format!("instance_ids={first},{second}")).await;
    assert!(both.len() > own.len() && own.iter().all(|event| both.contains(event)));

    // By the id of a runtime: those of its instance, and none for a runtime that nobody has.
    assert_eq!(events(&format!("runtime_ids={runtime}")).await, own);
    assert!(events("runtime_ids=11111111-1111-4111-8111-111111111111").await.is_empty());
}
