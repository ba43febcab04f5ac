//! The generated tests of every plan: each step twice, a crash at every point, every answer lost, each
//! step failing for good; all of it on the embedded database, a sample on PostgreSQL.
//!
//! What a reader would get wrong: all trials of a test share one landscape, each with a runtime of its
//! own. Ids and names are taken out before two ends are compared.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use base::Clock;
use clients::{director::Registration, gardener::Shoot};
use engine::{
    Operation, Plan,
    testing::{Scenario, Setting, World as Outside, prove, prove_some},
};
use provisioner::{
    checking,
    document::Document,
    limits::StageLimits,
    operations::{
        Data, Env, Input, Target, Versions, deprovisioning, hibernation, provisioning,
        reconnection, upgrade, upgrade_shoot,
    },
    shoots::{self, Owner, authentication},
    status::OperationType,
};
use serde_json::{Value, json};
use simulators::ledger::{Filter, Phase};
use store::{
    ProvisionerStore,
    provisioner::NewRuntime,
    testing::{Sort, Trials},
};
use uuid::Uuid;

use crate::world::{Landscape, aws, issuer, kyma, with_kyma};

const TENANT: &str = "ga-1";
/// Versions of Kubernetes before and after the issuers of users moved into a `ConfigMap`.
const OLDER: &str = "1.31.4";
const NEWER: &str = "1.32.4";

/// One plan, tried with a runtime that is as the operation finds it.
struct Trying<O: Operation> {
    name: &'static str,
    landscape: Landscape,
    databases: Trials<ProvisionerStore>,
    count: AtomicUsize,
    plan: fn(&StageLimits) -> Plan<O>,
    begin: Begin,
}

/// How a trial begins.
#[derive(Clone, Copy)]
struct Begin {
    /// Whether the runtime is there before.
    there: bool,
    /// Whether Kyma is part of it.
    kyma: bool,
    /// Whether the Reconciler has brought the runtime agent.
    agent: bool,
    /// The version of Kubernetes at first.
    kubernetes: &'static str,
    /// The expected change.
    change: fn(&mut Document),
}

/// Waiting may take hundreds of polls, because the landscape needs real time; failing must end too.
fn patient() -> StageLimits {
    let long = Duration::from_hours(3);
    StageLimits {
        cluster_domain: Duration::from_mins(30),
        cluster_creation: long,
        installation: long,
        agent_connection: long,
        shoot_refresh: Duration::from_mins(30),
        shoot_upgrade: long,
        waiting_for_cluster_deletion: long,
        hibernation: long,
        ..StageLimits::default()
    }
}

impl<O: Operation> Trying<O> {
    async fn new(
        name: &'static str,
        plan: fn(&StageLimits) -> Plan<O>,
        begin: Begin,
        sort: Sort,
    ) -> Self {
        Self {
            name,
            landscape: Landscape::start().await,
            databases: Trials::on(sort),
            count: AtomicUsize::new(0),
            plan,
            begin,
        }
    }

    /// A runtime as the operation finds it.
    async fn furnish(&self, env: &Env, name: &str) -> (Target, Document) {
        let mut request = if self.begin.kyma { with_kyma(name, "1.22.0") } else { aws(name) };
        request.cluster.oidc = Some(issuer(&self.landscape));
        request.cluster.kubernetes_version = Some(self.begin.kubernetes.into());
        let configuration = checking::provision(request, &checking::Defaults::default()).unwrap();
        let registration = Registration {
            name: configuration.entry.name.clone(),
            description: None,
            labels: serde_json::Map::new(),
            condition: None,
        };
        let id = env.director.register(TENANT, &registration).await.unwrap();
        let target = Target {
            runtime: id.parse().unwrap(),
            tenant: TENANT.into(),
            registered_tenant: None,
            subaccount: "sa-1".into(),
            shoot: name.into(),
        };
        let document = Document::new(configuration);
        if self.begin.there {
            let owner = Owner {
                tenant: TENANT,
                subaccount: "sa-1",
                runtime_id: &id,
                operation_id: &Uuid::new_v4().to_string(),
            };
            let features = env.gardener.features().await.unwrap();
            let cluster = &document.configuration.cluster;
            let dialect = shoots::Dialect::of(&features, &cluster.kubernetes_version);
            if dialect.structured_authentication {
                let issuer = authentication::issuer(cluster.oidc.as_ref(), None).unwrap();
                let map = authentication::config_map_name(&id);
                let contents = |there: Option<&_>| authentication::edited(there, &issuer);
                env.gardener.edit_config_map(&map, &id, contents).await.unwrap();
            }
            let shoot = shoots::build(&document.configuration, &owner, &env.rules, &features);
            env.gardener.create(&shoot).await.unwrap();
            self.until(|| async {
                let shoot = env.gardener.shoot(name).await.unwrap();
                shoot.as_ref().is_some_and(Shoot::is_settled)
            })
            .await;
            if self.begin.agent {
                self.landscape.running.install_agent(name);
            }
            if self.begin.kyma {
                self.install(env, &target, &document).await;
            }
        }
        (target, document)
    }

    async fn install(&self, env: &Env, target: &Target, document: &Document) {
        let kubeconfig =
            env.gardener.admin_kubeconfig(&target.shoot, Duration::from_hours(8)).await.unwrap();
        let cluster = env.clusters.get(&kubeconfig.kubeconfig).await.unwrap();
        let runtime = clients::runtime::Runtime::new(cluster, "test");
        let version = &document.configuration.kyma.as_ref().unwrap().version;
        let release = env.releases.find(version).await.unwrap();
        let install =
            clients::runtime::Install { profile: None, modules: Vec::new(), scopes: Vec::new() };
        // Kinds of a release may need a moment.
        self.until(|| async { runtime.install(&release, &install, "test").await.is_ok() }).await;
        self.until(|| async {
            let found = runtime.installation().await.unwrap();
            found.state == clients::runtime::InstallState::Installed
        })
        .await;
    }

    async fn until<F: Future<Output = bool>>(&self, so: impl Fn() -> F) {
        for _ in 0..2_000 {
            if so().await {
                return;
            }
            self.landscape.clock.sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not come about");
    }
}

impl<O> Scenario for Trying<O>
where
    O: Operation<Input = Input, Data = Data, Env = Env>,
{
    type Operation = O;

    async fn fresh(&self, clock: &Clock) -> Setting<O> {
        let at = self.count.fetch_add(1, SeqCst);
        let name = format!("t-{at}");
        let (rows, _) = self.databases.fill(clock).await.open().await;
        let env = Arc::new(self.landscape.env(rows.clone(), clock).await);
        let (target, document) = self.furnish(&env, &name).await;
        let new = NewRuntime {
            id: target.runtime,
            tenant: target.tenant.clone(),
            subaccount: target.subaccount.clone(),
            shoot: name.clone(),
            document: document.bytes(),
        };
        rows.insert(&new).await.unwrap();
        let mut wanted = document;
        (self.begin.change)(&mut wanted);
        let input = Input {
            target: target.clone(),
            document: wanted,
            known_as: OperationType::Provision,
            kyma: self.begin.kyma,
            shoot: true,
            first_message: String::new(),
            requested: Versions::default(),
            digest: None,
        };
        Setting {
            plan: (self.plan)(&patient()),
            env: env.clone(),
            instance: target.runtime.to_string(),
            input,
            data: Data::default(),
            world: self.outside(env, target, rows),
        }
    }

    fn stored(&self) -> Option<PathBuf> {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/against_simulators/expected");
        Some(folder.join(self.name).with_extension("json"))
    }

    fn comparable(&self, mut data: Value) -> Value {
        // When something happened depends on the crashes before it; that it happened does not.
        data["agent_configured_at"] = json!(data["agent_configured_at"].is_string());
        let domain = data["domain"].is_string();
        data["domain"] = json!(domain);
        data
    }
}

impl<O: Operation> Trying<O> {
    /// How the landscape looks from this runtime, without ids, names and times.
    fn outside(&self, env: Arc<Env>, target: Target, rows: ProvisionerStore) -> Outside {
        let server = self.landscape.running.clusters().server().clone();
        let ledger = self.landscape.running.landscape.ledger().clone();
        let rest = self.landscape.running.clusters().rest();
        let issuer = issuer(&self.landscape).issuer_url;
        Box::new(move || {
            let issuer = issuer.clone();
            let (env, target, rows) = (env.clone(), target.clone(), rows.clone());
            let (server, ledger, rest) = (server.clone(), ledger.clone(), rest.clone());
            Box::pin(async move {
                // Agent, installer and Gardener work on by themselves.
                rest.reached(&target.shoot).await;
                let shoot = env.gardener.shoot(&target.shoot).await.unwrap();
                let id = target.runtime.to_string();
                let entry = env.director.runtime(TENANT, &id).await.unwrap();
                let row = rows.find(target.runtime).await.unwrap().unwrap();
                let document = Document::read(&row.document).unwrap();
                let path = format!("/{}", target.shoot);
                let all = ledger.all(&Filter::default()).unwrap();
                let created = all
                    .iter()
                    .filter(|one| one.phase == Phase::Applied && one.about.method == "POST")
                    .filter_map(|one| one.object.as_deref())
                    .filter(|object| object.contains("shoots") && object.ends_with(&path))
                    .count();
                let seen = json!({
                    "shoot": shoot.map(|shoot| json!({
                        "spec": shoot.spec,
                        "state": shoot.last_operation().map(|last| &last.state),
                        "hibernated": shoot.status.as_ref().and_then(|s| s.hibernated),
                    })),
                    "authentication": server.get(
                        "garden", "configmaps", "garden-kyma", &authentication::config_map_name(&id),
                    ).map(|map| json!([map["data"], map["metadata"]["labels"]])),
                    "director": entry.map(|entry| json!(entry.labels)),
                    "inside": inside(&server, &target.shoot),
                    "document": document,
                    "kubeconfig": row.kubeconfig.is_some(),
                    "provisioned": row.provisioned_at.is_some(),
                    "deleted": row.deleted_at.is_some(),
                    "created": created,
                });
                let text = seen.to_string().replace(&issuer, "ISSUER");
                let text = text.replace(&id, "RUNTIME").replace(&target.shoot, "SHOOT");
                let mut seen: Value = serde_json::from_str(&text).unwrap();
                // Gardener draws one.
                if let Some(window) = seen.pointer_mut("/shoot/spec/maintenance/timeWindow") {
                    *window = json!(window["begin"].is_string());
                }
                seen
            })
        })
    }
}

/// The objects in the runtime's cluster, by name.
fn inside(server: &cluster::Server, runtime: &str) -> Value {
    let names = |resource: &str| -> Vec<Value> {
        let mut found: Vec<Value> = server
            .list(runtime, resource)
            .iter()
            .map(|object| {
                json!([
                    object["metadata"]["namespace"],
                    object["metadata"]["name"],
                    object["subjects"],
                    object["status"]["state"],
                    object["status"]["connectionState"],
                    object["metadata"]["labels"],
                ])
            })
            .collect();
        found.sort_by_key(Value::to_string);
        found
    };
    json!({
        "namespaces": names("namespaces"),
        "secrets": names("secrets"),
        "config_maps": names("configmaps"),
        "roles": names("clusterroles.rbac.authorization.k8s.io"),
        "bindings": names("clusterrolebindings.rbac.authorization.k8s.io"),
        "installations": names("installations.installer.kyma-project.io"),
        "connections": names("compassconnections.compass.kyma-project.io"),
    })
}

fn unchanged(_: &mut Document) {}

fn bigger(document: &mut Document) {
    document.configuration.cluster.machine_type = "m5.2xlarge".into();
    document.configuration.cluster.kubernetes_version = NEWER.into();
    document.configuration.administrators = vec!["grace@example.org".into()];
}

fn newer(document: &mut Document) {
    let newer = checking::kyma(kyma("1.24.11"), &checking::Defaults::default(), "Runtime upgrade");
    document.configuration.kyma = Some(newer.unwrap());
    document.configuration.cluster.auto_scaler_max = 20;
}

macro_rules! proven {
    ($($name:ident: $plan:path, $begin:expr;)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread")]
            async fn ends_the_same_way_whatever_happens_on_sqlite() {
                let trying = Trying::new(stringify!($name), $plan, $begin, Sort::Sqlite).await;

                let proof = prove(&trying, &trying.databases).await;

                println!("{proof:?}");
                assert!(proof.crashes > 10 && proof.lost_answers > 2, "{proof:?}");
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn ends_the_same_way_whatever_happens_on_postgres() {
                let trying = Trying::new(stringify!($name), $plan, $begin, Sort::Postgres).await;

                let proof = prove_some(&trying, &trying.databases, 11).await;

                assert!(proof.trials > 2, "{proof:?}");
            }
        }
    )*};
}

proven! {
    provisioning_with_kyma: provisioning::plan, Begin { there: false, kyma: true, agent: false, kubernetes: NEWER, change: unchanged };
    provisioning_without_kyma: provisioning::plan_no_install, Begin { there: false, kyma: false, agent: false, kubernetes: NEWER, change: unchanged };
    upgrading: upgrade::plan, Begin { there: true, kyma: true, agent: false, kubernetes: NEWER, change: newer };
    upgrading_the_shoot: upgrade_shoot::plan, Begin { there: true, kyma: false, agent: false, kubernetes: OLDER, change: bigger };
    deprovisioning_with_kyma: deprovisioning::plan, Begin { there: true, kyma: true, agent: false, kubernetes: NEWER, change: unchanged };
    deprovisioning_without_kyma: deprovisioning::plan_no_install, Begin { there: true, kyma: false, agent: false, kubernetes: NEWER, change: unchanged };
    hibernating: hibernation::plan, Begin { there: true, kyma: false, agent: false, kubernetes: NEWER, change: unchanged };
    reconnecting: reconnection::plan, Begin { there: true, kyma: false, agent: true, kubernetes: NEWER, change: unchanged };
}
