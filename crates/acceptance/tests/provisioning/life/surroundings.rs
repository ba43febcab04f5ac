//! Orders in other surroundings: a garden of today, and systems that one can do without.

use broker::{
    ContextChange,
    operations::{Env, ProvisioningLimits, update::Input},
};
use domain::parameters::{Oidc, Update};
use simulators::garden::Version;

use super::wishes;
use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker, view::View};

/// The issuers of the users of a runtime, as the garden has them.
fn issuers(outside: &Outside, runtime: &str) -> Option<String> {
    let name = format!("kcp-oidc-{runtime}");
    let maps = outside.running.clusters().server().list("garden", "configmaps");
    let map = maps.iter().find(|map| map["metadata"]["name"] == *name)?;
    Some(map["data"]["config.yaml"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_every_plan_is_changed_and_removed_on_a_garden_of_today() {
    assert_eq!(Version::default(), Version::V1_117, "what the landscape plays");
    let outside = Outside::start(&["aws", "azure", "gcp", "openstack"], 3).await;
    let broker = Broker::start(&outside).await;
    let issuer = "https://people.example.test";

    for wish in wishes() {
        let made = broker.provision(&outside, &wish).await.completed();
        let ordered = issuers(&outside, &made.runtime()).unwrap();
        assert!(!ordered.contains(issuer), "{}: {ordered}", wish.plan);
        let oidc =
            Oidc { client_id: "people".into(), issuer_url: issuer.into(), ..Oidc::default() };
        let change = Input {
            order: made.order.clone(),
            parameters: Update { oidc: Some(oidc), ..Update::default() },
            context: ContextChange::default(),
            plan_id: None,
        };
        Box::pin(broker.update(change)).await.completed();
        let changed = issuers(&outside, &made.runtime()).unwrap();
        assert!(changed.contains(issuer), "{}: {changed}", wish.plan);

        broker.deprovision(&made.order).await.completed();
        assert_eq!(issuers(&outside, &made.runtime()), None, "{}", wish.plan);
        let left = View::of(&outside, &broker.store, &made.order).left().await;
        assert_eq!(left, Vec::<String>::new(), "{}", wish.plan);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_and_its_removal_work_without_the_systems_that_one_can_do_without() {
    let outside = Outside::start(&["aws"], 1).await;
    let env = outside.env(&outside.clock).await;
    let env = Env { avs: None, edp: None, ias: None, director: None, ..env };
    let broker = Broker::with(&outside, env, ProvisioningLimits::default()).await;

    let made = broker.provision(&outside, &OrderSpec::aws("bare")).await.completed();
    let removed = broker.deprovision(&made.order).await.completed();

    assert!(removed.snapshot.incomplete.is_empty(), "{:?}", removed.snapshot.incomplete);
    for system in ["avs", "edp", "ias"] {
        assert!(outside.changes().iter().all(|(_, of, _)| of != system), "{system}");
    }
    let left = View::of(&outside, &broker.store, &made.order).left().await;
    assert_eq!(left, Vec::<String>::new());
}
