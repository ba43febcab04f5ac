//! Azure: golden requests, things that take their time, pages, links, refusals, and an empty subscription at the end.

use std::{collections::BTreeMap, time::Duration};

use axum::{Json, response::IntoResponse};
use clients::{
    CallLimits, Component, Kind,
    azure::{Azure, Progress, name_for},
};
use secrecy::ExposeSecret;
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{
    support::{answering, noon},
    world::{SUBSCRIPTION, World, azure},
};

const SECRET: &str = "azure-s3cret";

fn tags(instance: &str) -> BTreeMap<String, String> {
    let pairs = [("SubAccountID", "sa"), ("InstanceID", instance), ("OperationID", "o")];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

async fn world() -> (World, Azure) {
    let world = World::new().await;
    world.add_subscription(SECRET).await;
    let azure = world.azure(SECRET);
    (world, azure)
}

async fn add_group(world: &World, name: &str, instance: &str) {
    let with =
        json!({"subscription": SUBSCRIPTION, "group": name, "tags": {"InstanceID": instance}});
    world.order("azure", "add-group", with).await;
}

#[tokio::test]
async fn requests_are_what_azure_documents() {
    let (issuer, asked) =
        answering(|_, _| Json(json!({"access_token": "t"})).into_response()).await;
    let (url, heard) = answering(|_, heard| {
        assert_eq!(heard.header("authorization"), Some("Bearer t"));
        let body = json!({
            "name": "g", "location": "west", "value": [], "new": 1,
            "properties": {"provisioningState": "Succeeded"}, "primaryConnectionString": "x",
        });
        Json(body).into_response()
    })
    .await;
    let azure = azure(issuer, url, "s", CallLimits::DEFAULT, &noon());
    let tags = BTreeMap::from([("a".to_owned(), "b".to_owned())]);

    azure.put_group("g", "west", &tags).await.unwrap();
    azure.groups_tagged("InstanceID", "o'neill").await.unwrap();
    azure.put_namespace("g", "namespace", "west", &tags).await.unwrap();
    azure.namespace("g", "namespace").await.unwrap().unwrap();
    azure.namespaces("g").await.unwrap();
    azure.keys("g", "namespace").await.unwrap();
    azure.zones("west", "m").await.unwrap();
    azure.delete_group("g").await.unwrap();

    let groups = "/subscriptions/sub-1/resourcegroups";
    let hubs = "/subscriptions/sub-1/resourceGroups/g/providers/Microsoft.EventHub/namespaces";
    let first = "api-version=2019-05-01";
    let filter = "tagName+eq+%27InstanceID%27+and+tagValue+eq+%27o%27%27neill%27";
    let golden = [
        ("PUT", format!("{groups}/g"), first.to_owned()),
        ("GET", groups.to_owned(), format!("{first}&%24filter={filter}")),
        ("PUT", format!("{hubs}/namespace"), "api-version=2017-04-01".to_owned()),
        ("GET", format!("{hubs}/namespace"), "api-version=2017-04-01".to_owned()),
        ("GET", hubs.to_owned(), "api-version=2017-04-01".to_owned()),
        (
            "POST",
            format!("{hubs}/namespace/AuthorizationRules/RootManageSharedAccessKey/listKeys"),
            "api-version=2017-04-01".to_owned(),
        ),
        (
            "GET",
            "/subscriptions/sub-1/providers/Microsoft.Compute/skus".to_owned(),
            "%24filter=location+eq+%27west%27&api-version=2021-07-01".to_owned(),
        ),
        ("DELETE", format!("{groups}/g"), first.to_owned()),
    ];
    let all = heard.all();
    let lines: Vec<_> =
        all.iter().map(|it| (it.method.as_str(), it.path.clone(), it.query.clone())).collect();
    assert_eq!(lines, golden);
    assert_eq!(all[0].json(), json!({"location": "west", "tags": {"a": "b"}}));
    let token = asked.last();
    assert_eq!(token.path, "/tenant-1/oauth2/v2.0/token");
    assert!(token.body.contains("grant_type=client_credentials"));
    assert!(token.body.contains("%2F.default"));
}

#[tokio::test]
async fn a_namespace_is_made_in_its_own_time_however_it_is_asked_for() {
    for polling in ["operation", "location", "resource"] {
        let (world, azure) = world().await;
        world.order("azure", "set-polling", json!({"polling": polling})).await;
        let name = name_for("0F9A-instance");
        azure.put_group(&name, "westeurope", &tags("i")).await.unwrap();

        let begun = azure.put_namespace(&name, &name, "westeurope", &tags("i")).await.unwrap();
        let Progress::Running { poll, .. } = begun else { panic!("{polling}: it is done at once") };
        let stored = serde_json::to_string(&poll).unwrap();
        let poll = serde_json::from_str(&stored).unwrap();
        assert!(matches!(azure.progress(&poll).await.unwrap(), Progress::Running { .. }));
        assert!(!azure.namespace(&name, &name).await.unwrap().unwrap().is_ready());
        assert_eq!(azure.keys(&name, &name).await.unwrap_err().kind.code(), "throttled");
        world.clock.advance(Duration::from_secs(5));

        assert_eq!(azure.progress(&poll).await.unwrap(), Progress::Done, "{polling}");
        let again = azure.put_namespace(&name, &name, "westeurope", &tags("i")).await.unwrap();
        assert_eq!(again, Progress::Done);
        let keys = azure.keys(&name, &name).await.unwrap();
        assert_eq!(keys.kafka_host().unwrap(), "k0f9a-instance.servicebus.windows.net");
        let text = keys.connection_string.unwrap();
        assert!(text.expose_secret().contains("SharedAccessKey="));
        assert_eq!(azure.namespaces(&name).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_group_is_found_by_its_tag_and_deleted_in_its_own_time() {
    let (world, azure) = world().await;
    azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();
    azure.put_group("ktwo", "westeurope", &tags("two")).await.unwrap();

    let found = azure.groups_tagged("InstanceID", "one").await.unwrap();
    assert_eq!(found.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["kone"]);
    let Progress::Running { poll, retry_after } = azure.delete_group("kone").await.unwrap() else {
        panic!("it is gone at once")
    };
    assert_eq!(retry_after, Some(Duration::from_secs(4)));
    assert!(matches!(azure.progress(&poll).await.unwrap(), Progress::Running { .. }));
    assert!(azure.groups_tagged("InstanceID", "one").await.unwrap()[0].is_deleting());
    let in_the_way = azure.put_group("kone", "westeurope", &tags("one")).await.unwrap_err();
    assert_eq!(in_the_way.kind.code(), "throttled");
    assert_eq!(in_the_way.reason.as_deref(), Some("ResourceGroupBeingDeleted"));
    world.clock.advance(Duration::from_secs(5));

    assert_eq!(azure.progress(&poll).await.unwrap(), Progress::Done);
    assert!(azure.groups_tagged("InstanceID", "one").await.unwrap().is_empty());
    assert_eq!(azure.delete_group("kone").await.unwrap(), Progress::Done);
}

#[tokio::test]
async fn an_answer_that_was_lost_leaves_one_thing() {
    let (world, azure) = world().await;
    azure.check().await.unwrap();

    for _ in 0..2 {
        world.trouble("azure", "PUT", 1, Trouble::LostAnswer { status: None });
        let lost = azure.put_group("kone", "westeurope", &tags("one")).await.unwrap_err();
        assert_eq!(lost.kind, Kind::AnswerLost);
        azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();
    }
    world.trouble("azure", "PUT", 1, Trouble::LostAnswer { status: Some(502) });
    let lost = azure.put_namespace("kone", "namespace", "westeurope", &tags("one")).await;
    assert_eq!(lost.unwrap_err().kind, Kind::Unavailable);
    azure.put_namespace("kone", "namespace", "westeurope", &tags("one")).await.unwrap();

    assert_eq!(world.objects("azure", "group").await.len(), 1);
    assert_eq!(world.objects("azure", "namespace").await.len(), 1);
}

#[tokio::test]
async fn refusals_have_azures_own_reasons() {
    let (world, azure) = world().await;
    azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();

    let elsewhere = azure.put_group("kone", "westus2", &tags("one")).await.unwrap_err();
    assert_eq!(elsewhere.reason.as_deref(), Some("InvalidResourceGroupLocation"));
    assert_eq!(elsewhere.kind, Kind::Conflict);
    let nowhere = azure.put_namespace("knone", "namespace", "west", &tags("x")).await.unwrap_err();
    assert_eq!(nowhere.reason.as_deref(), Some("ResourceGroupNotFound"));
    world.order("azure", "use-up-quota", json!({})).await;
    let quota = azure.put_namespace("kone", "namespace", "west", &tags("x")).await.unwrap_err();
    assert_eq!(quota.reason.as_deref(), Some("NamespaceQuotaExceeded"));
    world.order("azure", "use-up-quota", json!({"on": false})).await;
    world.order("azure", "fail-namespace", json!({"name": "namespace"})).await;
    let Ok(Progress::Running { poll, .. }) =
        azure.put_namespace("kone", "namespace", "west", &tags("x")).await
    else {
        panic!("it does not even begin")
    };
    world.clock.advance(Duration::from_secs(5));
    let failed = azure.progress(&poll).await.unwrap_err();
    assert_eq!(failed.reason.as_deref(), Some("InternalServerError"));
    world.order("azure", "revoke", json!({"subscription": SUBSCRIPTION})).await;
    let revoked = azure.groups().await.unwrap_err();
    assert_eq!(revoked.reason.as_deref(), Some("AuthorizationFailed"));
    assert_eq!(revoked.kind, Kind::Unauthorized);
}

#[tokio::test]
async fn names_that_do_not_fit_are_not_even_sent() {
    let (world, azure) = world().await;
    let long = "g".repeat(91);

    for name in ["", "..", long.as_str()] {
        let refused = azure.delete_group(name).await.unwrap_err();
        assert_eq!(refused.kind, Kind::Refused { status: 400 });
    }
    let short = azure.put_namespace("kone", "short", "west", &tags("x")).await.unwrap_err();
    assert_eq!(short.said.as_deref(), Some("its name has 6 to 50 characters"));
    assert!(world.calls("azure").is_empty());
}

#[tokio::test]
async fn keys_that_are_not_there_yet_are_no_keys() {
    let (world, azure) = world().await;
    azure.put_group("kone", "westeurope", &tags("one")).await.unwrap();
    azure.put_namespace("kone", "namespace", "westeurope", &tags("one")).await.unwrap();
    world.clock.advance(Duration::from_secs(5));
    world.order("azure", "blank-keys", json!({})).await;

    let keys = azure.keys("kone", "namespace").await.unwrap();

    assert!(keys.connection_string.is_none() && keys.kafka_host().is_none());
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_and_a_wrong_secret_is_not() {
    let (world, azure) = world().await;
    azure.check().await.unwrap();
    world.order("azure", "expire-tokens", json!({})).await;
    world.clock.advance(Duration::from_secs(1));

    assert_eq!(azure.groups().await.unwrap().len(), 0);

    let tokens = world.calls("azure").iter().filter(|path| path.ends_with("token")).count();
    assert_eq!(tokens, 2);
    let error = world.azure("wrong").groups().await.unwrap_err();
    assert_eq!((error.component, error.kind), (Component::ISSUER, Kind::Unauthorized));
    assert_eq!(error.reason.as_deref(), Some("invalid_client"));
}

#[tokio::test]
async fn all_pages_are_read() {
    let (world, azure) = world().await;
    world.order("azure", "set-page-size", json!({"size": 2})).await;
    for number in 0..5 {
        add_group(&world, &format!("g{number}"), "same").await;
    }

    assert_eq!(azure.groups().await.unwrap().len(), 5);
    assert_eq!(azure.groups_tagged("InstanceID", "same").await.unwrap().len(), 5);
    assert_eq!(azure.zones("westeurope", "Standard_D64s_v5").await.unwrap(), ["1", "2", "3"]);
}

#[tokio::test]
async fn a_link_that_leads_elsewhere_does_not_get_our_token() {
    let (thief, stolen) = answering(|_, _| Json(json!({"value": []})).into_response()).await;
    let (world, azure) = world().await;
    let own = world.url("/azure/subscriptions/sub-1/resourcegroups?api-version=2019-05-01&round=1");
    let page = |link: &str| json!({"value": [], "nextLink": link}).to_string();

    let theirs = thief.join("/azure/subscriptions/sub-1/resourcegroups?api-version=2019-05-01");

    for link in [theirs.unwrap().as_str(), "/other/path", "http://["] {
        world.trouble("azure", "GET", 1, Trouble::Malformed { body: Some(page(link)) });
        assert_eq!(azure.groups().await.unwrap_err().kind, Kind::Malformed, "{link}");
    }
    world.trouble("azure", "GET", 9, Trouble::Malformed { body: Some(page(own.as_str())) });
    assert_eq!(azure.groups().await.unwrap_err().kind, Kind::Malformed);

    assert_eq!(stolen.len(), 0);
}

#[tokio::test]
async fn a_subscription_is_empty_only_when_nothing_is_left() {
    let (world, azure) = world().await;
    world.order("azure", "set-page-size", json!({"size": 2})).await;
    for number in 0..5 {
        add_group(&world, &format!("g{number}"), "x").await;
    }

    assert_eq!(azure.clean_up().await.unwrap(), 5);
    assert_eq!(azure.clean_up().await.unwrap(), 5, "they are still being deleted");
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(azure.clean_up().await.unwrap(), 0);
}

#[tokio::test]
async fn one_group_that_stays_keeps_the_subscription_dirty() {
    let (world, azure) = world().await;
    for name in ["g1", "g2", "g3"] {
        add_group(&world, name, "x").await;
    }
    let g1 = json!({"subscription": SUBSCRIPTION, "group": "g1"});
    world.order("azure", "lock-group", g1).await;
    world
        .order("azure", "stick-deletion", json!({"subscription": SUBSCRIPTION, "group": "g3"}))
        .await;

    let error = azure.clean_up().await.unwrap_err();
    assert_eq!(error.reason.as_deref(), Some("ScopeLocked"));
    world.clock.advance(Duration::from_mins(1));
    let left: Vec<String> = azure.groups().await.unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(left, ["g1", "g3"]);
    world
        .order(
            "azure",
            "lock-group",
            json!({"subscription": SUBSCRIPTION, "group": "g1", "on": false}),
        )
        .await;
    assert_eq!(azure.clean_up().await.unwrap(), 2);
    world.clock.advance(Duration::from_mins(1));
    assert_eq!(azure.clean_up().await.unwrap(), 1, "a deletion that sticks is no success");
}

#[tokio::test]
async fn any_fault_keeps_the_subscription_dirty() {
    let troubles = [
        Trouble::Down { refuse: false },
        Trouble::Busy { retry_after_seconds: 3, as_date: true },
        Trouble::Status { status: 403, body: None },
        Trouble::Truncated,
        Trouble::Malformed { body: Some("{}".into()) },
    ];
    for trouble in troubles {
        let (world, azure) = world().await;
        azure.check().await.unwrap();
        world.trouble("azure", "GET", 2, trouble.clone());

        assert!(azure.clean_up().await.is_err(), "{trouble:?}");
    }
}

#[tokio::test]
async fn zones_without_a_machine_are_left_out() {
    let (world, azure) = world().await;
    let machine = "Standard_X";
    let set = async |zones: &[&str], restricted: &[&str], bare: bool| {
        let with = json!({
            "location": "westeurope", "machine": machine, "zones": zones,
            "restricted": restricted, "bare": bare,
        });
        world.order("azure", "set-sku", with).await;
        azure.zones("westeurope", machine).await.unwrap()
    };

    assert_eq!(set(&["3", "1"], &[], false).await, ["1", "3"]);
    assert_eq!(set(&["1", "2"], &["2"], false).await, ["1"]);
    assert!(set(&["1", "2"], &["1", "2"], false).await.is_empty());
    assert!(set(&[], &[], true).await.is_empty());
    assert!(azure.zones("westeurope", "Premium_LRS").await.unwrap().is_empty());
}
