//! Where the five systems are, and clients for them.

use base::Clock;
use clients::{
    CallLimits, Component, Gate,
    avs::{self, Avs, Runtime, Tag, TagClasses, Tester, Trial},
    edp::{self, Edp},
    ias::{self, Ias},
    lms::{self, ClusterType, Lms},
    spc::{self, Spc},
};
use std::sync::{Arc, OnceLock};
use url::Url;

/// Where the systems are. Every client that it gives has a gate of its own, unless they are kept.
#[derive(Clone)]
pub(crate) struct TestSystems {
    pub(crate) systems: Url,
    pub(crate) issuer: Url,
    pub(crate) limits: CallLimits,
    pub(crate) clock: Clock,
    pub(crate) kept: Option<Arc<ClientCache>>,
}

#[derive(Default)]
pub(crate) struct ClientCache {
    avs: OnceLock<Avs>,
    edp: OnceLock<Edp>,
    ias: OnceLock<Ias>,
    lms: OnceLock<Lms>,
    spc: OnceLock<Spc>,
}

pub(crate) const RUNTIME: Runtime<'_> = Runtime {
    plan: "aws",
    instance_id: "0b1c",
    instance_name: "demo",
    global_account_id: "ga-1",
    subaccount_id: "SA-1",
    shoot_name: "c-1a2b3c4",
};

impl TestSystems {
    pub(crate) fn new(systems: Url, issuer: Url, clock: &Clock) -> Self {
        Self { systems, issuer, limits: CallLimits::DEFAULT, clock: clock.clone(), kept: None }
    }

    /// The same place, which from now on gives the same client every time: making one takes long.
    pub(crate) fn keeping_clients(self) -> Self {
        Self { kept: Some(Arc::default()), ..self }
    }

    fn once<T: Clone>(&self, of: fn(&ClientCache) -> &OnceLock<T>, make: impl Fn() -> T) -> T {
        self.kept.as_ref().map_or_else(&make, |kept| of(kept).get_or_init(&make).clone())
    }

    fn at(&self, path: &str) -> Url {
        self.systems.join(path).unwrap()
    }

    fn gate(&self, component: Component) -> Arc<Gate> {
        Gate::new(component, self.limits, self.clock.clone())
    }

    fn issuer_gate(&self) -> Arc<Gate> {
        Gate::new(Component::ISSUER, CallLimits::DEFAULT, self.clock.clone())
    }

    pub(crate) fn avs_settings(&self) -> avs::Settings {
        let tag = Tag { content: "c".into(), tag_class_id: 1, tag_class_name: "n".into() };
        let tester =
            |access_id, service: &str, tags| Tester { access_id, service: service.into(), tags };
        avs::Settings {
            endpoint: self.at("/avs/api/v2/evaluationmetadata"),
            token_endpoint: self.issuer.join("/oauth2/token").unwrap(),
            client_id: "kcp".into(),
            user: "admin".into(),
            password: "pass word".to_owned().into(),
            group_id: 41,
            parent_id: 77,
            internal: tester(40, "svc", Vec::new()),
            external: tester(50, "", vec![tag]),
            trial: Trial::of(1, 2, 3),
            tag_classes: Some(TagClasses { shoot_name: 251, seed_name: 252, region: 253 }),
        }
    }

    pub(crate) fn avs(&self) -> Avs {
        self.once(|kept| &kept.avs, || self.new_avs())
    }

    fn new_avs(&self) -> Avs {
        Avs::new(self.avs_settings(), self.gate(avs::COMPONENT), self.issuer_gate()).unwrap()
    }

    pub(crate) fn edp(&self) -> Edp {
        self.once(|kept| &kept.edp, || self.new_edp())
    }

    fn new_edp(&self) -> Edp {
        let settings = edp::Settings {
            auth_url: self.issuer.clone(),
            admin_url: self.at("/edp"),
            namespace: "kcp".into(),
            secret: "edp secret".to_owned().into(),
            environment: "dev".into(),
        };
        Edp::new(settings, self.gate(edp::COMPONENT), self.issuer_gate()).unwrap()
    }

    pub(crate) fn ias(&self) -> Ias {
        self.once(|kept| &kept.ias, || self.new_ias())
    }

    fn new_ias(&self) -> Ias {
        let settings = ias::Settings {
            url: self.at("/ias"),
            user: "kcp-ias".into(),
            secret: "kcp-ias-secret".to_owned().into(),
            identity_provider: "kcp-people".into(),
        };
        Ias::new(settings, self.gate(ias::COMPONENT)).unwrap()
    }

    pub(crate) fn lms(&self) -> Lms {
        self.once(|kept| &kept.lms, || self.new_lms())
    }

    fn new_lms(&self) -> Lms {
        let settings = lms::Settings {
            url: self.at("/lms"),
            token: "kcp-lms-token".to_owned().into(),
            cluster_type: ClusterType::SingleNode,
            environment: "dev".into(),
            saml_tenant: "saml".into(),
            region: None,
        };
        Lms::new(settings, self.gate(lms::COMPONENT)).unwrap()
    }

    pub(crate) fn spc(&self) -> Spc {
        self.once(|kept| &kept.spc, || self.new_spc())
    }

    fn new_spc(&self) -> Spc {
        let settings = spc::Settings { url: self.at("/spc") };
        Spc::new(settings, self.gate(spc::COMPONENT)).unwrap()
    }
}
