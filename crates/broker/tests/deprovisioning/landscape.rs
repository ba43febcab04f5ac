//! The simulated outside world, and what steps reach in it.
//!
//! What a reader would get wrong: the landscape lives on the running clock and is as fast as can be, whatever clock
//! the operations live on.

use std::{
    num::NonZeroUsize,
    sync::{Arc, OnceLock},
    time::Duration,
};

use base::Clock;
use broker::{
    catalog::{Catalog, Files},
    creations::Creations,
    operations::env::{Env, EventHubs, StepSettings},
};
use clients::{
    CallLimits, Component, Gate, Http,
    avs::{self, Avs},
    azure::{self, Cloud},
    edp::{self, Edp},
    gardener::Gardener,
    ias::{self, Ias},
    kubernetes::{Cluster, Clusters},
    lifecycle_manager::{LifecycleManager, Version},
    provisioner::{self, Provisioner},
    reconciler::{self, Reconciler},
    releases::ComponentLists,
};
use engine::PlantedBug;
use simulators::{
    pace::Speed,
    testing::{EDP, Options, PEOPLE, PERSON, Running},
    trouble::{Kind, Rule},
};
use store::{BrokerStore, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};
use tempfile::TempDir;
use url::Url;

use crate::provisioner::SimulatedProvisioner;

/// The project of the simulated garden.
pub(crate) const PROJECT: &str = "kyma";
/// As whom steps work in the garden.
const OWNER: &str = "kcp-test";
/// Where Kymas and kubeconfigs are.
pub(crate) const NAMESPACE: &str = "kcp-system";

pub(crate) struct Landscape {
    pub(crate) running: Running,
    pub(crate) clock: Clock,
    pub(crate) provisioner: SimulatedProvisioner,
    /// How long calls of steps may take.
    pub(crate) calls: CallLimits,
    /// Where evaluations of trial and free runtimes belong.
    pub(crate) trial: Option<avs::Trial>,
    /// For calls of those that have no rows of their own.
    books: TestDatabase,
    _folder: TempDir,
}

pub(crate) fn catalog() -> Arc<Catalog> {
    static LOADED: OnceLock<Arc<Catalog>> = OnceLock::new();
    LOADED.get_or_init(|| Arc::new(Catalog::load(&Files::embedded()).unwrap())).clone()
}

impl Landscape {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::running();
        let options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        let running = Running::with(folder.path(), clock.clone(), 1, options).await;
        let calls = CallLimits { call: Duration::from_secs(10), ..CallLimits::CLUSTER };
        let gardener = Gardener::new(garden(&running, &clock, calls).await, PROJECT, OWNER);
        let provisioner = SimulatedProvisioner::start(gardener, &running, &clock).await;
        let books = TestDatabase::sqlite();
        let opened = books.database().await;
        for set in [Set::Engine, Set::Broker] {
            opened.migrate(set).await.unwrap();
        }
        opened.close().await;
        Self { running, clock, provisioner, calls, trial: None, books, _folder: folder }
    }

    async fn books(&self, clock: &Clock) -> BrokerStore {
        let (database, sealer) = (self.books.database().await, Sealer::generate());
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database, sealer, time, PlantedBug::Nothing);
        BrokerStore::new(engine, clock.clone())
    }

    async fn event_hubs(&self, clock: &Clock) -> EventHubs {
        let gate = |component| Gate::new(component, self.calls, clock.clone());
        let azure: Url = format!("{}/azure", self.running.url).parse().unwrap();
        EventHubs {
            garden: garden(&self.running, clock, self.calls).await,
            cloud: Cloud { authority: azure.clone(), management: azure },
            gate: gate(azure::COMPONENT),
            tokens: gate(Component::ISSUER),
        }
    }

    /// The environment of the steps, without a store.
    pub(crate) async fn env_without_rows(&self, clock: &Clock) -> Env {
        self.env(self.books(clock).await, clock).await
    }

    /// The environment of the steps; calls are timed by `clock`.
    pub(crate) async fn env(&self, store: BrokerStore, clock: &Clock) -> Env {
        let at = |path: &str| -> Url { format!("{}{path}", self.running.url).parse().unwrap() };
        let gate = |component| Gate::new(component, self.calls, clock.clone());
        let issuer = || gate(Component::ISSUER);
        let kubeconfig = self.running.clusters().control_plane_kubeconfig();
        let control_plane = gate(Component::CONTROL_PLANE);
        let control_plane = Cluster::connect(control_plane, &kubeconfig.into()).await.unwrap();
        let manager = LifecycleManager::new(control_plane.clone(), NAMESPACE, Version::default());
        let avs = avs::Settings {
            endpoint: at("/avs/api/v2/evaluationmetadata"),
            token_endpoint: at("/oauth2/token"),
            client_id: PEOPLE.into(),
            user: PERSON.0.into(),
            password: PERSON.1.to_owned().into(),
            group_id: 41,
            parent_id: 77,
            internal: avs::Tester { access_id: 40, ..avs::Tester::default() },
            external: avs::Tester { access_id: 50, ..avs::Tester::default() },
            trial: self.trial,
            tag_classes: None,
        };
        let edp = edp::Settings {
            auth_url: at(""),
            admin_url: at("/edp"),
            namespace: "kcp".into(),
            secret: EDP.1.to_owned().into(),
            environment: "dev".into(),
        };
        let ias = ias::Settings {
            url: at("/ias"),
            user: "kcp-ias".into(),
            secret: "kcp-ias-secret".to_owned().into(),
            identity_provider: "kcp-people".into(),
        };
        let provisioner =
            provisioner::Settings { url: self.provisioner.url.parse().unwrap(), access: None };
        let reconciler = reconciler::Settings { url: at("/reconciler") };
        let releases = || Http::through(gate(Component::RELEASES), at("/kyma-releases")).unwrap();
        let kept = NonZeroUsize::new(100).unwrap();
        Env {
            catalog: catalog(),
            gardener: Gardener::new(garden(&self.running, clock, self.calls).await, PROJECT, OWNER),
            control_plane,
            clusters: Clusters::new(Component::RUNTIME, self.calls, clock.clone(), kept),
            follower: None,
            customer_clusters: Arc::new(
                Clusters::new(Component::RUNTIME, self.calls, clock.clone(), kept)
                    .of_customers(local()),
            ),
            components: ComponentLists::new(releases(), releases()),
            event_hubs: Some(self.event_hubs(clock).await),
            director: None,
            avs: Some(Avs::new(avs, gate(avs::COMPONENT), issuer()).unwrap()),
            edp: Some(Edp::new(edp, gate(edp::COMPONENT), issuer()).unwrap()),
            ias: Some(Ias::new(ias, gate(ias::COMPONENT)).unwrap()),
            lms: None,
            spc: None,
            reconciler: Some(
                Reconciler::through(gate(reconciler::COMPONENT), &reconciler).unwrap(),
            ),
            provisioner: Provisioner::through(gate(provisioner::COMPONENT), issuer(), &provisioner)
                .unwrap(),
            lifecycle_manager: Some(manager),
            creations: Creations::new(store.clone(), clock.clone()),
            store,
            settings: StepSettings::default(),
        }
    }

    /// The next calls that change something in a system meet trouble.
    pub(crate) fn trouble(&self, system: &str, method: &str, calls: u64, trouble: Kind) {
        let rule = Rule::next(calls, trouble).of(system).on(method, "/");
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// A system answers nothing any more.
    pub(crate) fn down(&self, system: &str) {
        let rule = Rule::next(1_000_000, Kind::Down { refuse: false }).of(system);
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// Ends all trouble.
    pub(crate) fn calm(&self) {
        self.running.landscape.troubles().clear(None).unwrap();
    }

    pub(crate) async fn until<F: Future<Output = bool>>(&self, so: impl Fn() -> F) {
        for _ in 0..4_000 {
            if so().await {
                return;
            }
            self.clock.sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not come about");
    }
}

async fn garden(running: &Running, clock: &Clock, calls: CallLimits) -> Cluster {
    let kubeconfig = running.clusters().garden_kubeconfig();
    let gate = Gate::new(Component::GARDENER, calls, clock.clone());
    Cluster::connect(gate, &kubeconfig.into()).await.unwrap()
}

/// Customers' clusters stand where the landscape does.
fn local() -> clients::kubernetes::Networks {
    clients::kubernetes::Networks::new(vec!["127.0.0.0/8".parse().unwrap()])
}
