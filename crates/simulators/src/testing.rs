//! A landscape on a socket of its own, for the tests of its clients; all that can happen to a call, and what is logged
//! meanwhile.
//!
//! What a reader would get wrong: stopping it closes nothing and writes nothing. Started again in
//! the same folder it must find everything, as after a kill.

mod elsewhere;
mod fault;
mod lines;
pub mod tables;

use std::{
    fs,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use base::Clock;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::{
    clusters::{self, Clusters},
    director,
    issuer::{self, Client, Grant, SigningKey, User},
    landscape::{Landscape, SCOPES, Settings, router},
    pace::Speed,
    runtime::{AGENT, deployment},
    trouble::wire::{Line, Wires},
};

pub use self::{
    elsewhere::elsewhere,
    fault::{Fault, Speaks},
    lines::{Lines, leaked},
};

/// The client that speaks for itself, and its secret.
pub const MACHINE: (&str, &str) = ("machine", "secret");
/// The public client under which people log in.
pub const PEOPLE: &str = "kcp";
/// The one person, and the password.
pub const PERSON: (&str, &str) = ("admin", "pass word");
/// The client that speaks to the event data platform, and its secret; its namespace is `kcp`.
pub const EDP: (&str, &str) = ("edp-namespace;kcp", "edp secret");
/// The tenants that the Director knows.
pub const TENANTS: [&str; 2] = ["ga-1", "ga-2"];

/// The scopes that our own provisioner asks for.
const OURS: [&str; 4] =
    ["provisioner:read", "provisioner:write", "provisioner:kubeconfig", "tenants:any"];

/// Options of a test.
#[derive(Debug, Clone)]
pub struct Options {
    /// How fast the world is at first.
    pub speed: Speed,
    /// Whether the Director plays the runtime agent; the agent in the runtimes is there anyhow.
    pub plays_agent: bool,
    /// The clusters; the garden's pool is a small one.
    pub clusters: clusters::Settings,
}

impl Default for Options {
    fn default() -> Self {
        let mut clusters = clusters::Settings::default();
        // Furnishing a garden takes as long as there are accounts in its pool.
        let pool = &mut clusters.garden.pool;
        (pool.free, pool.eu, pool.shared) = (3, 1, 1);
        // Tests say themselves when a released account is clean.
        clusters.garden.cleaning = None;
        Self { speed: Speed::WATCHABLE, plays_agent: true, clusters }
    }
}

/// A landscape that is being served.
pub struct Running {
    /// Where it answers.
    pub url: String,
    /// The landscape itself: its ledger, its trouble, its systems.
    pub landscape: Arc<Landscape>,
    clusters: Clusters,
    /// How many connections are open, as it changes.
    pub open: watch::Receiver<usize>,
    serving: JoinHandle<()>,
}

impl Running {
    /// Serves the landscape that is kept in `folder`. The same seed and the same calls give the
    /// same ids and meet the same trouble.
    pub async fn start(folder: &Path, clock: Clock, seed: u64) -> Self {
        Self::with(folder, clock, seed, Options::default()).await
    }

    /// The same, with options.
    pub async fn with(folder: &Path, clock: Clock, seed: u64, options: Options) -> Self {
        let free = async || TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let listener = free().await;
        let address = listener.local_addr().expect("the socket is bound");
        let url = format!("http://{address}");
        let mut settings = settings(&url, folder, seed);
        settings.speed = options.speed;
        settings.director.plays_agent = options.plays_agent;
        let landscape = Landscape::open(settings, folder, clock)
            .expect("the folder is readable and holds a landscape or nothing");
        let landscape = Arc::new(landscape);
        let routes = router(&landscape).into_make_service_with_connect_info::<Line>();
        let wires = Wires::new(listener);
        let open = wires.open();
        let serving = tokio::spawn(async move {
            let _ = axum::serve(wires, routes).await;
        });
        let inside = folder.join("clusters");
        let clusters = Clusters::start(&landscape, options.clusters, &inside, free().await).await;
        let clusters = clusters.expect("the folder is readable and holds clusters or nothing");
        Self { url, landscape, clusters, open, serving }
    }

    /// The clusters.
    pub fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// Brings the Deployment of the runtime agent into a runtime, as the Reconciler does.
    pub fn install_agent(&self, runtime: &str) {
        let agent = deployment(AGENT, "kube-system", "1");
        let server = self.clusters.server();
        server.apply(runtime, "reconciler", &agent).expect("the runtime is there");
    }

    /// A token with these scopes.
    pub fn token(&self, scopes: &[&str]) -> String {
        let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        let issuer = self.landscape.issuer();
        let claims = issuer.claims(MACHINE.0, MACHINE.0, &scopes, &[]);
        issuer.sign(&claims).expect("the key signs")
    }

    /// Ends it as a kill does.
    pub async fn kill(self) {
        self.serving.abort();
        let _ = self.serving.await;
        self.clusters.stop().await;
    }
}

fn settings(url: &str, folder: &Path, seed: u64) -> Settings {
    let scopes: Vec<String> = SCOPES.iter().chain(&OURS).map(ToString::to_string).collect();
    let grants = vec![Grant::Password, Grant::AuthorizationCode, Grant::Device, Grant::Refresh];
    let machine = Client {
        id: MACHINE.0.into(),
        secret: Some(MACHINE.1.to_owned().into()),
        grants: vec![Grant::ClientCredentials],
        scopes: scopes.clone(),
    };
    let edp = Client { id: EDP.0.into(), secret: Some(EDP.1.to_owned().into()), ..machine.clone() };
    let people = Client { id: PEOPLE.into(), secret: None, grants, scopes: scopes.clone() };
    Settings {
        issuer: issuer::Settings {
            url: url.into(),
            audience: vec!["kcp".into()],
            lifetime: Duration::from_hours(1),
            clients: vec![machine, edp, people],
            users: vec![User {
                name: PERSON.0.into(),
                password: PERSON.1.to_owned().into(),
                scopes,
                groups: vec!["runtimeAdmin".into()],
            }],
        },
        key: key(folder),
        director: director::Settings {
            tenants: TENANTS.map(str::to_owned).to_vec(),
            connecting: Duration::from_secs(60),
            seed,
            ..director::Settings::default()
        },
        speed: Speed::WATCHABLE,
        seed,
    }
}

/// One key for all tests of a process: making one takes long.
fn key(folder: &Path) -> SigningKey {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    let path = folder.join("issuer-key.pem");
    let read = || SigningKey::from_file_or_create(&path).expect("a key is read or made");
    let made = MADE.get_or_init(|| {
        read();
        fs::read(&path).expect("the key was just written")
    });
    fs::write(&path, made).expect("the folder is writable");
    read()
}
