//! The jobs that keep everything clean: when they run, how fast, and what they are about.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    num::NonZeroU32,
    time::Duration,
};

use anyhow::{Context, ensure};
use broker::{
    catalog::Catalog,
    jobs::{self, ArchiveSettings, EnvironmentSettings, JobSettings},
};
use clients::cis::Edition;
use confique::Config;
use jiff::{Span, SpanRelativeTo};
use serde::Deserialize;

use super::values::friendly;

/// A section with what every job has, and fields of its own.
macro_rules! job {
    (
        $(#[doc = $about:literal])* $name:ident: $job:literal, $enabled:literal, $every:literal, $dry_run:literal, $rate:literal;
        $($(#[$meta:meta])* $field:ident: $type:ty,)*
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Config)]
        #[config(layer_attr(serde(deny_unknown_fields)))]
        pub struct $name {
            /// Run on schedule (`kcp job` always works).
            #[config(env = $enabled)]
            pub enabled: Option<bool>,
            /// How often it runs. After a downtime it runs once, at once.
            #[config(env = $every, deserialize_with = friendly)]
            pub every: Option<Duration>,
            /// Only report.
            #[config(env = $dry_run, default = false)]
            pub dry_run: bool,
            /// On how many candidates it acts in a minute at most.
            #[config(env = $rate, default = 120)]
            pub rate: NonZeroU32,
            $($(#[$meta])* pub $field: $type,)*
        }

        impl $name {
            fn common(&self) -> (&'static str, JobSettings) {
                let Self { enabled, every, dry_run, rate, .. } = self;
                let of = JobSettings {
                    enabled: *enabled,
                    every: *every,
                    dry_run: *dry_run,
                    rate: *rate,
                };
                ($job, of)
            }
        }
    };
}

job! {
    /// Expires trial and free instances. Default: every hour.
    Expiry: "expiry", "KCP_BROKER_JOB_EXPIRY_ENABLED", "KCP_BROKER_JOB_EXPIRY_EVERY",
        "KCP_BROKER_JOB_EXPIRY_DRY_RUN", "KCP_BROKER_JOB_EXPIRY_RATE";
    /// How long instances live, by plan. In the environment: `trial=336h,free=720h`.
    #[config(env = "KCP_BROKER_JOB_EXPIRY_PLANS", default = { "trial": "336h", "free": "720h" }, parse_env = plan_periods)]
    plans: HashMap<String, String>,
}
job! {
    /// Continues removals that left something. Default: once a day.
    Retrigger: "deprovision-retrigger", "KCP_BROKER_JOB_RETRIGGER_ENABLED", "KCP_BROKER_JOB_RETRIGGER_EVERY",
        "KCP_BROKER_JOB_RETRIGGER_DRY_RUN", "KCP_BROKER_JOB_RETRIGGER_RATE";
}
job! {
    /// Removes bindings that have expired. Default: every ten minutes.
    BindingCleanup: "binding-cleanup", "KCP_BROKER_JOB_BINDINGS_ENABLED", "KCP_BROKER_JOB_BINDINGS_EVERY",
        "KCP_BROKER_JOB_BINDINGS_DRY_RUN", "KCP_BROKER_JOB_BINDINGS_RATE";
}
job! {
    /// Removes the instances of subaccounts that were deleted; needs `systems.cis.events`. Default: once a day.
    SubaccountCleanup: "subaccount-cleanup", "KCP_BROKER_JOB_SUBACCOUNTS_ENABLED", "KCP_BROKER_JOB_SUBACCOUNTS_EVERY",
        "KCP_BROKER_JOB_SUBACCOUNTS_DRY_RUN", "KCP_BROKER_JOB_SUBACCOUNTS_RATE";
    /// Which interface of the events service is called: `public`, `central` or `central-cursor`.
    #[config(env = "KCP_BROKER_JOB_SUBACCOUNTS_EDITION", default = "central-cursor")]
    edition: EventsEdition,
}
job! {
    /// Removes Shoots that no instance has: for landscapes where people try things out. Off by default; once a day.
    EnvironmentCleanup: "environment-cleanup", "KCP_BROKER_JOB_ENVIRONMENTS_ENABLED", "KCP_BROKER_JOB_ENVIRONMENTS_EVERY",
        "KCP_BROKER_JOB_ENVIRONMENTS_DRY_RUN", "KCP_BROKER_JOB_ENVIRONMENTS_RATE";
    /// The guard: whether this landscape's clusters may be removed. Without it the job refuses to run.
    #[config(env = "KCP_BROKER_JOB_ENVIRONMENTS_ALLOWED", default = false)]
    allowed: bool,
    /// How old a Shoot must be.
    #[config(env = "KCP_BROKER_JOB_ENVIRONMENTS_OLDER_THAN", default = "24h", deserialize_with = friendly)]
    older_than: Duration,
    /// Which Shoots, by their labels.
    #[config(env = "KCP_BROKER_JOB_ENVIRONMENTS_SELECTOR", default = "owner.do-not-delete!=true")]
    selector: String,
}
job! {
    /// Empties accounts that were given back, and returns them to the pool. Default: every twelve hours.
    SubscriptionCleanup: "subscription-cleanup", "KCP_BROKER_JOB_SUBSCRIPTIONS_ENABLED", "KCP_BROKER_JOB_SUBSCRIPTIONS_EVERY",
        "KCP_BROKER_JOB_SUBSCRIPTIONS_DRY_RUN", "KCP_BROKER_JOB_SUBSCRIPTIONS_RATE";
}
job! {
    /// Archives removed instances, and deletes archived instances and runs of jobs after their time. Default: once a day.
    Archive: "archive", "KCP_BROKER_JOB_ARCHIVE_ENABLED", "KCP_BROKER_JOB_ARCHIVE_EVERY",
        "KCP_BROKER_JOB_ARCHIVE_DRY_RUN", "KCP_BROKER_JOB_ARCHIVE_RATE";
    /// How long the operations of a removed instance are kept before it is archived.
    #[config(env = "KCP_BROKER_JOB_ARCHIVE_AFTER", default = "30d", deserialize_with = friendly)]
    after: Duration,
    /// How long archived instances are kept.
    #[config(env = "KCP_BROKER_JOB_ARCHIVE_KEEP", default = "365d", deserialize_with = friendly)]
    keep: Duration,
    /// How long runs of jobs are kept; the newest of each job always.
    #[config(env = "KCP_BROKER_JOB_ARCHIVE_KEEP_RUNS", default = "7d", deserialize_with = friendly)]
    keep_runs: Duration,
}
job! {
    /// Lists where stored and real state differ; repairs nothing. Default: once a day.
    Drift: "drift", "KCP_BROKER_JOB_DRIFT_ENABLED", "KCP_BROKER_JOB_DRIFT_EVERY",
        "KCP_BROKER_JOB_DRIFT_DRY_RUN", "KCP_BROKER_JOB_DRIFT_RATE";
    /// Minimum age of a difference before it is listed.
    #[config(env = "KCP_BROKER_JOB_DRIFT_SETTLED", default = "1h", deserialize_with = friendly)]
    settled: Duration,
}

/// The jobs that keep everything clean.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct AllJobSettings {
    /// Expires trial and free instances. Default: every hour.
    #[config(nested)]
    pub expiry: Expiry,
    /// Continues removals that left something. Default: once a day.
    #[config(nested)]
    pub deprovision_retrigger: Retrigger,
    /// Removes bindings that have expired. Default: every ten minutes.
    #[config(nested)]
    pub binding_cleanup: BindingCleanup,
    /// Removes the instances of subaccounts that were deleted; needs `systems.cis.events`. Default: once a day.
    #[config(nested)]
    pub subaccount_cleanup: SubaccountCleanup,
    /// Removes Shoots that no instance has: for landscapes where people try things out. Off by default; once a day.
    #[config(nested)]
    pub environment_cleanup: EnvironmentCleanup,
    /// Empties accounts that were given back, and returns them to the pool. Default: every twelve hours.
    #[config(nested)]
    pub subscription_cleanup: SubscriptionCleanup,
    /// Archives removed instances, and deletes archived instances and runs of jobs after their time. Default: once a day.
    #[config(nested)]
    pub archive: Archive,
    /// Lists where stored and real state differ; repairs nothing. Default: once a day.
    #[config(nested)]
    pub drift: Drift,
}

/// One of the interfaces of the events service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventsEdition {
    /// The public one.
    Public,
    /// The first central one.
    Central,
    /// The second central one.
    CentralCursor,
}

/// A text that is no list of plans and periods.
#[derive(Debug)]
struct NoPeriods(String);

impl fmt::Display for NoPeriods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not a list such as \"trial=336h,free=720h\"", self.0)
    }
}

impl std::error::Error for NoPeriods {}

fn plan_periods(text: &str) -> Result<HashMap<String, String>, NoPeriods> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (plan, period) = pair.split_once('=').ok_or_else(|| NoPeriods(text.to_owned()))?;
        Ok((plan.trim().to_owned(), period.trim().to_owned()))
    };
    pairs.map(pair).collect()
}

fn period(text: &str) -> anyhow::Result<Duration> {
    let wrong = || format!("\"{text}\" is not a duration such as \"336h\"");
    let span: Span = text.parse().with_context(wrong)?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).with_context(wrong)?;
    let period = Duration::try_from(span).with_context(wrong)?;
    ensure!(!period.is_zero(), wrong());
    Ok(period)
}

impl AllJobSettings {
    /// Refuses periods that are none, and plans that do not expire.
    pub(crate) fn check(&self, catalog: &Catalog, expiring: &[String]) -> anyhow::Result<()> {
        for (plan, text) in &self.expiry.plans {
            let key = format!("jobs.expiry.plans.{plan}");
            ensure!(catalog.plan_named(plan).is_some(), "{key}: the plan is not in the catalog");
            ensure!(expiring.contains(plan), "{key}: the plan is not in catalog.expiring_plans");
            period(text).context(key)?;
        }
        Ok(())
    }

    /// Settings of jobs; checked before.
    pub(crate) fn settings(&self) -> jobs::Settings {
        let Self {
            expiry,
            deprovision_retrigger,
            binding_cleanup,
            subaccount_cleanup,
            environment_cleanup,
            subscription_cleanup,
            archive,
            drift,
        } = self;
        let all = [
            expiry.common(),
            deprovision_retrigger.common(),
            binding_cleanup.common(),
            subaccount_cleanup.common(),
            environment_cleanup.common(),
            subscription_cleanup.common(),
            archive.common(),
            drift.common(),
        ];
        let periods = expiry.plans.iter();
        let periods = periods.filter_map(|(plan, text)| Some((plan.clone(), period(text).ok()?)));
        jobs::Settings {
            jobs: BTreeMap::from(all),
            expiry: periods.collect(),
            edition: match subaccount_cleanup.edition {
                EventsEdition::Public => Edition::Public,
                EventsEdition::Central => Edition::Central,
                EventsEdition::CentralCursor => Edition::CentralCursor,
            },
            environments: EnvironmentSettings {
                allowed: environment_cleanup.allowed,
                older_than: environment_cleanup.older_than,
                selector: environment_cleanup.selector.clone(),
            },
            archive: ArchiveSettings {
                after: archive.after,
                keep: archive.keep,
                keep_runs: archive.keep_runs,
                ..ArchiveSettings::default()
            },
            settled: drift.settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings;

    fn read(text: &str) -> anyhow::Result<jobs::Settings> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("broker.toml");
        std::fs::write(&file, text).unwrap();
        let settings = settings::load(Some(&file))?;
        let catalog = Catalog::embedded().unwrap();
        settings.jobs.check(&catalog, &settings.catalog.expiring_plans)?;
        Ok(settings.jobs.settings())
    }

    #[test]
    fn settings_of_every_job_reach_it() {
        for name in jobs::names() {
            let section = name.replace('-', "_");
            let text = format!(
                "[jobs.{section}]\nenabled = false\nevery = \"7h\"\ndry_run = true\nrate = 3\n"
            );

            let of = read(&text).unwrap().jobs[name];

            assert_eq!(of.enabled, Some(false), "{name}");
            assert_eq!(of.every, Some(Duration::from_hours(7)), "{name}");
            assert!(of.dry_run && of.rate.get() == 3, "{name}");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_jobs() {
        let (read, default) = (read("").unwrap(), jobs::Settings::default());

        assert_eq!(read.expiry, default.expiry);
        assert_eq!(read.edition, default.edition);
        assert_eq!(read.environments, default.environments);
        assert_eq!(read.archive, default.archive);
        assert_eq!(read.settled, default.settled);
        assert!(read.jobs.values().all(|of| *of == JobSettings::default()));
    }

    #[test]
    fn what_a_job_is_about_can_be_set() {
        let text = "[jobs.subaccount_cleanup]\nedition = \"public\"\n\
            [jobs.environment_cleanup]\nallowed = true\nolder_than = \"2h\"\nselector = \"a=b\"\n\
            [jobs.archive]\nafter = \"1d\"\nkeep = \"2d\"\nkeep_runs = \"3d\"\n\
            [jobs.drift]\nsettled = \"5m\"\n[jobs.expiry]\nplans = { trial = \"1d\" }\n";

        let settings = read(text).unwrap();

        assert_eq!(settings.edition, Edition::Public);
        assert!(settings.environments.allowed);
        assert_eq!(settings.environments.older_than, Duration::from_hours(2));
        assert_eq!(settings.environments.selector, "a=b");
        assert_eq!(settings.archive.after, Duration::from_hours(24));
        assert_eq!(settings.archive.keep, Duration::from_hours(48));
        assert_eq!(settings.archive.keep_runs, Duration::from_hours(72));
        assert_eq!(settings.expiry, [("trial".to_owned(), Duration::from_hours(24))].into());
        assert_eq!(settings.settled, Duration::from_mins(5));
        let periods = plan_periods("trial=1h, free=2h").unwrap();
        assert_eq!(periods.len(), 2);
    }

    #[test]
    fn periods_that_cannot_be_kept_are_refused_by_name() {
        for (plans, problem) in [
            ("{ moon = \"1h\" }", "jobs.expiry.plans.moon: the plan is not in the catalog"),
            ("{ aws = \"1h\" }", "not in catalog.expiring_plans"),
            ("{ trial = \"soon\" }", "is not a duration"),
            ("{ trial = \"0s\" }", "is not a duration"),
        ] {
            let refused = read(&format!("[jobs.expiry]\nplans = {plans}\n")).unwrap_err();
            assert!(format!("{refused:#}").contains(problem), "{plans}: {refused:#}");
        }
    }
}
