//! Everything that the broker reaches: the landscape, and a provisioner between it and the clusters.
//!
//! What a reader would get wrong: the landscape and the provisioner live on the running clock and are as fast as can
//! be; a trial of the broker holds a clock of its own. So waiting takes many polls, and little time.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::{
    catalog::Catalog,
    creations::Creations,
    operations::{
        Env, ProvisioningLimits, StepSettings,
        env::{EventHubs, Logging},
    },
};
use clients::{
    Component, Gate, Http,
    avs::{self, Avs, TagClasses, Tester},
    azure::Cloud,
    edp::{self, Edp},
    ias::{self, Ias},
    kubernetes::{Cluster, Resource},
    lifecycle_manager::{LifecycleManager, Version},
    lms::{self, Lms},
    provisioner::Provisioner,
    reconciler::{self, Reconciler},
    releases::ComponentLists,
    spc::{self, Spc},
};
use engine::PlantedBug;
use secrecy::SecretString;
use serde_json::{Value, json};
use simulators::{
    ledger::{About, Filter, Phase},
    pace::Speed,
    system::Object,
    testing::{EDP, Options, PEOPLE, PERSON, Running},
    trouble::{Kind, Rule},
};
use store::{BrokerStore, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};
use tempfile::TempDir;

use crate::service::{self, CALLS, Service, at};

const NAMESPACE: &str = "kcp-system";

pub(crate) struct Outside {
    pub(crate) running: Running,
    pub(crate) service: Service,
    pub(crate) clock: Clock,
    pub(crate) catalog: Arc<Catalog>,
    /// How long the broker's calls may take.
    pub(crate) calls: clients::CallLimits,
    /// For calls of those that have no rows of their own.
    books: TestDatabase,
    _folder: TempDir,
}

impl Outside {
    /// With so many accounts of each provider in the pool.
    pub(crate) async fn start(providers: &[&str], accounts: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::running();
        let mut options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        let pool = &mut options.clusters.garden.pool;
        pool.providers = providers.iter().map(ToString::to_string).collect();
        pool.free = accounts;
        let running = Running::with(folder.path(), clock.clone(), 1, options).await;
        let service = Service::start(&running, &clock).await;
        let catalog = Arc::new(Catalog::embedded().unwrap());
        let books = TestDatabase::sqlite();
        let opened = books.database().await;
        for set in [Set::Engine, Set::Broker] {
            opened.migrate(set).await.unwrap();
        }
        opened.close().await;
        Self { running, service, clock, catalog, calls: CALLS, books, _folder: folder }
    }

    /// Rows for those that have none of their own.
    async fn books(&self, clock: &Clock) -> BrokerStore {
        let (database, sealer) = (self.books.database().await, Sealer::generate());
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database, sealer, time, PlantedBug::Nothing);
        BrokerStore::new(engine, clock.clone())
    }

    /// The environment of the steps; calls are timed by `clock`.
    pub(crate) async fn env(&self, clock: &Clock) -> Env {
        let (running, calls) = (&self.running, self.calls);
        let gate = |component| Gate::new(component, calls, clock.clone());
        let kubeconfig = SecretString::from(running.clusters().control_plane_kubeconfig());
        let control_plane =
            Cluster::connect(gate(Component::CONTROL_PLANE), &kubeconfig).await.unwrap();
        let provisioner =
            Http::through(gate(Component::PROVISIONER), self.service.url.clone()).unwrap();
        let scope = clients::provisioner::SCOPE;
        let provisioner = provisioner.with_token(service::tokens(running, scope, clock));
        let issuer = gate(Component::ISSUER);
        let reconciler = reconciler::Settings { url: at(running, "/reconciler") };
        let reconciler = Reconciler::through(gate(reconciler::COMPONENT), &reconciler).unwrap();
        let spc = spc::Settings { url: at(running, "/spc") };
        let spc = Spc::new(spc, gate(spc::COMPONENT)).unwrap();
        let store = self.books(clock).await;
        Env {
            catalog: self.catalog.clone(),
            gardener: service::gardener(running, clock, calls, "kcp-broker").await,
            clusters: service::clusters(clock, calls),
            follower: None,
            customer_clusters: Arc::new(service::clusters(clock, calls).of_customers(local())),
            provisioner: Provisioner::new(provisioner),
            components: ComponentLists::new(
                service::releases(running, clock, calls),
                service::releases(running, clock, calls),
            ),
            director: Some(service::director(running, clock, calls)),
            avs: Some(Avs::new(self.avs(), gate(avs::COMPONENT), issuer.clone()).unwrap()),
            edp: Some(Edp::new(self.edp(), gate(edp::COMPONENT), issuer).unwrap()),
            ias: None,
            lms: None,
            event_hubs: None,
            spc: Some(spc),
            reconciler: Some(reconciler),
            lifecycle_manager: Some(LifecycleManager::new(
                control_plane.clone(),
                NAMESPACE,
                Version::default(),
            )),
            control_plane,
            creations: Creations::new(store.clone(), clock.clone()),
            store,
            settings: StepSettings::default(),
        }
    }

    /// The environment with the systems of the legacy plan.
    pub(crate) async fn older(&self, clock: &Clock) -> Env {
        let gate = |component| Gate::new(component, self.calls, clock.clone());
        let ias = ias::Settings {
            url: at(&self.running, "/ias"),
            user: "kcp-ias".into(),
            secret: "kcp-ias-secret".to_owned().into(),
            identity_provider: "kcp-people".into(),
        };
        let lms = lms::Settings {
            url: at(&self.running, "/lms"),
            token: "kcp-lms-token".to_owned().into(),
            cluster_type: lms::ClusterType::SingleNode,
            environment: "dev".into(),
            saml_tenant: "saml".into(),
            region: None,
        };
        let garden = SecretString::from(self.running.clusters().garden_kubeconfig());
        let azure = at(&self.running, "/azure");
        Env {
            ias: Some(Ias::new(ias, gate(ias::COMPONENT)).unwrap()),
            lms: Some(Logging {
                client: Lms::new(lms, gate(lms::COMPONENT)).unwrap(),
                enabled: lms::EnabledFor::Everybody,
                mandatory: false,
            }),
            event_hubs: Some(EventHubs {
                cloud: Cloud { authority: azure.clone(), management: azure },
                gate: gate(clients::azure::COMPONENT),
                tokens: gate(Component::ISSUER),
                garden: Cluster::connect(gate(Component::GARDENER), &garden).await.unwrap(),
            }),
            ..Box::pin(self.env(clock)).await
        }
    }

    fn avs(&self) -> avs::Settings {
        let tester = |access_id| Tester { access_id, ..Tester::default() };
        avs::Settings {
            endpoint: at(&self.running, "/avs/api/v2/evaluationmetadata"),
            token_endpoint: at(&self.running, "/oauth2/token"),
            client_id: PEOPLE.into(),
            user: PERSON.0.into(),
            password: PERSON.1.to_owned().into(),
            group_id: 41,
            parent_id: 77,
            internal: tester(40),
            external: tester(50),
            trial: None,
            tag_classes: Some(TagClasses { shoot_name: 251, seed_name: 252, region: 253 }),
        }
    }

    fn edp(&self) -> edp::Settings {
        edp::Settings {
            auth_url: at(&self.running, ""),
            admin_url: at(&self.running, "/edp"),
            namespace: "kcp".into(),
            secret: EDP.1.to_owned().into(),
            environment: "dev".into(),
        }
    }

    /// Does the work of the job that cleans released accounts.
    pub(crate) async fn clean_accounts(&self) {
        let bindings = Resource {
            group: "core.gardener.cloud",
            version: "v1beta1",
            kind: "SecretBinding",
            plural: "secretbindings",
        };
        let kubeconfig = SecretString::from(self.running.clusters().garden_kubeconfig());
        let gate = Gate::new(Component::GARDENER, CALLS, self.clock.clone());
        let garden = Cluster::connect(gate, &kubeconfig).await.unwrap();
        let namespace = format!("garden-{}", service::PROJECT);
        let bindings = garden.objects::<Value>(bindings, Some(&namespace));
        for dirty in bindings.list("dirty=true").await.unwrap() {
            let clean = json!({"metadata": {"labels": {"dirty": null, "tenantName": null}}});
            bindings.merge(dirty["metadata"]["name"].as_str().unwrap(), &clean).await.unwrap();
        }
    }

    /// Lets the Director know a tenant.
    pub(crate) fn introduce(&self, account: &str) {
        let id = json!({ "id": account });
        self.running.landscape.order("director", "add-tenant", &id).unwrap();
    }

    /// The objects of a system of the landscape.
    pub(crate) fn objects(&self, system: &str) -> Vec<Object> {
        self.running.landscape.objects(system)
    }

    /// The next calls of a system meet trouble.
    pub(crate) fn trouble(&self, system: &str, calls: u64, trouble: Kind) {
        self.meet(Rule::next(calls, trouble).of(system));
    }

    /// Calls meet this trouble.
    pub(crate) fn meet(&self, rule: Rule) {
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// Ends all trouble.
    pub(crate) fn calm(&self) {
        self.running.landscape.troubles().clear(None).unwrap();
    }

    /// All calls that have come, with who made them.
    pub(crate) fn calls(&self) -> Vec<About> {
        let filter = Filter { phase: Some(Phase::Received), ..Filter::default() };
        let all = self.running.landscape.ledger().all(&filter).unwrap();
        all.into_iter().map(|entry| entry.about).collect()
    }

    /// Operation, system and object of all changes that steps have made.
    pub(crate) fn changes(&self) -> Vec<(String, String, String)> {
        let filter = Filter { phase: Some(Phase::Applied), ..Filter::default() };
        let all = self.running.landscape.ledger().all(&filter).unwrap();
        let line = |one: simulators::ledger::Entry| {
            let (about, object) = (one.about, one.object.unwrap_or_default());
            about.operation.map(|operation| (operation, about.system, object))
        };
        all.into_iter().filter_map(line).collect()
    }

    /// An object in one of the simulated clusters.
    pub(crate) fn in_cluster(
        &self,
        cluster: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Value>> {
        self.running.clusters().server().get(cluster, resource, namespace, name)
    }
}

/// Waiting may take hundreds of polls, because what is waited for needs real time; failing must end too.
pub(crate) fn patient() -> ProvisioningLimits {
    ProvisioningLimits {
        provisioning: Duration::from_hours(1_000),
        runtime: Duration::from_hours(48),
        reconciler: Duration::from_hours(24),
        ..ProvisioningLimits::default()
    }
}

/// Customers' clusters stand where the landscape does.
pub(crate) fn local() -> clients::kubernetes::Networks {
    clients::kubernetes::Networks::new(vec!["127.0.0.0/8".parse().unwrap()])
}
