//! The clients and settings of jobs in a landscape.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use base::Clock;
use broker::{
    bindings::{Bindings, RuntimeReach},
    catalog::{Catalog, Offer},
    instances::{Broker, Parts, Settings, SuspensionPlans},
    jobs::{self, Aws, Azure, Env},
};
use clients::{
    CallLimits, Component, Gate,
    aws::{self, Market},
    azure::{self, Cloud},
    cis,
    gardener::{BindingKind, Gardener},
    kubernetes::{Cluster, Clusters},
    provisioner::{self, Provisioner},
};
use simulators::testing::{MACHINE, Running};
use store::{BrokerStore, EngineStore};
use url::Url;

/// Nothing listens there: a provisioner that is down.
pub(crate) const NOWHERE: &str = "http://127.0.0.1:9";
const DAY: Duration = Duration::from_hours(24);

/// A landscape, and the address of the provisioner.
pub(crate) struct Outside<'a> {
    pub(crate) running: &'a Running,
    pub(crate) provisioner: &'a str,
}

impl Outside<'_> {
    pub(crate) async fn env(
        &self,
        clock: &Clock,
        store: &BrokerStore,
        storage: &EngineStore,
        settings: jobs::Settings,
    ) -> Env {
        let running = self.running;
        let at = |path: &str| -> Url { format!("{}{path}", running.url).parse().unwrap() };
        let calls = CallLimits { call: Duration::from_secs(10), ..CallLimits::CLUSTER };
        let gate = |component| Gate::new(component, calls, clock.clone());
        let kubeconfig = running.clusters().garden_kubeconfig();
        let garden = Cluster::connect(gate(Component::GARDENER), &kubeconfig.into()).await.unwrap();
        let plans = ["aws", "trial", "free"].map(str::to_owned).to_vec();
        let broker = Broker::new(Parts {
            store: store.clone(),
            operations: storage.clone(),
            shapes: Vec::new(),
            catalog: Arc::new(Catalog::embedded().unwrap()),
            offer: Offer { plans, ..Offer::default() },
            accounts: None,
            settings: Settings {
                legacy: None,
                suspension: SuspensionPlans::default(),
                dashboard: "https://dashboard.test".into(),
                shoot_domain: "kyma.test".into(),
                kubeconfig_label: None,
                trial_notice: None,
            },
            clock: clock.clone(),
        });
        let provisioner =
            provisioner::Settings { url: self.provisioner.parse().unwrap(), access: None };
        let tokens = || gate(Component::ISSUER);
        let provisioner =
            Provisioner::through(gate(provisioner::COMPONENT), tokens(), &provisioner).unwrap();
        let clusters =
            Clusters::new(Component::RUNTIME, calls, clock.clone(), NonZeroUsize::new(10).unwrap());
        let reach = RuntimeReach { provisioner: provisioner.clone(), clusters };
        let cis = cis::Settings {
            url: at("/cis"),
            token_url: at("/oauth2/token"),
            client_id: MACHINE.0.into(),
            client_secret: MACHINE.1.to_owned().into(),
            page_size: 2,
        };
        Env {
            bindings: Bindings::new(broker.clone(), reach, Duration::from_secs(5)),
            broker,
            gardener: Gardener::new(garden, "kyma", "kcp-test"),
            account_bindings: BindingKind::Secret,
            provisioner,
            events: Some(cis::Events::through(gate(cis::COMPONENT), tokens(), &cis).unwrap()),
            aws: Aws {
                endpoint: Some(at("/aws/")),
                market: Market::Chinese,
                gate: gate(aws::COMPONENT),
            },
            azure: Azure {
                cloud: Cloud { authority: at("/azure"), management: at("/azure") },
                gate: gate(azure::COMPONENT),
                tokens: tokens(),
            },
            settings,
        }
    }
}

/// A broker whose orders are so old.
pub(crate) fn days_ago(env: &Env, clock: &Clock, days: u32) -> Broker {
    let parts = env.broker.parts();
    let clock = Clock::held_at(clock.now() - DAY * days);
    let store = BrokerStore::new(parts.operations.clone(), clock.clone());
    Broker::new(Parts {
        operations: store.engine().clone(),
        store,
        shapes: Vec::new(),
        catalog: parts.catalog.clone(),
        offer: parts.offer.clone(),
        accounts: None,
        settings: parts.settings.clone(),
        clock,
    })
}
