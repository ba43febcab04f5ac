//! Looks for the runtimes of a scheduled orchestration again and again until it begins: some are ordered meanwhile, others removed.
//!
//! What a reader would get wrong: a runtime that stays keeps the operation that it was given. The others are stored anew with it, so
//! that canaries and the order are those of the runtimes that there are.

use std::collections::{BTreeMap, BTreeSet};

use clients::spc::{Event, Tenant};
use domain::orchestration::no_time;
use engine::step::Waiting;
use jiff::Timestamp;
use store::broker::{Member, MemberFilter, NewMember, Orchestration, Resolution};

use super::{
    Orchestrating, event_type, orchestration,
    resolve_targets::{LOOK, description, targets},
    stored, told,
};
use crate::{
    operations::{prelude::*, shared::outlasted},
    orchestrations::{parameters, signal},
};

/// How long customers are tried to be told when it is time to begin.
const TELLING: Duration = mins(30);

pub(super) struct RefreshTargets;

impl Step<Orchestrating> for RefreshTargets {
    const NAME: &'static str = "Refresh_Targets";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT
        .each_within(mins(10))
        .backing_off(secs(5), mins(5))
        .failing_for(Duration::from_hours(2));

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
        // It has begun, or has ended: what is stored stays.
        let Some(members) = refresh(cx, &row).await? else { return done() };
        cx.data.resolved_at = Some(cx.now);
        if begins <= cx.now {
            return tell_last(cx, &row).await;
        }
        let planned = members.iter().map(Planned::from);
        match tell(cx, &row, planned.collect()).await {
            Ok(()) => {}
            Err(StepError::NotHeld) => return Err(StepError::NotHeld),
            Err(StepError::Transient { failure, .. } | StepError::Fatal(failure)) => {
                warn(&row, &failure);
            }
        }
        wait_until(cx, begins.min(cx.now + LOOK)).into()
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
    let found = targets(cx, &asked, at).await?.members;
    let before = members(cx, row).await?;
    let found = with_operations_of(&before, found);
    if is_same(&before, &found) {
        return Ok(Some(found));
    }
    // Written down first: a run that dies behind the change has customers to tell.
    let told_before = cx.data.untold.clone();
    cx.data.untold.extend(changed(&before, &found));
    cx.save().await?;
    let description = description(found.len());
    let resolution = Resolution {
        orchestration: row.id,
        description: &description,
        member_description: "Operation created",
    };
    let replaced = cx.env.store().replace_members(cx.operation, &resolution, &found).await;
    if !replaced.map_err(|error| stored(&error))? {
        cx.data.untold = told_before;
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

/// The instances that come or go, or get another window.
fn changed(before: &[Member], found: &[NewMember]) -> BTreeSet<String> {
    let before: BTreeSet<_> =
        before.iter().map(|it| (&it.instance, it.window_begin, it.window_end)).collect();
    let found: BTreeSet<_> =
        found.iter().map(|it| (&it.instance, it.window_begin, it.window_end)).collect();
    before.symmetric_difference(&found).map(|(instance, ..)| (*instance).clone()).collect()
}

/// What a customer is told about an instance.
struct Planned {
    instance: String,
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
}

impl From<&NewMember> for Planned {
    fn from(it: &NewMember) -> Self {
        Self { instance: it.instance.clone(), begin: it.window_begin, end: it.window_end }
    }
}

impl From<Member> for Planned {
    fn from(it: Member) -> Self {
        Self { instance: it.instance, begin: it.window_begin, end: it.window_end }
    }
}

/// Tells customers before anything starts: nobody tells them later. When that does not work for a while, it begins all the same.
async fn tell_last(cx: &mut Cx<'_, Orchestrating>, row: &Orchestration) -> StepResult {
    if cx.data.untold.is_empty() {
        return done();
    }
    let members = members(cx, row).await?.into_iter().map(Planned::from);
    if let Err(error) = tell(cx, row, members.collect()).await {
        let mut since = cx.data.telling_since;
        let given_up = outlasted(error, &mut since, cx.now, TELLING);
        cx.data.telling_since = since;
        warn(row, &given_up?);
    }
    done()
}

fn warn(row: &Orchestration, failure: &Failure) {
    let message = &failure.message;
    tracing::warn!(orchestration = %row.id, message, "customers not told of other targets");
}

/// Tells customers what has changed. Those who cannot be told now are told the next time.
async fn tell(
    cx: &mut Cx<'_, Orchestrating>,
    row: &Orchestration,
    members: Vec<Planned>,
) -> Result<(), StepError> {
    let asked = parameters(row).map_err(|error| stored(&error))?;
    let Some(spc) = cx.env.spc.as_ref().filter(|_| cx.env.notifies(&asked)) else {
        cx.data.untold.clear();
        return Ok(());
    };
    if cx.data.untold.is_empty() {
        return Ok(());
    }
    let planned: BTreeMap<&str, &Planned> =
        members.iter().map(|member| (member.instance.as_str(), member)).collect();
    let tenant = |instance: &String| match planned.get(instance.as_str()) {
        Some(member) => Tenant::planned(instance, member.begin.unwrap_or(cx.now), member.end),
        None => Tenant::cancelled(instance),
    };
    let tenants = cx.data.untold.iter().map(tenant).collect();
    let event =
        Event { orchestration_id: row.id.to_string(), event_type: event_type(row), tenants };
    told(spc.update(&event).await)?;
    cx.data.untold.clear();
    Ok(())
}
