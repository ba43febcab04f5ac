//! Instances as a removal finds them: with everything that a create makes, or with a part of it.

use std::time::Duration;

use broker::{Context, Details, Order, catalog::Orderer, details, operations::env::Env};
use clients::{
    Kind,
    avs::{NewEvaluation, Runtime, Scope},
    btp::{Btp, ManagerCredentials},
    edp::Tenant,
    gardener::{AccountNeed, BindingKind, Shoot},
    ias::ProviderKind,
    kubernetes::{Cluster, Resource},
    lifecycle_manager::{Marks, Template},
    reconciler::{self, RuntimeInput},
};
use domain::parameters::Provisioning;
use secrecy::SecretString;
use serde_json::{Value, json};
use store::BrokerStore;
use uuid::Uuid;

use crate::landscape::{Landscape, NAMESPACE, PROJECT, catalog};

const TEMPLATE: &str = "
apiVersion: operator.kyma-project.io/v1beta2
kind: Kyma
metadata: {name: tbd, namespace: kcp-system}
spec: {channel: regular, modules: [{name: istio}]}
";
const BINDINGS: Resource = Resource {
    group: "core.gardener.cloud",
    version: "v1beta1",
    kind: "SecretBinding",
    plural: "secretbindings",
};

const LIFETIME: Duration = Duration::from_hours(8);

/// The created objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing that a create makes")]
pub(crate) struct FurnishedParts {
    pub(crate) account: bool,
    pub(crate) avs: bool,
    pub(crate) edp: bool,
    pub(crate) cluster: bool,
    pub(crate) services: bool,
    pub(crate) kyma: bool,
    pub(crate) reconciler: bool,
}

impl FurnishedParts {
    pub(crate) const ALL: Self = Self {
        account: true,
        avs: true,
        edp: true,
        cluster: true,
        services: true,
        kyma: true,
        reconciler: true,
    };
}

/// An instance and what is known about it.
#[derive(Debug, Clone)]
pub(crate) struct FurnishedInstance {
    pub(crate) order: Order,
    pub(crate) details: Details,
}

pub(crate) fn order(at: usize, plan: &str) -> Order {
    let catalog = catalog();
    let found = catalog.plan_named(plan).unwrap();
    let place = catalog.place(Some("cf-eu10"));
    let mut parameters = Provisioning { name: format!("runtime {at}"), ..Default::default() };
    if plan == "aws" {
        parameters.region = Some("eu-central-1".into());
    }
    let orderer = Orderer { user_id: "jo@example.test", license_type: None };
    let resolved = catalog.resolve(found, &place, &parameters, &orderer, [7; 16]).unwrap();
    Order {
        instance_id: format!("i-{at}"),
        service_id: "service".into(),
        plan_id: "plan".into(),
        plan_name: plan.into(),
        plan_kind: found.kind(),
        platform_region: "cf-eu10".into(),
        platform_provider: None,
        context: Context {
            subaccount_id: format!("SA-{at}"),
            globalaccount_id: format!("ga-{at}"),
            ..Context::default()
        },
        parameters,
        resolved,
        shoot_name: format!("c-{at}"),
        shoot_domain: format!("c-{at}.kyma.example.test"),
        dashboard_url: String::new(),
        subscription_account: None,
        context_revisions: broker::ContextRevisions::default(),
    }
}

impl Landscape {
    /// Makes what a create makes.
    pub(crate) async fn furnish(
        &self,
        env: &Env,
        at: usize,
        parts: FurnishedParts,
    ) -> FurnishedInstance {
        Box::pin(self.furnish_order(env, order(at, "aws"), parts)).await
    }

    pub(crate) async fn furnish_order(
        &self,
        env: &Env,
        order: Order,
        parts: FurnishedParts,
    ) -> FurnishedInstance {
        let mut details = Details::default();
        if parts.account {
            self.clean_accounts(env).await;
            let pool = env.gardener.pool(BindingKind::Secret);
            let wanted = AccountNeed { hyperscaler: "aws", eu_access: false };
            let claimed = pool.claim(&order.context.globalaccount_id, wanted).await.unwrap();
            details.target_secret = pool.name_for_shoot(&claimed).map(str::to_owned);
        }
        if parts.avs {
            details.avs = evaluations(env, &order).await;
        }
        if parts.edp {
            let tenant = Tenant::of_subaccount(&order.context.subaccount_id);
            let metadata = tenant.metadata("cf-eu10", "aws");
            env.edp.as_ref().unwrap().register(&tenant, &metadata).await.unwrap();
            let ias = env.ias.as_ref().unwrap();
            ias.register(ProviderKind::Grafana, &order.instance_id).await.unwrap();
            details.edp_created = true;
        }
        if parts.cluster {
            let id = Uuid::new_v4();
            details.runtime_id = Some(id);
            self.make_cluster(env, &order, &details, id).await;
            if parts.services {
                self.order_services(env, &order.shoot_name).await;
            }
            if parts.kyma {
                let name = id.to_string();
                let manager = env.lifecycle_manager.as_ref().unwrap();
                let template = Template::parse(TEMPLATE).unwrap();
                manager.apply(&template, &name, &Marks::default()).await.unwrap();
                let kubeconfig = "kubeconfig".to_owned().into();
                manager.write_kubeconfig(&name, &kubeconfig, &Marks::default()).await.unwrap();
                details.kyma_name = Some(name);
                details.kyma_namespace = Some(NAMESPACE.into());
            }
            if parts.reconciler {
                let kubeconfig = env.gardener.admin_kubeconfig(&order.shoot_name, LIFETIME).await;
                let applied = cluster_configuration(&order, id, kubeconfig.unwrap().kubeconfig);
                let applied = env.reconciler.as_ref().unwrap().apply_cluster(&applied).await;
                details.cluster_configuration_version =
                    Some(applied.unwrap().configuration_version);
            }
        }
        FurnishedInstance { order, details }
    }

    async fn make_cluster(&self, env: &Env, order: &Order, details: &Details, id: Uuid) {
        let account = details.target_secret.as_deref().unwrap_or("aws-free-1");
        let shoot: Shoot = serde_json::from_value(shoot(order, account, id)).unwrap();
        env.gardener.create(&shoot).await.unwrap();
        let name = &order.shoot_name;
        self.until(|| async {
            env.gardener.shoot(name).await.unwrap().as_ref().is_some_and(Shoot::is_settled)
        })
        .await;
        let tenant = &order.context.globalaccount_id;
        self.provisioner.add(&id.to_string(), tenant, &order.shoot_name);
    }

    /// A service and a binding to it, held by the BTP operator.
    async fn order_services(&self, env: &Env, shoot: &str) {
        let cluster = self.inside(env, shoot).await;
        let credentials = ManagerCredentials {
            client_id: "id".to_owned().into(),
            client_secret: "secret".to_owned().into(),
            service_manager_url: "https://sm.example.test".into(),
            token_url: "https://token.example.test".into(),
            cluster_id: "cluster".into(),
        };
        Btp::new(cluster.clone()).write_manager(&credentials).await.unwrap();
        for (kind, plural, name) in [
            ("ServiceInstance", "serviceinstances", "i"),
            ("ServiceBinding", "servicebindings", "b"),
        ] {
            let resource =
                Resource { group: "services.cloud.sap.com", version: "v1", kind, plural };
            let objects = cluster.objects::<Value>(resource, Some("default"));
            let object = json!({
                "metadata": {"name": name}, "spec": {"serviceInstanceName": "i"},
            });
            // The kinds come with the credentials, a moment later.
            self.until(|| async { objects.create(name, &object).await.is_ok() }).await;
            self.until(|| async {
                let found = objects.get(name).await.unwrap();
                found["metadata"]["finalizers"].is_array()
            })
            .await;
        }
    }

    pub(crate) async fn inside(&self, env: &Env, shoot: &str) -> Cluster {
        let kubeconfig = env.gardener.admin_kubeconfig(shoot, LIFETIME).await.unwrap();
        env.clusters.get(&kubeconfig.kubeconfig).await.unwrap()
    }

    /// Does the work of the job that cleans released accounts: there are few of them.
    async fn clean_accounts(&self, env: &Env) {
        self.free_accounts(env, "dirty=true").await;
    }

    /// Gives the accounts that a selector finds back to the pool.
    pub(crate) async fn free_accounts(&self, env: &Env, selector: &str) {
        let bindings = self.bindings().await;
        for one in env.gardener.pool(BindingKind::Secret).list(selector).await.unwrap() {
            let clean = json!({"metadata": {"labels": {"dirty": null, "tenantName": null}}});
            bindings.merge(one.name(), &clean).await.unwrap();
        }
    }

    pub(crate) async fn bindings(&self) -> clients::kubernetes::Objects<Value> {
        let kubeconfig = self.running.clusters().garden_kubeconfig();
        let limits = clients::CallLimits::CLUSTER;
        let gate = clients::Gate::new(clients::Component::GARDENER, limits, self.clock.clone());
        let garden = Cluster::connect(gate, &kubeconfig.into()).await.unwrap();
        garden.objects(BINDINGS, Some(&format!("garden-{PROJECT}")))
    }
}

pub(crate) async fn evaluations(env: &Env, order: &Order) -> details::Avs {
    let avs = env.avs.as_ref().unwrap();
    let runtime = Runtime {
        plan: &order.plan_name,
        instance_id: &order.instance_id,
        instance_name: &order.parameters.name,
        global_account_id: &order.context.globalaccount_id,
        subaccount_id: &order.context.subaccount_id,
        shoot_name: &order.shoot_name,
    };
    let mut made = Vec::new();
    for scope in [Scope::Internal, Scope::External { domain: &order.shoot_domain }] {
        let evaluation = NewEvaluation::of(avs.settings(), &runtime, scope);
        made.push(avs.create(&evaluation).await.unwrap().id);
    }
    details::Avs {
        internal_id: Some(made[0]),
        external_id: Some(made[1]),
        ..details::Avs::default()
    }
}

fn cluster_configuration(order: &Order, id: Uuid, kubeconfig: SecretString) -> reconciler::Cluster {
    reconciler::Cluster {
        runtime_id: id.to_string(),
        runtime_input: RuntimeInput { name: "runtime".into(), description: String::new() },
        kyma_config: reconciler::Kyma {
            version: "2.20.0".into(),
            profile: "Production".into(),
            administrators: Vec::new(),
            components: Vec::new(),
        },
        metadata: reconciler::Metadata {
            global_account_id: order.context.globalaccount_id.clone(),
            sub_account_id: order.context.subaccount_id.clone(),
            service_id: order.service_id.clone(),
            service_plan_id: order.plan_id.clone(),
            service_plan_name: order.plan_name.clone(),
            shoot_name: order.shoot_name.clone(),
            instance_id: order.instance_id.clone(),
            region: "eu-central-1".into(),
        },
        kubeconfig,
    }
}

fn shoot(order: &Order, account: &str, id: Uuid) -> Value {
    let version = "aws.provider.extensions.gardener.cloud/v1alpha1";
    json!({
        "metadata": {
            "name": order.shoot_name,
            "labels": {
                "account": order.context.globalaccount_id,
                "subaccount": order.context.subaccount_id,
            },
            "annotations": {"kcp.provisioner.kyma-project.io/runtime-id": id.to_string()},
        },
        "spec": {
            "cloudProfileName": "aws",
            "region": "eu-central-1",
            "secretBindingName": account,
            "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
            "kubernetes": {"version": "1.25.6"},
            "provider": {
                "type": "aws",
                "infrastructureConfig": {
                    "kind": "InfrastructureConfig", "apiVersion": version,
                    "networks": {
                        "vpc": {"cidr": "10.250.0.0/16"},
                        "zones": [{
                            "name": "eu-central-1a", "internal": "10.250.48.0/20",
                            "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                        }],
                    },
                },
                "workers": [{
                    "name": "cpu-worker-0", "machine": {"type": "m5.xlarge"}, "minimum": 3,
                    "maximum": 10, "maxSurge": 3, "maxUnavailable": 0,
                    "volume": {"type": "gp3", "size": "50Gi"}, "zones": ["eu-central-1a"],
                }],
            },
        },
    })
}

/// The objects that exist for an instance, one per line.
pub(crate) async fn there(env: &Env, rows: &BrokerStore, made: &FurnishedInstance) -> Vec<String> {
    let FurnishedInstance { order, details } = made;
    let mut found = Vec::new();
    let avs = env.avs.as_ref().unwrap();
    for id in [details.avs.internal_id, details.avs.external_id].into_iter().flatten() {
        match avs.get(id).await {
            Ok(_) => found.push("evaluation".to_owned()),
            Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
        }
    }
    let tenant = Tenant::of_subaccount(&order.context.subaccount_id);
    match env.edp.as_ref().unwrap().metadata(&tenant).await {
        Ok(_) => found.push("data tenant".to_owned()),
        Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
    }
    let company = env.ias.as_ref().unwrap().company().await.unwrap();
    let provider = ProviderKind::Grafana.display_name(&order.instance_id);
    found.extend(company.provider(&provider).map(|_| "service provider".to_owned()));
    if let Some(id) = details.runtime_id.map(|id| id.to_string()) {
        let manager = env.lifecycle_manager.as_ref().unwrap();
        let kyma = manager.find(NAMESPACE, &id).await.unwrap();
        found.extend(kyma.map(|_| "Kyma".to_owned()));
        let kubeconfig = manager.find_kubeconfig(&id).await.unwrap();
        found.extend(kubeconfig.map(|_| "kubeconfig".to_owned()));
        let configuration = env.reconciler.as_ref().unwrap().latest_status(&id).await.unwrap();
        let there = configuration.filter(|it| it.status != reconciler::Status::Deleted);
        found.extend(there.map(|_| "configuration".to_owned()));
    }
    let shoot = env.gardener.shoot(&order.shoot_name).await.unwrap();
    found.extend(shoot.map(|_| "cluster".to_owned()));
    let account = format!("tenantName={},dirty!=true", order.context.globalaccount_id);
    let claimed = env.gardener.pool(BindingKind::Secret).list(&account).await.unwrap();
    found.extend(claimed.first().map(|_| "account".to_owned()));
    let row = rows.find(&order.instance_id).await.unwrap();
    found.extend(row.map(|row| {
        if row.deleted_at.is_some() { "row, marked".to_owned() } else { "row".to_owned() }
    }));
    found
}
