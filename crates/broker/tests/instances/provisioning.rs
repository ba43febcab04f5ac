//! Orders: checked, resolved, stored with their operation.

use broker::{
    Order,
    instances::{Caller, Error, Provision},
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

pub(crate) async fn what_was_ordered_stands_in_the_input_with_whoever_asked(world: World) {
    let caller = Caller {
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
        let error = world.broker.provision(&Caller::default(), request).await.unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error} instead of {expected}");
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
