//! The event data platform as a whole: registering and taking off, again and again, whatever is there.

use clients::{
    Kind,
    edp::{KEYS, Metadata, Tenant},
};
use serde_json::{Value, json};
use simulators::trouble;

use super::world::{World, lost, off, on};

fn tenant() -> Tenant {
    Tenant::of_subaccount("SA-1")
}

fn metadata() -> [Metadata; 4] {
    tenant().metadata("cf-eu10", "aws")
}

async fn kept(world: &World) -> Vec<Value> {
    world.objects("edp", "tenant").await.into_iter().map(|tenant| tenant["value"].clone()).collect()
}

fn whole() -> Value {
    json!({
        "namespace": "kcp", "name": "sa-1", "environment": "dev",
        "metadata": {
            "maasConsumerEnvironment": "CF",
            "maasConsumerRegion": "cf-eu10",
            "maasConsumerServicePlan": "standard",
            "maasConsumerSubAccount": "sa-1",
        },
    })
}

#[tokio::test]
async fn an_account_is_registered_and_taken_off_however_it_is_spelt() {
    let world = World::new().await;
    let edp = world.place().edp();

    edp.register(&tenant(), &metadata()).await.unwrap();
    assert_eq!(kept(&world).await, [whole()]);
    let listed = edp.metadata(&tenant()).await.unwrap();
    assert_eq!(listed.len(), KEYS.len());

    let lower = Tenant::of_subaccount("sa-1");
    edp.deregister(&lower).await.unwrap();
    edp.deregister(&lower).await.unwrap();
    assert_eq!(kept(&world).await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_is_registered_already_is_kept() {
    let world = World::new().await;
    let edp = world.place().edp();
    edp.register(&tenant(), &metadata()).await.unwrap();
    let before = world.running.landscape.ledger().sums("edp").applied;

    edp.register(&tenant(), &metadata()).await.unwrap();

    assert_eq!(kept(&world).await, [whole()]);
    assert_eq!(world.running.landscape.ledger().sums("edp").applied, before);
}

#[tokio::test]
async fn every_answer_may_be_lost_and_the_end_is_the_same() {
    for call in 0..5 {
        let world = World::new().await;
        let edp = world.place().edp();
        let path = "/edp/namespaces/kcp/dataTenants";
        // The calls before the one in question pass.
        if call > 0 {
            world.trouble("edp", call, trouble::Kind::Slow { delay_ms: 0 });
        }
        world.trouble_on("POST", path, lost());

        let first = edp.register(&tenant(), &metadata()).await;
        assert_eq!(first.unwrap_err().kind, Kind::AnswerLost);
        edp.register(&tenant(), &metadata()).await.unwrap();
        assert_eq!(kept(&world).await, [whole()], "call {call}");

        if call > 0 {
            world.trouble("edp", call, trouble::Kind::Slow { delay_ms: 0 });
        }
        world.trouble_on("DELETE", path, lost());
        assert_eq!(edp.deregister(&tenant()).await.unwrap_err().kind, Kind::AnswerLost);
        edp.deregister(&tenant()).await.unwrap();
        assert_eq!(kept(&world).await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_wrong_value_is_replaced_and_the_others_stay() {
    let world = World::new().await;
    let edp = world.place().edp();
    edp.register(&tenant(), &tenant().metadata("cf-us10", "aws")).await.unwrap();
    let before = world.received("edp").len();

    edp.register(&tenant(), &metadata()).await.unwrap();

    assert_eq!(kept(&world).await, [whole()]);
    let calls = world.received("edp").split_off(before);
    let of = |method: &str| calls.iter().filter(|line| line.starts_with(method)).count();
    assert_eq!((of("GET"), of("DELETE"), of("POST")), (1, 1, 6));
}

#[tokio::test]
async fn a_conflict_without_end_is_given_up_after_one_replacement() {
    let world = World::new().await;
    let edp = world.place().edp();
    edp.create_tenant(&tenant()).await.unwrap();
    world.order("edp", "conflict-always", on()).await;
    let before = world.received("edp").len();

    let error = edp.register(&tenant(), &metadata()).await.unwrap_err();

    assert_eq!(error.kind, Kind::Changed, "worth another try, but not in this call");
    // Tenant, key, look, delete, key.
    assert_eq!(world.received("edp").len() - before, 5);
    world.order("edp", "conflict-always", off()).await;
    edp.register(&tenant(), &metadata()).await.unwrap();
    assert_eq!(kept(&world).await, [whole()]);
}

#[tokio::test]
async fn only_created_means_created() {
    let world = World::new().await;
    world.order("edp", "answer-200", on()).await;

    let error = world.place().edp().create_tenant(&tenant()).await.unwrap_err();

    assert_eq!(error.kind, Kind::Refused { status: 200 });
}

#[tokio::test]
async fn metadata_of_a_tenant_that_is_not_there_is_refused() {
    let world = World::new().await;
    let edp = world.place().edp();

    let error = edp.create_metadata(&tenant(), &metadata()[0]).await.unwrap_err();

    assert_eq!(error.kind, Kind::NotFound);
    assert_eq!(edp.metadata(&tenant()).await.unwrap_err().kind, Kind::NotFound);
    edp.delete_metadata(&tenant(), KEYS[0]).await.unwrap();
}

#[tokio::test]
async fn metadata_goes_before_its_tenant() {
    let world = World::new().await;
    world.order("edp", "keep-tenants-with-metadata", on()).await;
    let edp = world.place().edp();
    edp.register(&tenant(), &metadata()).await.unwrap();

    assert_eq!(edp.delete_tenant(&tenant()).await.unwrap_err().kind, Kind::Conflict);
    edp.deregister(&tenant()).await.unwrap();

    assert_eq!(kept(&world).await, Vec::<Value>::new());
}
