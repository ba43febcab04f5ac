//! The jobs that keep everything clean: each is one file here and one line in the list below.
//!
//! What a reader would get wrong: a run of a job is an operation of the engine. So it survives a crash, one replica works on it at a
//! time, two starts at once are one run, and operators see it beside the other operations (`docs/decisions/0120`).

mod archive;
mod audited;
mod bindings;
mod cluster_spec;
mod cursor;
mod cx;
mod details;
mod drift;
mod env;
mod environments;
mod expiry;
mod report;
mod retrigger;
mod run;
mod schedule;
mod service;
mod settings;
mod shoots;
mod subaccounts;
mod subscriptions;

use std::{future::Future, pin::Pin, time::Duration};

use engine::StepError;

pub use details::DetailPage;
pub use env::{Aws, Azure, Env};
pub use report::{Detail, Outcome, Report};
pub use run::{Data, Input, JobRun, KIND, plan};
pub use schedule::keep;
pub use service::{Error, JobView, Jobs, LastRun, StartedRun};
pub use settings::{ArchiveSettings, EnvironmentSettings, JobSettings, Settings};

use cx::{Next, PageCx};

/// After how many actions a page ends at the latest: the rate holds between pages, and a crash repeats one page.
const MOST_ACTIONS: u32 = 20;

/// A job: work on candidates, page by page.
trait Job: Send + Sync + 'static {
    /// Stored with every run, in settings and commands. Once released, it does not change.
    const NAME: &'static str;
    /// A sentence for operators.
    const ABOUT: &'static str;
    /// How often it runs unless the settings say otherwise.
    const EVERY: Duration;
    /// Whether it runs by itself unless the settings say otherwise.
    const ENABLED: bool = true;

    /// Why it cannot run here; none when it can.
    fn obstacle(&self, env: &Env) -> Option<&'static str> {
        let _ = env;
        None
    }

    /// Works on the candidates behind the cursor, and ends when [`PageCx::is_full`]. Everything it does is safe to do again: a page that
    /// was cut short is repeated.
    fn page(&self, cx: &mut PageCx<'_>) -> impl Future<Output = Result<Next, StepError>> + Send;
}

/// A job without its type.
trait AnyJob: Send + Sync {
    fn name(&self) -> &'static str;
    fn about(&self) -> &'static str;
    fn every(&self) -> Duration;
    fn enabled(&self) -> bool;
    fn obstacle(&self, env: &Env) -> Option<&'static str>;
    fn page<'a>(
        &'a self,
        cx: &'a mut PageCx<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<Next, StepError>> + Send + 'a>>;
}

impl<J: Job> AnyJob for J {
    fn name(&self) -> &'static str {
        J::NAME
    }
    fn about(&self) -> &'static str {
        J::ABOUT
    }
    fn every(&self) -> Duration {
        J::EVERY
    }
    fn enabled(&self) -> bool {
        J::ENABLED
    }
    fn obstacle(&self, env: &Env) -> Option<&'static str> {
        Job::obstacle(self, env)
    }
    fn page<'a>(
        &'a self,
        cx: &'a mut PageCx<'_>,
    ) -> Pin<Box<dyn Future<Output = Result<Next, StepError>> + Send + 'a>> {
        Box::pin(Job::page(self, cx))
    }
}

/// All jobs, in the order in which they are listed.
const ALL: [&dyn AnyJob; 8] = [
    &expiry::Expiry,
    &retrigger::Retrigger,
    &bindings::BindingCleanUp,
    &subaccounts::SubaccountCleanUp,
    &environments::EnvironmentCleanUp,
    &subscriptions::SubscriptionCleanUp,
    &archive::Archive,
    &drift::Drift,
];

/// A job by its name.
fn find(name: &str) -> Option<&'static dyn AnyJob> {
    ALL.into_iter().find(|job| job.name() == name)
}

/// The names of all jobs.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(AnyJob::name)
}

const fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 3600)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_job_has_a_name_of_its_own_that_can_be_typed() {
        let unique: BTreeSet<&str> = names().collect();

        assert_eq!(unique.len(), ALL.len());
        for name in names() {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
            assert!(find(name).is_some_and(|job| !job.about().is_empty()), "{name}");
        }
        assert!(find("unknown").is_none());
    }
}
