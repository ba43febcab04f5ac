//! Orders: checked, resolved, stored with their operation.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use broker::{
    Order,
    instances::{Broker, Caller, Error, LegacyNeeds, Parts, Provision, Settings},
};
use engine::State;
use serde_json::{Value, json};

use crate::world::{AWS, World, context, request, tenant};

pub(crate) async fn an_order_is_stored_with_its_operation(world: World) {
    let accepted = world.order("i-1").await.unwrap();

    let operation = world.read(&accepted.operation.unwrap()).await;
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let order: Order = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(accepted.dashboard_url, "https://dashboard.test/?kubeconfigID=i-1");
    assert_eq!(accepted.labels["Name"], "dev");
    assert_eq!(accepted.labels["KubeconfigURL"], "https://stage.test/kubeconfig/i-1");
    assert_eq!((operation.kind.as_str(), operation.state), ("provision", State::Pending));
    assert_eq!((operation.instance.as_str(), operation.lane.as_str()), ("i-1", "ga-1"));
    assert_eq!((row.plan_name.as_str(), row.provider.as_str()), ("aws", "aws"));
    assert_eq!((row.region.as_str(), row.platform_region.as_str()), ("eu-central-1", "cf-eu10"));
    assert_eq!(order.shoot_domain, format!("{}.kyma.test", row.shoot_name));
    assert_eq!(order.context.user_id, "jo@example.test");
}

pub(crate) async fn what_one_order_says_is_no_default_of_the_next(world: World) {
    let resolved = async |instance: &str, parameters: Value| {
        let mut order = request(instance, AWS);
        order.parameters = Some(parameters);
        world.broker.provision(&Caller::default(), order).await.unwrap();
        let row = world.store.find(instance).await.unwrap().unwrap();
        let order: Order = serde_json::from_slice(&row.order).unwrap();
        let mut resolved = serde_json::to_value(order.resolved).unwrap();
        // Each instance has its own zone.
        resolved["cluster"]["zones"].take();
        resolved
    };

    let before = resolved("i-1", json!({"name": "dev"})).await;
    let other = json!({
        "name": "dev", "purpose": "evaluation", "region": "us-east-1", "machineType": "m5.8xlarge",
        "autoScalerMin": 5, "autoScalerMax": 7, "administrators": ["ada@example.test"],
        "oidc": {"clientID": "theirs", "issuerURL": "https://theirs.example.test"},
    });
    let between = resolved("i-2", other).await;
    let after = resolved("i-3", json!({"name": "dev"})).await;

    assert_ne!(between, before);
    assert_eq!(after, before);
}

pub(crate) async fn what_was_ordered_stands_in_the_input_with_whoever_asked(world: World) {
    let caller = Caller {
        any_tenant: false,
        tenant: None,
        originating_identity: Some("cloudfoundry eyJ1c2VyX2lkIjoiMSJ9".into()),
        user_agent: Some("cf/8".into()),
    };

    let accepted = world.broker.provision(&caller, request("i-1", AWS)).await.unwrap();

    let operation = world.read(&accepted.operation.unwrap()).await;
    let input: Value = serde_json::from_slice(&operation.input).unwrap();
    let row = world.store.find("i-1").await.unwrap().unwrap();
    let stored: Value = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(input["order"], stored);
    assert_eq!(input["originating_identity"], "cloudfoundry eyJ1c2VyX2lkIjoiMSJ9");
    assert_eq!(input["user_agent"], "cf/8");
}

pub(crate) async fn the_first_thing_that_is_wrong_is_told_and_nothing_is_stored(world: World) {
    let wrong = |change: fn(&mut Provision)| {
        let mut request = request("i-1", AWS);
        change(&mut request);
        request
    };
    let table: Vec<(Provision, &str)> = vec![
        (wrong(|r| r.service_id.clear()), "service_id missing"),
        (wrong(|r| r.plan_id.clear()), "plan_id missing"),
        (wrong(|r| r.service_id = "x".into()), "service-id not in the catalog"),
        (wrong(|r| r.plan_id = "x".into()), "plan-id not in the catalog"),
        (
            wrong(|r| r.maintenance_version = Some("1.0.0".into())),
            "maintenance_info was passed, but the broker catalog contains no maintenance_info",
        ),
        (
            wrong(|r| r.accepts_incomplete = false),
            "This service plan requires client support for asynchronous service operations.",
        ),
        (wrong(|r| r.instance_id = "x".repeat(256)), "instance_id is longer than 255 bytes"),
        (wrong(|r| r.instance_id = "a\0b".into()), "instance_id has control characters"),
        (
            wrong(|r| r.context = None),
            "while extracting ers context: while decoding context: unexpected end of JSON input",
        ),
        (
            wrong(|r| r.context = Some(json!({"globalaccount_id": "ga"}))),
            "while extracting ers context: subAccountID parameter cannot be empty",
        ),
        (
            wrong(|r| r.parameters = None),
            "while extracting input parameters: while unmarshaling raw parameters: unexpected end of JSON input",
        ),
        (
            wrong(|r| r.parameters = Some(json!({"name": "dev", "region": "mars"}))),
            "while validating input parameters: region: region must be one of the following: ",
        ),
        (
            wrong(|r| {
                r.parameters = Some(json!({"name": "d", "autoScalerMin": 5, "autoScalerMax": 3}));
            }),
            "AutoScalerMax 3 should be larger than AutoScalerMin 5. ",
        ),
        (
            wrong(|r| r.region = Some("cf-eu11".into())),
            "Due to limited availability you need to open support ticket before attempting to provision Kyma clusters in EU Access only regions",
        ),
    ];

    for (request, expected) in table {
        let checked = world.broker.check_order(&Caller::default(), &request).await.unwrap_err();
        let error = world.broker.provision(&Caller::default(), request).await.unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error} instead of {expected}");
        assert_eq!(checked.to_string(), error.to_string());
    }
    assert_eq!(world.operations().await, 0);
    assert!(world.store.find("i-1").await.unwrap().is_none());
}

pub(crate) async fn a_tenant_orders_for_itself_alone(world: World) {
    let foreign = Provision { context: Some(context("ga-2")), ..request("i-2", AWS) };

    let refused = world.broker.provision(&tenant("ga-1"), foreign).await.unwrap_err();
    let accepted = world.broker.provision(&tenant("ga-1"), request("i-1", AWS)).await;

    assert!(matches!(refused, Error::Foreign));
    assert!(accepted.is_ok());
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn what_can_only_fail_later_is_refused(world: World) {
    let order = async |instance: &str, field: &str, value: Value| {
        let mut context = context("ga-1");
        if !field.is_empty() {
            context[field] = value;
        }
        let request = Provision { context: Some(context), ..request(instance, AWS) };
        world.broker.provision(&Caller::default(), request).await
    };
    let long = "x".repeat(64);

    for instance in ["a~b", "a-", "-a", "aéb", "a b", "a/b", &long] {
        let error = order(instance, "", Value::Null).await.unwrap_err().to_string();
        assert!(error.starts_with("instance_id must have at most 63"), "{instance}: {error}");
    }
    for field in ["globalaccount_id", "subaccount_id"] {
        for id in ["aéb", "a:b", "a'b", "-a", &long] {
            let error = order("i-1", field, json!(id)).await.unwrap_err().to_string();
            assert!(error.starts_with(&format!("context.{field} must have")), "{id}: {error}");
        }
    }
    for user in ["a\nb".to_owned(), "x".repeat(256)] {
        let error = order("i-1", "user_id", json!(user)).await.unwrap_err().to_string();
        assert!(error.starts_with("context.user_id "), "{error}");
    }
    let error = order("i-1", "origin", json!("x".repeat(5_000))).await.unwrap_err().to_string();
    assert!(error.starts_with("context.origin "), "{error}");
    assert_eq!(world.operations().await, 0);
}

pub(crate) async fn a_cluster_that_an_order_brings_has_no_kubeconfig_of_ours(world: World) {
    let own = world.broker.parts().catalog.plan_named("own_cluster").unwrap().id().to_owned();
    let kubeconfig = "{apiVersion: v1, kind: Config, current-context: a, \
        clusters: [{name: a, cluster: {server: 'https://api.dev.test'}}], \
        contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {token: t}}]}";
    let mut order = request("i-1", &own);
    order.parameters = Some(json!({
        "name": "dev", "kubeconfig": BASE64_STANDARD.encode(kubeconfig), "shootName": "theirs",
        "shootDomain": "theirs.example.test",
    }));

    let accepted = world.broker.provision(&Caller::default(), order).await.unwrap();

    assert_eq!(accepted.labels["Name"], "dev");
    assert_eq!(accepted.labels.get("KubeconfigURL"), None);
}

pub(crate) async fn the_plan_of_the_older_documents_takes_what_it_can_provision(world: World) {
    let parts = world.broker.parts();
    let older = |service_manager| {
        let legacy = Some(LegacyNeeds { service_manager });
        Broker::new(Parts {
            store: parts.store.clone(),
            operations: parts.operations.clone(),
            shapes: parts.shapes.clone(),
            catalog: parts.catalog.clone(),
            offer: parts.offer.clone(),
            accounts: None,
            settings: Settings { legacy, ..parts.settings.clone() },
            clock: parts.clock.clone(),
        })
    };
    let mut without = context("ga-1");
    without["sm_operator_credentials"] = Value::Null;
    let own = parts.catalog.plan_named("own_cluster").unwrap().id().to_owned();
    let order = async |broker: &Broker, plan: &str, context: &Value| {
        let request = Provision { context: Some(context.clone()), ..request("i-1", plan) };
        broker.provision(&Caller::default(), request).await
    };

    let brought = order(&older(false), &own, &context("ga-1")).await.unwrap_err().to_string();
    let bare = order(&older(true), AWS, &without).await.unwrap_err().to_string();

    assert!(brought.starts_with("own_cluster cannot be ordered"), "{brought}");
    assert!(bare.starts_with("context.sm_operator_credentials is needed"), "{bare}");
    assert!(order(&older(false), AWS, &without).await.is_ok());
}
