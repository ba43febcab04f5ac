//! A whole life with both steps: everything that the broker does, and a greeting.

use broker::{
    Details,
    operations::{Limits, deprovisioning},
};
use serde_json::json;

use super::{hello_world::KEPT_AS, plans, service::Service};
use crate::{
    made::{Broker, Plans},
    orders::Wish,
    outside::Outside,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_greeting_is_stored_its_token_reaches_kyma_as_a_secret_and_it_goes_with_the_instance() {
    let (outside, service) = (Outside::start(&["aws"], 1).await, Service::start(false).await);
    let (clock, env) = (outside.clock.clone(), outside.env(&outside.clock).await);
    let plans = Plans {
        provisioning: plans::making(&Limits::default(), &env, service.client(&clock)),
        deprovisioning: plans::removing(
            &deprovisioning::Limits::default(),
            &env,
            service.client(&clock),
        ),
    };
    let broker = Broker::serving(&outside, env, plans).await;

    let made = broker.provision(&outside, &Wish::aws("hello")).await.completed();

    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let kept: Details = serde_json::from_slice(&row.details).unwrap();
    assert_eq!(kept.others[KEPT_AS], json!("hello, instance-hello"));
    assert_eq!(made.details.others, kept.others);
    assert!(!String::from_utf8_lossy(&made.snapshot.data).contains("token of"));
    let told = outside.objects("reconciler").into_iter().find(|it| it.id == made.runtime());
    let components = told.unwrap().value["kyma"]["components"].take();
    // The landscape does not show what was marked as a secret.
    let token = json!({"key": "greeting.token", "value": "[REDACTED]", "secret": true});
    let settings = components[0]["configuration"].as_array().unwrap();
    assert!(settings.contains(&token), "{settings:?}");

    broker.deprovision(&made.order).await.completed();

    assert_eq!(service.greeted(), Vec::<String>::new());
    assert!(broker.store.find(&made.order.instance_id).await.unwrap().is_none());
}
