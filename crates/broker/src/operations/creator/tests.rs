//! From an order to the provisioner's input and the Reconciler's payload, field by field.

use clients::provisioner::DnsProvider;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::*;
use crate::{
    Context,
    catalog::{Catalog, Offer, Orderer, Request},
};

/// An order of a plan as the catalog resolves it.
fn order(plan: &str, region: &str, parameters: &Value) -> Order {
    let catalog = Catalog::embedded().unwrap();
    let offer = Offer {
        plans: catalog.plans().iter().map(|plan| plan.name().to_owned()).collect(),
        additional_parameters: true,
        ..Offer::default()
    };
    let (plan, place) = (catalog.plan_named(plan).unwrap(), catalog.place(Some(region)));
    let request = Request { place: &place, global_account: "ga", parameters: Some(parameters) };
    let accepted = catalog.check_provision(&offer, plan, &request).unwrap();
    let orderer = Orderer { user_id: "Jo@x.test", license_type: Some("CUSTOMER") };
    let resolved = catalog.resolve(plan, &place, &accepted.parameters, &orderer, [7; 16]).unwrap();
    Order {
        instance_id: "instance-1".into(),
        service_id: catalog.service_id().into(),
        plan_id: plan.id().into(),
        plan_name: plan.name().into(),
        plan_kind: plan.kind(),
        platform_region: region.into(),
        platform_provider: place.provider,
        context: Context {
            subaccount_id: "sa".into(),
            globalaccount_id: "ga".into(),
            user_id: "jo@x.test".into(),
            ..Context::default()
        },
        parameters: accepted.parameters,
        resolved,
        shoot_name: "c-1234567".into(),
        shoot_domain: "c-1234567.kyma.test".into(),
        dashboard_url: "https://dashboard.test".into(),
        subscription_account: None,
        context_revisions: crate::ContextRevisions::default(),
    }
}

fn component(name: &str) -> ListedComponent {
    ListedComponent { name: name.into(), namespace: "kyma-system".into(), url: None }
}

fn creator(order: &Order, components: &[&str]) -> Creator {
    let plan = PlanConfiguration { additional_components: Vec::new(), kyma_template: None };
    Creator::new(order, "2.10.0", components.iter().map(|name| component(name)).collect(), plan)
}

fn input(order: &Order) -> Value {
    let dns = [DnsProvider {
        domains_include: vec!["kyma.test".into()],
        primary: true,
        secret_name: "dns".into(),
        kind: "aws-route53".into(),
    }];
    let place =
        ProvisionTarget { name: "demo-abcde", target_secret: "account", dns_providers: &dns };
    let mut creator = creator(order, &[]);
    creator.label("broker_instance_id", "instance-1");
    serde_json::to_value(creator.provision(order, place).unwrap()).unwrap()
}

fn payload(creator: &Creator, order: &Order) -> Result<Value, CreatorError> {
    let kubeconfig = SecretString::from("kubeconfig");
    let cluster = creator.cluster(order, "runtime-1", "demo-abcde", &kubeconfig)?;
    Ok(serde_json::to_value(cluster).unwrap())
}

#[test]
fn an_order_on_aws_is_sent_with_every_field() {
    let order = order(
        "aws",
        "cf-eu10",
        &json!({
            "name": "demo", "region": "eu-central-1", "zones": ["eu-central-1a"], "machineType": "m5.2xlarge",
            "autoScalerMin": 4, "autoScalerMax": 6, "administrators": ["ada@x.test"],
        }),
    );

    let input = input(&order);

    assert_eq!(
        input["runtimeInput"],
        json!({
            "name": "demo-abcde", "labels": {"broker_instance_id": "instance-1"},
        })
    );
    assert_eq!(input["clusterConfig"]["administrators"], json!(["ada@x.test"]));
    assert!(input.get("kymaConfig").is_none());
    assert_eq!(
        input["clusterConfig"]["gardenerConfig"],
        json!({
            "name": "c-1234567",
            "provider": "aws",
            "targetSecret": "account",
            "region": "eu-central-1",
            "workerCidr": "10.250.0.0/16",
            "providerSpecificConfig": {"awsConfig": {"vpcCidr": "10.250.0.0/16", "awsZones": [{
                "name": "eu-central-1a", "workerCidr": "10.250.0.0/19", "publicCidr": "10.250.32.0/20",
                "internalCidr": "10.250.48.0/20",
            }]}},
            "kubernetesVersion": "1.32.4",
            "machineType": "m5.2xlarge",
            "machineImage": "gardenlinux",
            "diskType": "gp2",
            "volumeSizeGB": 50,
            "autoScalerMin": 4,
            "autoScalerMax": 6,
            "maxSurge": 1,
            "maxUnavailable": 0,
            "purpose": "development",
            "enableKubernetesVersionAutoUpdate": false,
            "enableMachineImageVersionAutoUpdate": false,
            "dnsConfig": {"domain": "c-1234567.kyma.test", "providers": [{
                "domainsInclude": ["kyma.test"], "primary": true, "secretName": "dns", "type": "aws-route53",
            }]},
            "oidcConfig": {
                "clientID": "kyma-runtime", "groupsClaim": "groups", "issuerURL": "https://issuer.example.test",
                "signingAlgs": ["RS256"], "usernameClaim": "sub", "usernamePrefix": "-",
            },
            "shootNetworkingFilterDisabled": true,
            "euAccess": false,
        })
    );
}

#[test]
fn each_provider_is_told_what_only_it_asks_for() {
    let specific = |plan: &str, region: &str, parameters: Value| {
        let input = input(&order(plan, region, &parameters));
        input["clusterConfig"]["gardenerConfig"]["providerSpecificConfig"].clone()
    };

    let azure =
        specific("azure", "cf-eu20", json!({"name": "a", "region": "westeurope", "zones": ["2"]}));
    let gcp = specific("gcp", "cf-eu30", json!({"name": "a", "region": "europe-west3"}));
    let openstack = specific("openstack", "cf-eu10", json!({"name": "a", "region": "eu-de-1"}));

    assert_eq!(azure["azureConfig"]["vnetCidr"], "10.250.0.0/16");
    assert_eq!(azure["azureConfig"]["enableNatGateway"], true);
    assert_eq!(azure["azureConfig"]["azureZones"][0]["name"], 2);
    assert_eq!(gcp["gcpConfig"]["zones"].as_array().map(Vec::len), Some(1));
    assert_eq!(openstack["openStackConfig"]["loadBalancerProvider"], "f5");
    assert_eq!(openstack["openStackConfig"]["cloudProfileName"], "converged-cloud-cp");
    assert_eq!(openstack["openStackConfig"]["floatingPoolName"], "FloatingIP-external-cp-kyma");
}

#[test]
fn licences_go_with_the_plans_that_have_one() {
    let licence = |plan: &str, region: &str, parameters: Value| {
        let input = input(&order(plan, region, &parameters));
        input["clusterConfig"]["gardenerConfig"]["licenceType"].clone()
    };

    assert_eq!(licence("trial", "cf-eu10", json!({"name": "a"})), "TestDevelopmentAndDemo");
    assert_eq!(
        licence("gcp", "cf-eu30", json!({"name": "a", "region": "europe-west3"})),
        Value::Null
    );
}

#[test]
fn every_component_gets_the_domain_then_the_global_overrides_then_its_own() {
    let order = order("aws", "cf-eu10", &json!({"name": "demo", "region": "eu-central-1"}));
    let mut creator = creator(&order, &["istio", "logging"]);
    creator.overrides().set(None, "global.level", "info", false);
    creator.overrides().set(Some("logging"), "password", "hush", true);
    creator.overrides().set(Some("logging"), "global.level", "true", false);

    let payload = payload(&creator, &order).unwrap();

    let domain =
        json!({"key": "global.domainName", "value": "c-1234567.kyma.test", "secret": false});
    let components = &payload["kymaConfig"]["components"];
    assert_eq!(
        components[0]["configuration"],
        json!([
            domain, {"key": "global.level", "value": "info", "secret": false},
        ])
    );
    assert_eq!(
        components[1]["configuration"],
        json!([
            domain,
            {"key": "global.level", "value": true, "secret": false},
            {"key": "password", "value": "hush", "secret": true},
        ])
    );
    assert_eq!(
        payload["metadata"],
        json!({
            "globalAccountID": "ga", "subAccountID": "sa", "serviceID": order.service_id,
            "servicePlanID": order.plan_id, "servicePlanName": "aws", "shootName": "c-1234567",
            "instanceID": "instance-1", "region": "eu-central-1",
        })
    );
    assert_eq!(payload["kymaConfig"]["profile"], "Production");
}

#[test]
fn an_operator_without_all_of_its_credentials_is_not_sent() {
    let order = order("aws", "cf-eu10", &json!({"name": "demo", "region": "eu-central-1"}));
    let mut creator = creator(&order, &[BTP_OPERATOR]);
    creator.disable(BTP_OPERATOR);
    assert!(payload(&creator, &order).is_ok());

    creator.enable(BTP_OPERATOR);
    let keys = ["clientid", "clientsecret", "url", "sm_url", "tokenurl"];
    for key in keys {
        creator.overrides().set(Some(BTP_OPERATOR), &format!("manager.secret.{key}"), "x", true);
    }
    creator.overrides().set(Some(BTP_OPERATOR), "manager.priorityClassName", "kyma-system", false);
    creator.overrides().set(Some(BTP_OPERATOR), "cluster.id", "", false);

    assert_eq!(payload(&creator, &order), Err(CreatorError::Operator("cluster.id")));
}

#[test]
fn plans_do_without_what_they_cannot_use_and_orders_name_what_they_want() {
    let all =
        ["backup", "kiali", "tracing", "nats-streaming", "knative-eventing-kafka", "connectivity"];
    let names = |plan: &str, region: &str, parameters: Value| {
        let order = order(plan, region, &parameters);
        let creator = creator(&order, &all);
        creator.wanted().map(|component| component.name.clone()).collect::<Vec<_>>()
    };

    let aws = json!({"name": "a", "region": "eu-central-1", "components": ["Kiali"]});
    let azure = json!({"name": "a", "region": "westeurope"});
    assert_eq!(names("aws", "cf-eu10", aws), ["kiali", "nats-streaming", "connectivity"]);
    assert_eq!(names("azure", "cf-eu20", azure), ["knative-eventing-kafka", "connectivity"]);
    assert_eq!(names("trial", "cf-eu10", json!({"name": "a"})), ["nats-streaming", "connectivity"]);
}

#[test]
fn with_event_hubs_what_consumes_them_is_installed_on_every_provider_and_nats_is_not() {
    let all = [
        "nats-streaming",
        "knative-provisioner-natss",
        "knative-eventing-kafka",
        "knative-eventing",
    ];
    for (plan, platform, region) in [
        ("aws", "cf-eu10", Some("eu-central-1")),
        ("azure", "cf-eu20", Some("westeurope")),
        ("gcp", "cf-eu30", Some("europe-west3")),
        ("openstack", "cf-eu10", Some("eu-de-1")),
        ("free", "cf-eu10", Some("eu-central-1")),
        ("trial", "cf-eu10", None),
    ] {
        let mut parameters = json!({"name": "a"});
        if let Some(region) = region {
            parameters["region"] = region.into();
        }
        let order = order(plan, platform, &parameters);
        let mut creator = creator(&order, &all);
        creator.use_event_hubs();

        let names: Vec<_> = creator.wanted().map(|component| component.name.as_str()).collect();
        assert_eq!(names, ["knative-eventing-kafka", "knative-eventing"], "{plan}");
    }
}

#[test]
fn kyma_for_the_provisioner_has_every_override_with_its_mark() {
    let order = order("aws", "cf-eu10", &json!({"name": "demo", "region": "eu-central-1"}));
    let mut creator = creator(&order, &["logging"]);
    creator.overrides().set(None, "global.level", "info", false);
    creator.overrides().set(Some("logging"), "password", "hush", true);

    let kyma = serde_json::to_value(creator.kyma(&order)).unwrap();

    assert_eq!(
        kyma,
        json!({
            "version": "2.10.0",
            "profile": "Production",
            "components": [{
                "component": "logging", "namespace": "kyma-system",
                "configuration": [{"key": "password", "value": "hush", "secret": true}],
            }, {
                "component": "compass-runtime-agent", "namespace": "compass-system",
                "configuration": [],
            }],
            "configuration": [{"key": "global.level", "value": "info", "secret": false}],
            "conflictStrategy": "Replace",
        })
    );
}

#[test]
fn the_provisioner_gets_the_runtime_agent_once_whether_or_not_it_is_listed() {
    let order = order("aws", "cf-eu10", &json!({"name": "dev"}));
    let agents = |listed: &[&str]| {
        let kyma = creator(&order, listed).kyma(&order);
        let names = kyma.components.into_iter().map(|it| it.component).collect::<Vec<_>>();
        names.iter().filter(|name| *name == "compass-runtime-agent").count()
    };

    assert_eq!(agents(&["istio"]), 1);
    assert_eq!(agents(&["compass-runtime-agent", "istio"]), 1);
    assert_eq!(agents(&[]), 1);
}

#[test]
fn an_upgrade_of_a_cluster_names_its_versions_and_nothing_that_its_owner_has_chosen() {
    let order = order("aws", "cf-eu10", &json!({"name": "Demo", "region": "eu-central-1"}));

    let sent = serde_json::to_value(upgrade(&order).unwrap()).unwrap();

    let mut sent = sent["gardenerConfig"].as_object().unwrap().clone();
    assert!(sent.remove("oidcConfig").unwrap().is_object());
    let expected = json!({
        "kubernetesVersion": "1.32.4", "machineImage": "gardenlinux",
        "maxSurge": 1, "maxUnavailable": 0,
        "enableKubernetesVersionAutoUpdate": false, "enableMachineImageVersionAutoUpdate": false,
        "shootNetworkingFilterDisabled": true,
    });
    assert_eq!(Value::Object(sent), expected);
}

#[test]
fn a_change_names_the_purpose_when_the_plan_changes() {
    let order = order("free", "cf-eu10", &json!({"name": "Demo", "region": "eu-central-1"}));
    let purpose = |changes_plan| change(&order, changes_plan).unwrap().cluster.purpose;

    assert_eq!(purpose(true).as_deref(), Some("evaluation"));
    assert_eq!(purpose(false), None);
}
