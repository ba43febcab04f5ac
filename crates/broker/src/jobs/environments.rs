//! Removes Shoots that no instance has: for landscapes where people try things out.
//!
//! What a reader would get wrong: a Shoot that the provisioner knows is removed through it, and only what it does not know is deleted in
//! the garden. The job refuses to run without its guard.

use std::time::Duration;

use base::Key;
use clients::{Kind, gardener::Deletion, provisioner::Tenant};
use engine::StepError;

use super::{
    Env, Job,
    cx::{ActionError, ActionResult, Change, Next, PageCx},
    hours,
    shoots::{self, ShootEntry},
};

/// How many Shoots are removed in one page.
const PAGE: usize = 10;

pub(super) struct EnvironmentCleanUp;

impl Job for EnvironmentCleanUp {
    const NAME: &'static str = "environment-cleanup";
    const ABOUT: &'static str = "removes old Shoots that no instance has; never in production";
    const EVERY: Duration = hours(24);
    const ENABLED: bool = false;

    fn obstacle(&self, env: &Env) -> Option<&'static str> {
        let guarded = "jobs.environment_cleanup.allowed is not true: it removes clusters";
        (!env.settings.environments.allowed).then_some(guarded)
    }

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let settings = &cx.env.settings.environments;
        // Read again for every page: what has got an instance meanwhile is not removed.
        let all = shoots::removable(cx.env, &settings.selector).await?;
        let is_old = |entry: &ShootEntry| {
            entry.created_at.is_some_and(|at| {
                cx.now.duration_since(at).unsigned_abs() > settings.older_than && at < cx.now
            })
        };
        let behind = |name: &String| cx.cursor.is_none_or(|cursor| name.as_str() > cursor);
        let old: Vec<_> = all
            .iter()
            .filter(|(name, entry)| behind(name) && !entry.is_going && is_old(entry))
            .collect();
        let mut without = shoots::without_instance(cx.env, &old, PAGE + 1).await?;
        let more = without.len() > PAGE;
        without.truncate(PAGE);
        for name in &without {
            let Some(entry) = all.get(name) else { continue };
            let action = Box::pin(remove(cx.env, name, entry));
            let would = "would be removed: no instance has it";
            let change = Change { item: name, action: "deleteShoot", instance: None, would };
            cx.act(change, action).await?;
        }
        Ok(without.pop().filter(|_| more).into())
    }
}

async fn remove(env: &Env, name: &str, entry: &ShootEntry) -> Result<ActionResult, ActionError> {
    let removal = entry.removal.as_ref();
    let account = removal.and_then(|removal| removal.account.as_deref());
    if let (Some(runtime), Some(account)) = (&entry.runtime, account) {
        let key = Key::named("remove").formerly(1);
        match env.provisioner.deprovision(Tenant::new(account), key, runtime).await {
            Ok(operation) => {
                return Ok(ActionResult::done(format!(
                    "removed by the provisioner, operation {operation}"
                )));
            }
            // It knows nothing of the Shoot.
            Err(error) if error.kind == Kind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    match env
        .gardener
        .delete_exactly(name, removal.and_then(|removal| removal.uid.as_deref()))
        .await?
    {
        Deletion::Going => Ok(ActionResult::done("deleted in the garden")),
        Deletion::Gone => Ok(ActionResult::skipped("gone already")),
    }
}
