//! Orchestrations of the original: their parameters, how they ended, and which upgrades belong to them.
//!
//! What a reader would get wrong: an orchestration that had not ended does not go on by itself. What failed in it can be tried again here.

use domain::orchestration::{Kind, Parameters, State};
use jiff::Timestamp;
use serde_json::Value;
use store::{
    broker::{ImportedMember, ImportedOrchestration},
    import::{Error, Finding, KebMember, KebOrchestration, KebSource, Mode, Report},
};
use uuid::Uuid;

use super::{
    Import, ORCHESTRATIONS, PAGE, UPGRADES,
    details::words,
    operation::{Progress, progress_of},
    subject, unreadable,
};

/// How many upgrades are read, and written in one transaction, at a time.
const MEMBERS: u32 = 500;

/// An orchestration as it is stored, and what an operator should know about it.
type MappedOrchestration = (ImportedOrchestration, Option<Finding>);

impl Import<'_> {
    /// Takes over orchestrations, after the operations that belong to them.
    pub(super) async fn orchestrations(
        &self,
        source: &mut KebSource,
        report: &mut Report,
    ) -> Result<(), Error> {
        loop {
            let rows = source.next_orchestrations(PAGE).await?;
            if rows.is_empty() {
                break;
            }
            let mut batch = Vec::new();
            for row in rows {
                report.count(ORCHESTRATIONS).found += 1;
                let row = row.map_err(|error| unreadable("orchestration", &error));
                match row.and_then(|row| self.orchestration(&row)) {
                    Ok(mapped) => batch.push(mapped),
                    Err(finding) => {
                        report.count(ORCHESTRATIONS).left_out += 1;
                        report.add(finding);
                    }
                }
            }
            self.write_orchestrations(batch, report).await?;
        }
        self.members(source, report).await
    }

    async fn write_orchestrations(
        &self,
        batch: Vec<MappedOrchestration>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let (all, findings): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let new = match self.mode {
            Mode::Apply => self.store.import_orchestrations(&all).await?,
            Mode::DryRun => vec![true; all.len()],
        };
        for (new, finding) in new.into_iter().zip(findings) {
            let count = report.count(ORCHESTRATIONS);
            if new {
                count.taken += 1;
                report.extend(finding.into_iter().collect());
            } else {
                count.present += 1;
            }
        }
        Ok(())
    }

    /// Takes over which upgrades belong to orchestrations that were imported, now or before.
    async fn members(&self, source: &mut KebSource, report: &mut Report) -> Result<(), Error> {
        loop {
            let rows = source.next_members(MEMBERS).await?;
            if rows.is_empty() {
                return Ok(());
            }
            let mut all = Vec::new();
            for row in rows {
                let row = row.map_err(|error| unreadable("upgrade", &error));
                match row.and_then(|row| member(&row)) {
                    Ok(member) => all.push(member),
                    Err(finding) => {
                        let count = report.count(UPGRADES);
                        count.found += 1;
                        count.left_out += 1;
                        report.add(finding);
                    }
                }
            }
            if self.mode == Mode::Apply {
                self.store.import_members(&all).await?;
            }
        }
    }

    fn orchestration(&self, row: &KebOrchestration) -> Result<MappedOrchestration, Finding> {
        let subject = || format!("orchestration {}", row.orchestration_id);
        let refused = |problem: String| {
            let action = "look at the row in the original's database";
            Finding::new(subject(), problem, action)
        };
        let id: Uuid =
            row.orchestration_id.parse().map_err(|_| refused("its id is not a UUID".to_owned()))?;
        let kind = if row.kind.is_empty() { Kind::UpgradeKyma.as_str() } else { &row.kind };
        let kind: Kind =
            kind.parse().map_err(|_| refused(format!("its type \"{kind}\" is not known")))?;
        let parameters: Parameters = serde_json::from_value(row.parameters.clone())
            .map_err(|_| refused("its parameters cannot be read".to_owned()))?;
        let state: State = row
            .state
            .parse()
            .map_err(|_| refused(format!("its state \"{}\" is not known", row.state)))?;
        if !state.is_final() && !self.unfinished {
            return Err(Finding::new(
                subject(),
                format!("{} is {} in the original", kind.as_str(), row.state),
                "let it end or cancel it there and import again, or stop the original for good and import with --unfinished",
            ));
        }
        let (ended, finding) = ending(state, &row.orchestration_id);
        let created_at = row.created_at.unwrap_or_default();
        let parameters_text = serde_json::to_string(&parameters)
            .map_err(|_| refused("its parameters cannot be written".to_owned()))?;
        let orchestration = ImportedOrchestration {
            id,
            kind: kind.as_str().to_owned(),
            state: ended.as_str().to_owned(),
            description: row.description.clone(),
            parameters: parameters_text,
            workers: parameters.strategy.parallel.workers,
            created_at,
            updated_at: row.updated_at.unwrap_or(created_at),
        };
        let finding = finding.map(|(problem, action)| Finding::new(subject(), problem, action));
        Ok((orchestration, finding))
    }
}

/// How an orchestration counts here, and what to do about one that had not ended.
fn ending(state: State, id: &str) -> (State, Option<(String, String)>) {
    match state {
        State::Succeeded | State::Failed | State::Canceled => (state, None),
        State::Canceling => (State::Canceled, None),
        State::Pending => (
            State::Canceled,
            Some((
                "it had not begun and counts as canceled".to_owned(),
                format!("start it again: kcp orchestrations {id} shows its parameters"),
            )),
        ),
        State::InProgress | State::Retrying => (
            State::Failed,
            Some((
                "it had not ended and counts as failed".to_owned(),
                format!(
                    "kcp orchestrations {id} retry tries again what failed; upgrade in a new one what had not begun"
                ),
            )),
        ),
    }
}

/// The upgrade of one runtime, or why it is none.
fn member(row: &KebMember) -> Result<ImportedMember, Finding> {
    let runtime = &row.runtime_operation;
    let text = |name: &str| words(&runtime[name]).unwrap_or_default();
    let id = |what: &str, text: &str| -> Result<Uuid, Finding> {
        text.parse().map_err(|_| {
            Finding::new(
                format!("upgrade {} of {}", row.id, subject(&row.instance_id)),
                format!("the id of its {what} is not a UUID: \"{text}\""),
                "it is listed with its instance, and not with its orchestration",
            )
        })
    };
    let (state, started) = match progress_of(&row.kind, &row.state) {
        Progress::Ended(state) => (state.as_str(), true),
        Progress::Interrupted => ("failed", true),
        Progress::NeverBegun => ("canceled", false),
    };
    let created_at = row.created_at.unwrap_or_default();
    Ok(ImportedMember {
        operation: id("operation", &row.id)?,
        orchestration: id("orchestration", &row.orchestration_id)?,
        position: row.position,
        instance: row.instance_id.clone(),
        runtime_id: id("runtime", &text("runtimeId"))?,
        shoot_name: text("shootName"),
        global_account: text("globalAccountId"),
        subaccount: text("subaccountId"),
        plan_id: row.plan_id.clone(),
        plan_name: text("plan"),
        window: window(runtime),
        state: state.to_owned(),
        description: row.description.clone(),
        superseded: row.superseded,
        created_at,
        started_at: started.then_some(created_at),
        ended_at: row.updated_at.unwrap_or(created_at),
    })
}

/// The maintenance window; none where the original has the year 1.
fn window(runtime: &Value) -> Option<(Timestamp, Timestamp)> {
    let time = |name: &str| {
        let time: Timestamp = words(&runtime[name])?.parse().ok()?;
        (time > Timestamp::UNIX_EPOCH).then_some(time)
    };
    Some((time("maintenanceWindowBegin")?, time("maintenanceWindowEnd")?))
}
