//! Changes of a runtime that works, one after the other.

use broker::{
    ContextChange, Details, Order,
    instances::Caller,
    operations::update::{self, Input},
    runtimes::RuntimesQuery,
};
use domain::{parameters::Update, plan};
use engine::State;
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};

use super::{
    change_of_everything, to_azure,
    trying::{azure_lite, operator, plan_seen, shoot},
};
use crate::{
    orders::{OrderSpec, own_cluster},
    outside::Outside,
    service::PROJECT,
    suspension::use_cases,
    test_broker::{Broker, EndedOperation},
    upgrading::{KUBERNETES, cluster},
};

async fn stored(broker: &Broker, instance: &str) -> Order {
    let row = broker.store.find(instance).await.unwrap().unwrap();
    serde_json::from_slice(&row.order).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_reaches_the_shoot_the_reconciler_and_the_row() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("change")).await.succeeded();

    Box::pin(broker.update(change_of_everything(made.order.clone()))).await.completed();

    assert_eq!(shoot(&outside, &made.order.shoot_name), json!(["m6i.2xlarge", 4, 9]));
    assert_eq!(operator(&outside, &made.runtime()), json!("https://other.example.test"));
    let order = stored(&broker, &made.order.instance_id).await;
    assert_eq!(order.parameters.machine_type.as_deref(), Some("m6i.2xlarge"));
    assert_eq!(order.parameters.auto_scaler_max, Some(9));
    assert_eq!(order.context.license_type.as_deref(), Some("PARTNER"));
    assert!(order.resolved.network_filter_disabled);
    let oidc = order.resolved.cluster.unwrap().oidc;
    assert_eq!((&*oidc.client_id, &*oidc.groups_claim), ("new-client", "groups"));
    let runtime = made.details.runtime_id.unwrap();
    let sent = broker.store.latest_runtime_state(runtime, Some("cluster-config")).await;
    let sent: Value = serde_json::from_slice(&sent.unwrap().unwrap().payload).unwrap();
    assert_eq!(sent["clusterConfig"]["gardenerConfig"]["autoScalerMax"], 9);
    assert_eq!(
        sent["clusterConfig"]["administrators"],
        json!(["ada@example.test", "bo@example.test"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_type_alone_is_stored_and_the_list_tells_the_present_cluster() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("machine")).await.succeeded();
    let told = async || {
        let instances = vec![made.order.instance_id.clone()];
        let ask = RuntimesQuery { instances, cluster_config: true, ..RuntimesQuery::default() };
        let caller = Caller { any_tenant: true, ..Caller::default() };
        let page = use_cases(&outside, &broker).runtimes(&caller, &ask).await.unwrap();
        let config = page.data[0].cluster_config.clone().unwrap();
        json!([config["machineType"], config["autoScalerMax"], config["kubernetesVersion"]])
    };
    let before = shoot(&outside, &made.order.shoot_name);
    let ordered = told().await;
    assert_eq!([&ordered[0], &ordered[1]], [&before[0], &before[2]]);
    let change = Input {
        order: made.order.clone(),
        parameters: Update { machine_type: Some("m6i.2xlarge".into()), ..Update::default() },
        context: ContextChange::default(),
        plan_id: None,
    };

    Box::pin(broker.update(change)).await.completed();

    let expected = json!(["m6i.2xlarge", before[1], before[2]]);
    assert_eq!(shoot(&outside, &made.order.shoot_name), expected);
    let order = stored(&broker, &made.order.instance_id).await;
    assert_eq!(order.parameters.machine_type.as_deref(), Some("m6i.2xlarge"));
    assert_eq!(told().await, json!(["m6i.2xlarge", before[2], ordered[2]]));
    Box::pin(broker.upgrade_cluster(cluster(order))).await.completed();
    assert_eq!(told().await, json!(["m6i.2xlarge", before[2], KUBERNETES]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_gardener_refuses_fails_and_nothing_of_it_is_stored() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("abacus")).await.succeeded();
    let parameters = Update {
        machine_type: Some("abacus".into()),
        auto_scaler_max: Some(7),
        ..Update::default()
    };
    let context = ContextChange::default();

    let ended = Box::pin(broker.update(Input {
        order: made.order.clone(),
        parameters,
        context,
        plan_id: None,
    }))
    .await;

    assert_eq!(ended.snapshot.state, State::Failed);
    assert_eq!(stored(&broker, &made.order.instance_id).await, made.order);
    let parameters = Update { auto_scaler_max: Some(8), ..Update::default() };
    let context = ContextChange::default();
    Box::pin(broker.update(Input {
        order: made.order.clone(),
        parameters,
        context,
        plan_id: None,
    }))
    .await
    .completed();
    let order = stored(&broker, &made.order.instance_id).await;
    assert_eq!((order.parameters.machine_type, order.parameters.auto_scaler_max), (None, Some(8)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_no_longer_fits_what_is_stored_fails_with_both_numbers() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("bounds")).await.succeeded();
    let change = |parameters| Input {
        order: made.order.clone(),
        parameters,
        context: ContextChange::default(),
        plan_id: None,
    };
    let most = Update { auto_scaler_max: Some(5), ..Update::default() };
    Box::pin(broker.update(change(most))).await.completed();

    let ended =
        Box::pin(broker.update(change(Update { auto_scaler_min: Some(6), ..Update::default() })))
            .await;

    assert_eq!(ended.snapshot.state, State::Failed);
    let failure = ended.snapshot.failure.unwrap().message;
    assert!(
        failure.starts_with("AutoScalerMax 5 should be larger than AutoScalerMin 6"),
        "{failure}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_was_brought_along_gets_another_kubeconfig() {
    let outside = Outside::start(&["aws"], 1).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();
    let broker = Broker::start(&outside).await;
    let wish = own_cluster("brought", "theirs", &kubeconfig);
    let made = broker.provision(&outside, &wish).await.succeeded();
    let reconciled = || {
        let all = outside.objects("reconciler");
        all.iter().find(|it| it.id == made.runtime()).unwrap().value["version"].as_i64().unwrap()
    };
    let before = reconciled();
    let again = format!("{kubeconfig}\n# again\n");
    let parameters = Update { kubeconfig: Some(again.clone().into()), ..Update::default() };
    let context = ContextChange::default();

    let ended = Box::pin(broker.update(Input {
        order: made.order.clone(),
        parameters,
        context,
        plan_id: None,
    }))
    .await;

    ended.completed();
    let order = stored(&broker, &made.order.instance_id).await;
    assert_eq!(order.parameters.kubeconfig.unwrap().expose(), again);
    let runtime = made.details.runtime_id.unwrap();
    let sent = broker.store.latest_runtime_state(runtime, Some("cluster-setup")).await;
    let sent: Value = serde_json::from_slice(&sent.unwrap().unwrap().payload).unwrap();
    assert_eq!(sent["kubeconfig"], again);
    assert_eq!(reconciled(), before + 1, "the Reconciler has got it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_runtime_that_changes_to_a_managed_plan_is_of_its_kind() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let wish = OrderSpec {
        plan: "free",
        region: "cf-eu10",
        parameters: json!({"name": "Free"}),
        mark: "freed".into(),
        account: None,
    };
    let made = broker.provision(&outside, &wish).await.succeeded();
    assert_eq!(made.order.plan_kind, plan::Kind::Free);
    let aws = outside.catalog.plan_named("aws").unwrap();

    Box::pin(broker.update(Input {
        order: made.order.clone(),
        parameters: Update::default(),
        context: ContextChange::default(),
        plan_id: Some(aws.id().to_owned()),
    }))
    .await
    .completed();

    let order = stored(&broker, &made.order.instance_id).await;
    assert_eq!((&*order.plan_name, order.plan_kind), ("aws", plan::Kind::Managed));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_plan_reaches_the_shoot_the_reconciler_edp_the_kyma_resource_and_the_row() {
    let outside = Outside::start(&["azure"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &azure_lite("grown")).await.succeeded();
    let runtime = made.runtime();
    assert_eq!(shoot(&outside, &made.order.shoot_name), json!(["Standard_D4_v3", 2, 10]));

    Box::pin(broker.update(to_azure(&outside, made.order.clone()))).await.completed();

    assert_eq!(shoot(&outside, &made.order.shoot_name), json!(["Standard_D4_v3", 3, 10]));
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    assert_eq!(row.plan_name, "azure");
    let order = stored(&broker, &made.order.instance_id).await;
    assert_eq!((&*order.plan_id, &*order.plan_name), (&*row.plan_id, "azure"));
    assert_eq!(order.resolved.licence_type, None);
    assert_eq!(
        plan_seen(&outside, &made.order, &runtime),
        json!(["azure", "Production", ["standard"], "azure"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_a_failed_change_has_left_in_other_systems_is_replaced_by_the_next_change() {
    let outside = Outside::start(&["azure"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &azure_lite("halfway")).await.succeeded();
    let seen = || plan_seen(&outside, &made.order, &made.runtime());
    let (before, nodes) = (seen(), shoot(&outside, &made.order.shoot_name));
    let refusal = Kind::Status { status: 422, body: None };
    outside.meet(Rule::next(1_000_000, refusal).from_step("Update_Kyma_Resource"));
    let failed = Box::pin(broker.update(to_azure(&outside, made.order.clone()))).await;
    outside.calm();
    assert_eq!(failed.snapshot.state, State::Failed, "{:#?}", failed.journal);
    assert_eq!(seen(), json!(["azure", "Production", ["standard"], "azure_lite"]));

    let change = || Input {
        order: made.order.clone(),
        parameters: Update {
            administrators: Some(vec!["ada@example.test".into()]),
            ..Update::default()
        },
        context: ContextChange::default(),
        plan_id: None,
    };
    let restoring = Box::pin(broker.update(change())).await.completed();

    assert_eq!(seen(), before);
    assert_eq!(shoot(&outside, &made.order.shoot_name), nodes);
    assert_eq!(stored(&broker, &made.order.instance_id).await.plan_name, "azure_lite");
    let restores = |ended: &EndedOperation| {
        let data: Value = serde_json::from_slice(&ended.snapshot.data).unwrap();
        data["restores_plan"] == true
    };
    assert!(restores(&restoring));
    assert!(!restores(&Box::pin(broker.update(change())).await.completed()), "it is done once");
}

/// An order of the plan free, which can change to azure.
fn free(mark: &str) -> OrderSpec<'static> {
    OrderSpec {
        plan: "free",
        parameters: json!({"name": "Free", "region": "westeurope"}),
        ..azure_lite(mark)
    }
}

/// What the cluster is for.
fn purpose(outside: &Outside, order: &Order) -> Value {
    let (namespace, name) = (format!("garden-{PROJECT}"), &order.shoot_name);
    let shoot = outside.in_cluster("garden", "shoots.core.gardener.cloud", &namespace, name);
    shoot.unwrap()["spec"]["purpose"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_plan_that_the_release_before_has_ordered_is_ordered_in_the_same_words() {
    let outside = Outside::start(&["azure"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &free("begun")).await.succeeded();
    let azure = outside.catalog.plan_named("azure").unwrap();
    let mut order = made.order.clone();
    outside.catalog.move_to(azure, &mut order.parameters, &mut order.resolved);
    order.plan_name = "azure".into();
    order.plan_kind = azure.kind();
    order.plan_id = azure.id().into();
    let details = Details { target_operation_id: None, ..made.details.clone() };
    // As the first step of that release has stored it.
    let begun = update::Data { order: Some(order), details, ..update::Data::default() };

    let change = broker.begin_update_knowing(to_azure(&outside, made.order.clone()), begun).await;
    let ended = broker.end_of(change).await;

    assert_eq!(ended.state, State::Succeeded, "{:?}", ended.failure);
    assert_eq!(stored(&broker, &made.order.instance_id).await.plan_name, "azure");
    assert_eq!(purpose(&outside, &made.order), "evaluation", "the order did not name it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_cluster_is_no_evaluation_any_more_once_its_plan_is_another() {
    let outside = Outside::start(&["azure"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &free("paid")).await.succeeded();
    let purpose = || purpose(&outside, &made.order);
    let before = purpose();

    Box::pin(broker.update(to_azure(&outside, made.order.clone()))).await.completed();

    assert_eq!((before, purpose()), (json!("evaluation"), json!("development")));
    let cluster = stored(&broker, &made.order.instance_id).await.resolved.cluster;
    assert_eq!(cluster.unwrap().purpose, "development");
}
