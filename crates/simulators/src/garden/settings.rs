//! The settings of a garden: its name, its initial objects, its durations.

use std::time::Duration;

use super::version::Version;

/// How a garden is furnished and how it behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Which Gardener it plays.
    pub version: Version,
    /// Whether the webhooks of the providers' extensions are asked; without them it is a bare API server of Gardener.
    pub webhooks: bool,
    /// The project; its namespace is `garden-<project>`.
    pub project: String,
    /// Shoots without a domain of their own get `<shoot>.<project>.<domain>`.
    pub domain: String,
    /// The accounts that are there from the start.
    pub pool: PoolSettings,
    /// How long things take at the watchable speed.
    pub durations: Durations,
    /// How often released accounts are cleaned, at the watchable speed; without it nobody cleans them.
    pub cleaning: Option<Duration>,
    /// How many writes of the controller are under way at once.
    pub writes: usize,
}

/// How many accounts of each sort there are for each provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSettings {
    /// For which providers.
    pub providers: Vec<String>,
    /// Nobody's yet.
    pub free: usize,
    /// Nobody's yet, and inside of the EU.
    pub eu: usize,
    /// For many tenants at once.
    pub shared: usize,
    /// Released, and waiting to be cleaned.
    pub dirty: usize,
    /// Claimed by `tenant`, and never released.
    pub internal: usize,
    /// Who has claimed the internal and the dirty ones.
    pub tenant: String,
}

/// How long things take at the watchable speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durations {
    /// Until a Shoot has a seed.
    pub schedule: Duration,
    /// From then to a cluster that is there.
    pub create: Duration,
    /// A change, also hibernation and waking.
    pub reconcile: Duration,
    /// A removal.
    pub delete: Duration,
    /// Until all conditions are true after that.
    pub care: Duration,
    /// Until a failed operation is tried again.
    pub retry: Duration,
    /// What comes late in a scenario comes so much later.
    pub late: Duration,
    /// How long operations are retried. Not scaled.
    pub retry_for: Duration,
    /// How often a healthy Shoot is reconciled anyway. Not scaled.
    pub resync: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: Version::default(),
            webhooks: true,
            project: "kyma".to_owned(),
            domain: "kyma.example.com".to_owned(),
            pool: PoolSettings::default(),
            durations: Durations::default(),
            cleaning: Some(Duration::from_secs(30)),
            writes: 32,
        }
    }
}

impl Default for PoolSettings {
    fn default() -> Self {
        let providers = ["aws", "azure", "gcp", "openstack"].map(str::to_owned).to_vec();
        let tenant = "landscape".to_owned();
        Self { providers, free: 20, eu: 5, shared: 2, dirty: 1, internal: 1, tenant }
    }
}

impl Default for Durations {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            schedule: seconds(1),
            create: seconds(8),
            reconcile: seconds(4),
            delete: seconds(6),
            care: seconds(1),
            retry: seconds(5),
            late: seconds(5),
            retry_for: Duration::from_hours(12),
            resync: Duration::from_hours(1),
        }
    }
}

impl Settings {
    /// The namespace of the project.
    pub fn namespace(&self) -> String {
        format!("garden-{}", self.project)
    }

    /// The domain of a Shoot that names none.
    pub(super) fn domain_of(&self, shoot: &str) -> String {
        format!("{shoot}.{}.{}", self.project, self.domain)
    }
}
