//! Which runtimes an orchestration is for, right now: instances page by page, and their maintenance windows.

use std::time::Duration;

use base::failure::chain;
use clients::Error as ClientError;
use domain::orchestration::{Parameters, no_time};
use jiff::Timestamp;
use store::broker::{Instance, InstanceFilter, NewMember, PageKey, Standing};
use uuid::Uuid;

use super::{
    OrchestrationEnv,
    policy::Runtime,
    source::WindowFacts,
    targets::{Candidate, Matcher},
};
use crate::Details;

/// How many instances are read at a time.
const PAGE: u32 = 500;
/// For how long a request waits for the maintenance windows, which is well within the time that it has itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// The runtimes that are meant, and those that are left out.
#[derive(Debug, Default)]
pub(crate) struct ResolvedTargets {
    /// In the order of the targets, then by age.
    pub(crate) members: Vec<NewMember>,
    /// The regions of those, in the same order.
    pub(crate) regions: Vec<String>,
    /// Selected runtimes that cannot be upgraded.
    pub(crate) skipped: Vec<SkippedRuntime>,
    /// How many of those could be upgraded if they had a maintenance window.
    pub(crate) without_window: usize,
}

/// A runtime that is meant and cannot be upgraded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkippedRuntime {
    pub(crate) instance: String,
    pub(crate) shoot_name: String,
    pub(crate) reason: String,
}

/// Why it cannot be said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("the instances cannot be read")]
    Store(#[from] store::Error),
    #[error("the maintenance windows cannot be read")]
    Windows(#[from] ClientError),
}

/// Works out which runtimes are meant, and when each may start.
pub(crate) async fn resolve(
    parts: &OrchestrationEnv,
    matcher: &Matcher,
    parameters: &Parameters,
    now: Timestamp,
) -> Result<ResolvedTargets, ResolveError> {
    let strategy = &parameters.strategy;
    let facts = if strategy.maintenance_window { Some(parts.windows.read().await?) } else { None };
    let scheduled = (strategy.schedule_time > now).then_some(strategy.schedule_time);
    let windows = Windows { facts, scheduled, now };
    let (mut found, mut skipped, mut without_window) = (Vec::new(), Vec::new(), 0);
    let mut after = None;
    loop {
        let page = page(parts, after).await?;
        for instance in page.instances {
            let Some(place) = included(matcher, &instance) else { continue };
            match windows.member(&instance) {
                Ok(member) => found.push((place, member, instance.region)),
                Err(reason) => {
                    without_window += usize::from(upgradable(&instance).is_ok());
                    let (instance, shoot_name) = (instance.id, instance.shoot_name);
                    skipped.push(SkippedRuntime { instance, shoot_name, reason });
                }
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    // Stable: what one target includes stays in the order of age.
    found.sort_by_key(|(place, ..)| *place);
    let canaries = usize::try_from(strategy.canary).unwrap_or_default();
    let mut resolved = ResolvedTargets { skipped, without_window, ..ResolvedTargets::default() };
    for (at, (_, member, region)) in found.into_iter().enumerate() {
        let wave = i64::from(at >= canaries);
        resolved.members.push(NewMember { wave, ..member });
        resolved.regions.push(region);
    }
    Ok(resolved)
}

/// Whether any runtime is meant that can be upgraded; why not when there is none. Looks no further than the first. Windows that cannot be
/// read now leave no runtime out: they are read again when runtimes are chosen.
pub(super) async fn means_anybody(
    parts: &OrchestrationEnv,
    matcher: &Matcher,
    parameters: &Parameters,
    now: Timestamp,
) -> Result<Result<(), String>, store::Error> {
    let windows = Windows { facts: readable(parts, parameters).await, scheduled: None, now };
    let (mut after, mut left_out) = (None, None);
    loop {
        let page = page(parts, after).await?;
        for instance in &page.instances {
            if included(matcher, instance).is_none() {
                continue;
            }
            match windows.member(instance) {
                Ok(_) => return Ok(Ok(())),
                Err(why) => {
                    left_out.get_or_insert_with(|| format!("instance {}: {why}", instance.id));
                }
            }
        }
        match (page.next, left_out) {
            (Some(next), kept) => (after, left_out) = (Some(next), kept),
            (None, None) => return Ok(Err("no runtime matches".into())),
            (None, Some(first)) => {
                return Ok(Err(format!("no runtime that matches can be upgraded now ({first})")));
            }
        }
    }
}

/// The maintenance windows, if they are asked for and can be read.
async fn readable(parts: &OrchestrationEnv, parameters: &Parameters) -> Option<WindowFacts> {
    if !parameters.strategy.maintenance_window {
        return None;
    }
    let why = tokio::select! {
        biased;
        read = parts.windows.read() => match read {
            Ok(facts) => return Some(facts),
            Err(error) => chain(&error),
        },
        () = parts.broker.parts().clock.sleep(PATIENCE) => "no answer in time".to_owned(),
    };
    tracing::warn!(why, "maintenance windows not read, runtimes without one not looked for");
    None
}

async fn page(
    parts: &OrchestrationEnv,
    after: Option<PageKey>,
) -> Result<store::broker::Page, store::Error> {
    let filter =
        InstanceFilter { deleted: Some(false), after, most: PAGE, ..InstanceFilter::default() };
    parts.store().list(&filter).await
}

/// By which target an instance is meant; none when it is not.
fn included(matcher: &Matcher, instance: &Instance) -> Option<usize> {
    let runtime_id = instance.runtime_id.map(|id| id.to_string()).unwrap_or_default();
    let details: Details = serde_json::from_slice(&instance.details).unwrap_or_default();
    let version = details.runtime_version.map(|version| version.version).unwrap_or_default();
    matcher.included_by(&Candidate {
        instance: &instance.id,
        runtime_id: &runtime_id,
        global_account: &instance.global_account,
        subaccount: &instance.subaccount,
        region: &instance.region,
        plan: &instance.plan_name,
        shoot: &instance.shoot_name,
        kyma_version: &version,
    })
}

/// When runtimes may start.
struct Windows {
    /// Only when windows are waited for.
    facts: Option<WindowFacts>,
    /// Not before.
    scheduled: Option<Timestamp>,
    now: Timestamp,
}

impl Windows {
    /// A runtime as it is stored, or why it cannot be upgraded.
    fn member(&self, instance: &Instance) -> Result<NewMember, String> {
        let runtime_id = upgradable(instance)?;
        let (mut rule, mut begin, mut end) = (None, self.scheduled, None);
        if let Some(facts) = &self.facts {
            let runtime = Runtime {
                plan: &instance.plan_name,
                global_account: &instance.global_account,
                region: &instance.region,
            };
            let shoot = facts.shoots.get(&instance.shoot_name);
            let window = facts.policy.window(&runtime, shoot)?;
            let from = self.scheduled.unwrap_or(self.now);
            let opening = window.open_or_next(from).ok_or("its maintenance window never opens")?;
            // A window that is open before the time is not waited for again.
            begin = Some(opening.begin.max(self.scheduled.unwrap_or_else(no_time)));
            (rule, end) = (Some(window.to_string()), Some(opening.end));
        }
        Ok(NewMember {
            operation: Uuid::now_v7(),
            wave: 0,
            instance: instance.id.clone(),
            runtime_id,
            shoot_name: instance.shoot_name.clone(),
            global_account: instance.global_account.clone(),
            subaccount: instance.subaccount.clone(),
            plan_id: instance.plan_id.clone(),
            plan_name: instance.plan_name.clone(),
            window_rule: rule,
            window_begin: begin,
            window_end: end,
        })
    }
}

/// The runtime of an instance, if it has one that stays.
fn upgradable(instance: &Instance) -> Result<Uuid, String> {
    let why = match instance.standing {
        Standing::Provisioning => "it is being provisioned",
        Standing::Deprovisioning => "it is being removed or suspended",
        Standing::Suspended => "it is suspended",
        Standing::Deprovisioned => "it was removed",
        Standing::Failed => "it could not be provisioned or removed",
        _ => return instance.runtime_id.ok_or_else(|| "it has no runtime".into()),
    };
    Err(why.into())
}
