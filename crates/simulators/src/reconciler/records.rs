//! The clusters that the Reconciler looks after.

use std::collections::BTreeMap;

use fastrand::Rng;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Builder;

use crate::store::State;

/// Its own, so that its ids are not those of another system: `RECONCIL` in ASCII.
const SEED: u64 = 0x5245_434f_4e43_494c;
/// How many rounds are kept.
const MOST_ROUNDS: usize = 2_000;
/// How many configurations of a cluster are kept.
const MOST_CONFIGS: usize = 50;
/// How many statuses of a cluster are kept.
const MOST_CHANGES: usize = 500;

/// How far it is. What it is when it is deleted has no word: it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    ReconcilePending,
    Reconciling,
    ReconcileErrorRetryable,
    ReconcileDisabled,
    Ready,
    Error,
    DeletePending,
    Deleting,
    DeleteErrorRetryable,
    DeleteError,
}

impl Status {
    /// The status for callers: failures that will be retried look like work.
    pub(super) fn shown(self) -> Self {
        match self {
            Self::ReconcileErrorRetryable => Self::Reconciling,
            Self::DeleteErrorRetryable => Self::Deleting,
            other => other,
        }
    }
}

/// A part that does not work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Failing {
    pub(super) component: String,
    pub(super) reason: String,
}

/// One cluster.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cluster {
    pub(super) runtime_input: Value,
    pub(super) metadata: Value,
    pub(super) digest: String,
    pub(super) version: i64,
    pub(super) created_at: Timestamp,
    pub(super) configs: Vec<Config>,
    pub(super) status: Status,
    pub(super) since: Timestamp,
    pub(super) failed_rounds: u32,
    pub(super) failures: Vec<Failing>,
    pub(super) history: Vec<(Timestamp, Status)>,
    /// A word that an operator wants to be shown instead.
    pub(super) word: Option<String>,
    /// The runtime of the landscape that its kubeconfig opens.
    #[serde(default)]
    pub(super) runtime: Option<String>,
}

/// One configuration of a cluster.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Config {
    pub(super) version: i64,
    pub(super) cluster_version: i64,
    pub(super) digest: String,
    pub(super) says: Value,
    pub(super) parts: Vec<String>,
    pub(super) status: Status,
}

/// One round of reconciling.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) id: String,
    pub(super) runtime: String,
    pub(super) config: i64,
    pub(super) began_at: Timestamp,
    pub(super) ended: Option<(Timestamp, Status)>,
    pub(super) parts: Vec<String>,
    /// The parts that did not work.
    #[serde(default)]
    pub(super) failures: Vec<Failing>,
}

/// The script that an operator sets for a cluster.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Script {
    pub(super) failing_rounds: u32,
    pub(super) fails: bool,
    pub(super) failures: Vec<Failing>,
    pub(super) failing_deletions: u32,
    pub(super) deletion_sticks: bool,
    pub(super) refuses_kubeconfig: bool,
}

/// Everything the Reconciler keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    pub(super) clusters: BTreeMap<String, Cluster>,
    pub(super) scripts: BTreeMap<String, Script>,
    pub(super) rounds: Vec<Round>,
    pub(super) began: u64,
    pub(super) cluster_versions: i64,
    pub(super) config_versions: i64,
    pub(super) null_failures: bool,
}

/// A cluster as it was applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AppliedCluster {
    pub(super) id: String,
    pub(super) runtime_input: Value,
    pub(super) metadata: Value,
    pub(super) digest: String,
    pub(super) version: i64,
    pub(super) config: Config,
    pub(super) at: Timestamp,
    #[serde(default)]
    pub(super) runtime: Option<String>,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Applied(Box<AppliedCluster>),
    Moved { id: String, status: Status, at: Timestamp, failed_rounds: u32, failures: Vec<Failing> },
    Gone { id: String, at: Timestamp },
    Scripted { id: String, script: Script },
    Worded { id: String, word: Option<String> },
    NullFailures { on: bool },
    Forgotten { id: String },
}

impl Cluster {
    fn becomes(&mut self, status: Status, at: Timestamp) {
        (self.status, self.since) = (status, at);
        if let Some(config) = self.configs.last_mut() {
            config.status = status;
        }
        self.history.push((at, status));
        if self.history.len() > MOST_CHANGES {
            self.history.remove(0);
        }
    }
}

impl Records {
    fn applied(&mut self, applied: AppliedCluster) {
        let AppliedCluster { id, runtime_input, metadata, digest, version, config, at, runtime } =
            applied;
        self.cluster_versions = self.cluster_versions.max(version);
        self.config_versions = self.config_versions.max(config.version);
        let status = config.status;
        let cluster = self.clusters.entry(id).or_insert_with(|| Cluster {
            runtime_input: Value::Null,
            metadata: Value::Null,
            digest: String::new(),
            version,
            created_at: at,
            configs: Vec::new(),
            status,
            since: at,
            failed_rounds: 0,
            failures: Vec::new(),
            history: Vec::new(),
            word: None,
            runtime: None,
        });
        (cluster.runtime_input, cluster.metadata) = (runtime_input, metadata);
        (cluster.digest, cluster.version, cluster.runtime) = (digest, version, runtime);
        (cluster.failed_rounds, cluster.word) = (0, None);
        cluster.failures.clear();
        if cluster.configs.last().is_none_or(|last| last.version != config.version) {
            cluster.configs.push(config);
        }
        if cluster.configs.len() > MOST_CONFIGS {
            cluster.configs.remove(0);
        }
        cluster.becomes(status, at);
    }

    /// Begins a round when work begins, and ends the open one when it stops.
    fn note_round(&mut self, id: &str, status: Status, at: Timestamp, failures: &[Failing]) {
        if let Some(open) =
            self.rounds.iter_mut().rev().find(|round| round.runtime == id && round.ended.is_none())
        {
            open.ended = Some((at, status));
            open.failures = failures.to_vec();
        }
        if !matches!(status, Status::Reconciling | Status::Deleting) {
            return;
        }
        let Some(config) = self.clusters.get(id).and_then(|cluster| cluster.configs.last()) else {
            return;
        };
        self.began += 1;
        let random = Rng::with_seed(SEED ^ self.began).u128(..).to_be_bytes();
        self.rounds.push(Round {
            id: Builder::from_random_bytes(random).into_uuid().to_string(),
            runtime: id.into(),
            config: config.version,
            began_at: at,
            ended: None,
            parts: config.parts.clone(),
            failures: Vec::new(),
        });
        if self.rounds.len() > MOST_ROUNDS {
            self.rounds.remove(0);
        }
    }
}

impl State for Records {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Applied(applied) => {
                let (id, at, status) = (applied.id.clone(), applied.at, applied.config.status);
                self.applied(*applied);
                self.note_round(&id, status, at, &[]);
            }
            Event::Moved { id, status, at, failed_rounds, failures } => {
                self.note_round(&id, status, at, &failures);
                if let Some(cluster) = self.clusters.get_mut(&id) {
                    (cluster.failed_rounds, cluster.failures) = (failed_rounds, failures);
                    cluster.becomes(status, at);
                }
            }
            Event::Gone { id, at } => {
                self.note_round(&id, Status::Ready, at, &[]);
                self.clusters.remove(&id);
                self.scripts.remove(&id);
            }
            Event::Scripted { id, script } => drop(self.scripts.insert(id, script)),
            Event::Worded { id, word } => {
                if let Some(cluster) = self.clusters.get_mut(&id) {
                    cluster.word = word;
                }
            }
            Event::NullFailures { on } => self.null_failures = on,
            Event::Forgotten { id } => self.rounds.retain(|round| round.runtime != id),
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::Applied(applied) => format!("apply cluster/{}", applied.id),
            Event::Moved { id, status: Status::DeletePending, .. } => {
                format!("delete cluster/{id}")
            }
            Event::Moved { id, .. } => format!("setStatus cluster/{id}"),
            Event::Gone { id, .. } => format!("forget cluster/{id}"),
            Event::Scripted { id, .. } => format!("script cluster/{id}"),
            Event::Worded { id, .. } => format!("word cluster/{id}"),
            Event::NullFailures { .. } => "switch failures".into(),
            Event::Forgotten { id } => format!("purge reconciliations/{id}"),
        }
    }
}
