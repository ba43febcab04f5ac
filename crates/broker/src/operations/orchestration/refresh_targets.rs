//! Looks for the runtimes of a scheduled orchestration again and again until it begins: some are ordered meanwhile, others removed.
//!
//! What a reader would get wrong: a runtime that stays keeps the operation that it was given. The others are stored anew with it, so
//! that canaries and the order are those of the runtimes that there are. When they cannot be looked for, nothing waits for that: what was
//! found before counts.

use std::collections::{BTreeMap, BTreeSet};

use clients::spc::{Event, Tenant};
use domain::orchestration::{Kind, no_time};
use engine::step::Waiting;
use jiff::Timestamp;
use store::broker::{Member, MemberFilter, NewMember, Orchestration, Resolution};

use super::{
    Orchestrating, as_transient, event_type, orchestration,
    resolve_targets::{LOOK, description, targets},
    stored,
};
use crate::{
    operations::{prelude::*, shared::outlasted},
    orchestrations::{is_changed, kind, parameters, signal},
};

/// How long runtimes are looked for in vain when it is time to begin, and how long notifying customers is then tried. Both together are
/// the longest that a begin is put off.
const LOOKING: Duration = mins(5);
const TELLING: Duration = mins(5);

pub(super) struct RefreshTargets;

impl Step<Orchestrating> for RefreshTargets {
    const NAME: &'static str = "Refresh_Targets";
    const CALLS: &'static [&'static str] = &["gardener", "control plane"];
    const RETRY: Retry =
        Retry::DEFAULT.each_within(mins(5)).backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        let begins = asked.strategy.schedule_time;
        let looked = cx.data.resolved_at.unwrap_or_else(no_time);
        if row.state != "in progress" {
            return done();
        }
        if begins <= looked {
            return tell_last(cx, &row).await;
        }
        let due = begins.min(looked + LOOK);
        if cx.now < due {
            return wait_until(cx, due).into();
        }
        let members = match refresh(cx, &row).await {
            Ok(Some(members)) => members,
            // It has begun, or has ended: what is stored stays.
            Ok(None) => return done(),
            Err(error) => return without(cx, &row, begins, error).await,
        };
        cx.data.resolved_at = Some(cx.now);
        if begins <= cx.now {
            return tell_last(cx, &row).await;
        }
        let planned = members.iter().map(PlannedWindow::from);
        match tell(cx, &row, planned.collect()).await {
            Ok(()) => {}
            Err(StepError::NotHeld) => return Err(StepError::NotHeld),
            Err(StepError::Transient { failure, .. } | StepError::Fatal(failure)) => {
                warn(&row, UNTOLD, &failure);
            }
        }
        wait_until(cx, begins.min(cx.now + LOOK)).into()
    }
}

/// Goes on when runtimes cannot be looked for: they are looked for again while there is time.
async fn without(
    cx: &mut Cx<'_, Orchestrating>,
    row: &Orchestration,
    begins: Timestamp,
    error: StepError,
) -> StepResult {
    match error {
        StepError::Transient { failure, .. } if cx.now < begins => {
            warn(row, "runtimes not looked for, trying again before it begins", &failure);
            wait_until(cx, begins.min(cx.now + LOOK)).into()
        }
        StepError::Transient { failure, .. } if cx.now >= begins + LOOKING => {
            warn(
                row,
                "runtimes not looked for, it begins with those that were found before",
                &failure,
            );
            cx.data.resolved_at = Some(cx.now);
            tell_last(cx, row).await
        }
        error => Err(error),
    }
}

fn wait_until(cx: &Cx<'_, Orchestrating>, due: Timestamp) -> Waiting {
    let left = due.duration_since(cx.now).try_into().unwrap_or(LOOK);
    waiting("it begins later").at_latest(left).or_signal(signal(cx.input.orchestration))
}

/// Stores which runtimes are meant now. Gives those that are stored; none when others must stay.
async fn refresh(
    cx: &mut Cx<'_, Orchestrating>,
    row: &Orchestration,
) -> Result<Option<Vec<NewMember>>, StepError> {
    let asked = parameters(row).map_err(|error| stored(&error))?;
    // As before its time also when the time has come: windows are looked for from then on, and what is planned stays so.
    let at = cx.now.min(asked.strategy.schedule_time - Duration::from_micros(1));
    let resolved = as_transient(targets(cx, &asked, at).await)?;
    let description = description(&resolved);
    let before = members(cx, row).await?;
    let found = with_operations_of(&before, resolved.members);
    if is_same(&before, &found) {
        return Ok(Some(found));
    }
    // Written down first: a run that dies behind the change has customers to tell.
    let untold_before = cx.data.untold.clone();
    cx.data.untold.extend(changed(kind(row), &before, &found));
    let stays = |it: &&Member| found.iter().any(|new| new.instance == it.instance);
    let left = before.iter().filter(|it| !stays(it)).map(|it| it.instance.clone());
    cx.data.left.extend(left);
    cx.save().await?;
    let resolution = Resolution {
        orchestration: row.id,
        description: &description,
        member_description: "Operation created",
    };
    let replaced = cx.env.store().replace_members(cx.operation, &resolution, &found).await;
    if !replaced.map_err(|error| stored(&error))? {
        cx.data.untold = untold_before;
        return Ok(None);
    }
    cx.note(description);
    Ok(Some(found))
}

/// The runtimes that are stored.
async fn members(
    cx: &Cx<'_, Orchestrating>,
    row: &Orchestration,
) -> Result<Vec<Member>, StepError> {
    let filter = MemberFilter {
        orchestration: row.id,
        states: vec![],
        current: true,
        skip: 0,
        most: 1_000_000,
    };
    Ok(cx.env.store().members(&filter).await.map_err(|error| stored(&error))?.members)
}

/// Runtimes that were chosen before keep their operations.
fn with_operations_of(before: &[Member], found: Vec<NewMember>) -> Vec<NewMember> {
    let known: BTreeMap<&str, &Member> =
        before.iter().map(|member| (member.instance.as_str(), member)).collect();
    let kept = |new: NewMember| match known.get(new.instance.as_str()) {
        Some(member) => NewMember { operation: member.operation, ..new },
        None => new,
    };
    found.into_iter().map(kept).collect()
}

fn is_same(before: &[Member], found: &[NewMember]) -> bool {
    let same = |(member, new): (&Member, &NewMember)| {
        member.operation == new.operation
            && (member.wave, member.window_begin, member.window_end)
                == (new.wave, new.window_begin, new.window_end)
    };
    before.len() == found.len() && before.iter().zip(found).all(same)
}

/// The announced instances that come or go, or get another window.
fn changed(kind: Kind, before: &[Member], found: &[NewMember]) -> BTreeSet<String> {
    let before = before.iter().filter(|it| is_changed(kind, &it.plan_name));
    let before: BTreeSet<_> =
        before.map(|it| (&it.instance, it.window_begin, it.window_end)).collect();
    let found = found.iter().filter(|it| is_changed(kind, &it.plan_name));
    let found: BTreeSet<_> =
        found.map(|it| (&it.instance, it.window_begin, it.window_end)).collect();
    before.symmetric_difference(&found).map(|(instance, ..)| (*instance).clone()).collect()
}

/// The notification of a customer about an instance.
struct PlannedWindow {
    instance: String,
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
}

impl From<&NewMember> for PlannedWindow {
    fn from(it: &NewMember) -> Self {
        Self { instance: it.instance.clone(), begin: it.window_begin, end: it.window_end }
    }
}

impl From<Member> for PlannedWindow {
    fn from(it: Member) -> Self {
        Self { instance: it.instance, begin: it.window_begin, end: it.window_end }
    }
}

/// Tells customers before anything starts: nobody tells them later. When that does not work for a while, it begins all the same.
async fn tell_last(cx: &mut Cx<'_, Orchestrating>, row: &Orchestration) -> StepResult {
    if cx.data.untold.is_empty() {
        return done();
    }
    let members = members(cx, row).await?.into_iter().map(PlannedWindow::from);
    if let Err(error) = tell(cx, row, members.collect()).await {
        let mut since = cx.data.telling_since;
        let given_up = outlasted(error, &mut since, cx.now, TELLING);
        cx.data.telling_since = since;
        warn(row, UNTOLD, &given_up?);
    }
    done()
}

const UNTOLD: &str = "customers not notified of other targets";

fn warn(row: &Orchestration, what: &str, failure: &Failure) {
    let message = &failure.message;
    tracing::warn!(orchestration = %row.id, message, "{what}");
}

/// Notifies customers of changes. A failed notification is repeated the next time.
async fn tell(
    cx: &mut Cx<'_, Orchestrating>,
    row: &Orchestration,
    members: Vec<PlannedWindow>,
) -> Result<(), StepError> {
    let asked = parameters(row).map_err(|error| stored(&error))?;
    let Some(spc) = cx.env.spc.as_ref().filter(|_| cx.env.notifies(&asked)) else {
        cx.data.untold.clear();
        return Ok(());
    };
    if cx.data.untold.is_empty() {
        return Ok(());
    }
    let planned: BTreeMap<&str, &PlannedWindow> =
        members.iter().map(|member| (member.instance.as_str(), member)).collect();
    let now = cx.now;
    let tenant = |instance: &String| match planned.get(instance.as_str()) {
        Some(member) => Tenant::planned(instance, member.begin.unwrap_or(now), member.end),
        None => Tenant::cancelled(instance),
    };
    let event = |tenants: Vec<Tenant>| Event {
        orchestration_id: row.id.to_string(),
        event_type: event_type(row),
        tenants,
    };
    let untold = &cx.data.untold;
    let is_back = |it: &&String| cx.data.left.contains(*it) && planned.contains_key(it.as_str());
    let back: Vec<Tenant> = untold.iter().filter(is_back).map(tenant).collect();
    // An update cannot take back that a runtime was cancelled: there is no word for it.
    if !back.is_empty() {
        let _exists = as_transient(spc.create(&event(back)).await)?;
    }
    as_transient(spc.update(&event(untold.iter().map(tenant).collect())).await)?;
    cx.data.untold.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runtimes_that_are_changed_are_told() {
        let member = |plan: &str| NewMember {
            operation: uuid::Uuid::nil(),
            wave: 1,
            instance: plan.into(),
            runtime_id: uuid::Uuid::nil(),
            shoot_name: "c-1".into(),
            global_account: "ga".into(),
            subaccount: "sa".into(),
            plan_id: "plan-id".into(),
            plan_name: plan.into(),
            window_rule: None,
            window_begin: None,
            window_end: None,
        };
        let found = ["aws", "own_cluster", "preview"].map(member);

        let told = |kind| changed(kind, &[], &found).into_iter().collect::<Vec<_>>();

        assert_eq!(told(Kind::UpgradeKyma), ["aws", "own_cluster"]);
        assert_eq!(told(Kind::UpgradeCluster), ["aws", "preview"]);
    }
}
