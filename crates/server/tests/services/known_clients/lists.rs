//! The operators' client of the original: its lists, with every filter, and its removals.

use reqwest::Method;
use serde_json::json;

use super::{
    Operator,
    reading::{events_are_in_the_known_form, kubeconfigs_are_for_people},
    start, text,
};
use crate::platform::Platform;

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_client_of_the_original_lists_with_every_filter_and_removes() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), &[]).await;
    let platform = Platform::of(&up).await;
    let operator = Operator::of(data.path());
    let ids = [
        ("aws", "11111111-1111-4111-8111-11111111aaaa"),
        ("gcp", "11111111-1111-4111-8111-11111111bbbb"),
    ];
    let path = |id: &str| format!("/oauth/v2/service_instances/{id}");
    for (plan, id) in ids {
        let asked = format!("{}?accepts_incomplete=true", path(id));
        let order = platform.order(plan, &json!({}));
        assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202, "{plan}");
    }
    for (_, id) in ids {
        platform.succeeded(&path(id)).await;
    }
    let person = operator.login_with_password(&operator.user, &operator.password).await;
    let aws = format!("instance_id={}", ids[0].1);
    let one =
        operator.page(&format!("{aws}&page=1&page_size=100"), &person).await["data"][0].clone();
    let (shoot, runtime) = (text(&one["shootName"]), text(&one["runtimeID"]));
    assert!(one["kymaVersion"].is_string(), "all operations unless it says otherwise: {one}");

    let both = ["aws", "gcp"].as_slice();
    let all = "state=succeeded&state=failed&state=error&state=provisioning&state=deprovisioning\
               &state=upgrading&state=suspended&state=deprovisionincomplete&state=all";
    let filters: [(&str, &[&str]); 16] = [
        ("", both),
        ("account=ga-aws&account=ga-gcp&account=ga-3", both),
        ("subaccount=sa-gcp", &["gcp"]),
        (&format!("shoot={shoot}&shoot=nosuch"), &["aws"]),
        ("shoot=.%2A", both),
        (&aws, &["aws"]),
        (&format!("runtime_id={runtime}"), &["aws"]),
        ("plan=aws&plan=trial&region=eu-central-1", &["aws"]),
        ("region=nowhere", &[]),
        ("state=succeeded", both),
        ("state=failed&state=error", &[]),
        (all, both),
        ("state=suspended", &[]),
        ("expired=true", &[]),
        ("account=ga-aws&subaccount=sa-aws", &["aws"]),
        (&format!("{aws}&state=deprovisioned"), &[]),
    ];
    for (filter, wanted) in filters {
        assert_eq!(operator.plans(filter, &person).await, wanted, "{filter}");
    }
    let pages = async |page: u8| {
        let page = operator.page(&format!("page={page}&page_size=1"), &person).await;
        (page["count"].clone(), page["totalCount"].clone())
    };
    assert_eq!((pages(1).await, pages(3).await), ((json!(1), json!(2)), (json!(0), json!(2))));

    let wide =
        format!("{aws}&kyma_config=true&cluster_config=true&op_detail=all&page=1&page_size=100");
    let wide = operator.page(&wide, &person).await["data"][0].clone();
    assert!(
        wide["kymaVersion"].is_string() && wide["clusterConfig"]["provider"] == "aws",
        "{wide}"
    );
    // The client reads each value as a text; one that is none breaks its whole list.
    let kyma = &wide["kymaConfig"];
    let components = kyma["components"].as_array().unwrap().iter();
    let entries =
        components.chain([kyma]).filter_map(|one| one["configuration"].as_array()).flatten();
    let values: Vec<_> = entries.map(|entry| &entry["value"]).collect();
    assert!(!values.is_empty() && values.iter().all(|value| value.is_string()), "{kyma}");

    // The Reconciler, with the same token: what is empty counts as not given.
    let state = format!("clusters/state?correlationID=&runtimeID={runtime}&schedulingID=");
    for part in [&*state, &format!("reconciliations?runtimeID={runtime}")] {
        let address = format!("{}/reconciler/v1/{part}", operator.landscape);
        assert_eq!(operator.get(&address, &person).await.0, 200, "{part}");
    }

    events_are_in_the_known_form(&operator, &person, ids.map(|(_, id)| id), &runtime).await;
    kubeconfigs_are_for_people(&operator, &person, &shoot, &runtime).await;

    // Removal: a person may not, broker:write is enough, and the runtime can still be looked up by its id.
    let (machine, id) = (operator.machine().await, ids[0].1);
    assert_eq!(operator.remove(id, &person).await, 403);
    assert_eq!(operator.remove(id, &machine).await, 202);
    platform.succeeded(&path(id)).await;
    assert_eq!(operator.plans("", &person).await, ["gcp"]);
    let gone = format!("{aws}&op_detail=last&page=1&page_size=100&state=deprovisioned");
    let gone = operator.page(&gone, &person).await["data"][0].clone();
    assert_eq!(
        (&gone["runtimeID"], &gone["status"]["state"]),
        (&json!(runtime), &json!("deprovisioned"))
    );
    up.stop().await;
}
