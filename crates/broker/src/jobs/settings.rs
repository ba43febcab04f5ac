//! The operator's settings of jobs.

use std::{
    collections::BTreeMap,
    num::{NonZeroU16, NonZeroU32},
    time::Duration,
};

use clients::cis::Edition;

use super::hours;

/// The operator's settings of all jobs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// About each of them, by its name; a job that is not named here is as it is by default.
    pub jobs: BTreeMap<&'static str, JobSettings>,
    /// How long instances of a plan live, by the plan's name.
    pub expiry: BTreeMap<String, Duration>,
    /// Which interface of the central services tells deleted subaccounts.
    pub edition: Edition,
    /// Which Shoots are removed.
    pub environments: EnvironmentSettings,
    /// How long things are kept.
    pub archive: ArchiveSettings,
    /// How long a Shoot or an instance must have been as it is: one that is being made or removed is no difference.
    pub settled: Duration,
}

/// The operator's settings of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobSettings {
    /// Whether it runs by itself; as the job says if it is not given.
    pub enabled: Option<bool>,
    /// How often it runs; as the job says if it is not given.
    pub every: Option<Duration>,
    /// Whether runs by the clock only tell what they would do.
    pub dry_run: bool,
    /// On how many candidates it acts in a minute at most.
    pub rate: NonZeroU32,
}

/// The default rate.
const RATE: NonZeroU32 = NonZeroU32::new(120).unwrap();

impl Default for JobSettings {
    fn default() -> Self {
        Self { enabled: None, every: None, dry_run: false, rate: RATE }
    }
}

/// Which Shoots are removed that no instance has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentSettings {
    /// The guard: without it the job refuses to run.
    pub allowed: bool,
    /// How old a Shoot must be.
    pub older_than: Duration,
    /// Which Shoots, by their labels.
    pub selector: String,
}

impl Default for EnvironmentSettings {
    fn default() -> Self {
        let selector = "owner.do-not-delete!=true".into();
        Self { allowed: false, older_than: hours(24), selector }
    }
}

/// How long things are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// How long operations of removed instances are kept before they are archived.
    pub after: Duration,
    /// How long archived instances are kept.
    pub keep: Duration,
    /// How long runs of jobs are kept.
    pub keep_runs: Duration,
    /// How many instances are archived in one page.
    pub page: NonZeroU16,
}

impl Default for ArchiveSettings {
    fn default() -> Self {
        let page = const { NonZeroU16::new(50).unwrap() };
        Self { after: hours(30 * 24), keep: hours(365 * 24), keep_runs: hours(7 * 24), page }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let expiry = [("trial", hours(14 * 24)), ("free", hours(30 * 24))];
        Self {
            jobs: BTreeMap::new(),
            expiry: expiry.map(|(plan, period)| (plan.to_owned(), period)).into(),
            edition: Edition::CentralCursor,
            environments: EnvironmentSettings::default(),
            archive: ArchiveSettings::default(),
            settled: hours(1),
        }
    }
}

impl Settings {
    /// The settings of a job.
    pub(super) fn of(&self, name: &str) -> JobSettings {
        self.jobs.get(name).copied().unwrap_or_default()
    }
}
