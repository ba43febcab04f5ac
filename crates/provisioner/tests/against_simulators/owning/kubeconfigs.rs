//! Kubeconfigs of a runtime's own Shoot: kept while they last, replaced before they end.

use std::time::Duration;

use provisioner::status::{OperationStatus, StatusFields};
use secrecy::ExposeSecret;
use simulators::ledger::Filter;
use uuid::Uuid;

use super::target;
use crate::world::{World, aws, caller};

/// How often a kubeconfig was asked for.
pub(super) fn kubeconfigs(world: &World) -> usize {
    let all = world.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
    all.iter().filter(|one| one.about.route.contains("adminkubeconfig")).count()
}

/// The stored kubeconfig ends within the margin.
pub(super) async fn ends_soon(world: &World, made: &OperationStatus) -> String {
    let store = &world.provisioner.parts().store;
    let id: Uuid = made.runtime_id.parse().unwrap();
    let mut kept = store.find(id).await.unwrap().unwrap().kubeconfig.unwrap();
    kept.until = world.landscape.clock.now() + Duration::from_mins(5);
    store.save_kubeconfig(id, &kept).await.unwrap();
    kept.text.expose_secret().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_that_ends_within_the_margin_is_replaced() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("margin")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let good =
        provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap().kubeconfig;
    let kept = ends_soon(&world, &made).await;

    let status = provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap();

    assert_eq!(good.as_deref(), Some(kept.as_str()), "one that lasts is not replaced");
    assert_ne!(status.kubeconfig.as_deref(), Some(kept.as_str()));
    let row = provisioner.parts().store.find(id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(row.kubeconfig.unwrap().text.expose_secret(), status.kubeconfig.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_takes_the_stored_kubeconfig_while_it_lasts_and_a_new_one_when_it_asks_for_it() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("steps")).await;
    let target = target(&made, "steps");
    let taken = async |renew: bool| {
        let now = world.landscape.clock.now();
        let taken = world.env().kubeconfig(&target, now, renew).await.unwrap();
        taken.expose_secret().to_owned()
    };

    let first = taken(false).await;
    let again = taken(false).await;
    let renewed = taken(true).await;
    let after = taken(false).await;
    let ending = ends_soon(&world, &made).await;
    let replaced = taken(false).await;

    assert_eq!(again, first);
    assert_ne!(renewed, first, "it was asked for");
    assert_eq!([&after, &ending], [&renewed, &renewed], "it is stored");
    assert_ne!(replaced, ending);
}
