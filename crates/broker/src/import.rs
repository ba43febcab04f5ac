//! Takes over the instances of the original broker: what its rows mean here.
//!
//! What a reader would get wrong: an instance that is here already is left as it is, whatever the original knows of it by now. So an
//! import can be repeated at any time, and one that was stopped in the middle goes on where it was.

mod archived;
mod cluster;
mod details;
mod instance;
mod operation;
mod orchestrations;
mod order;
mod removed;
mod states;

use std::collections::{HashMap, HashSet};

use base::Clock;
use engine::storage::Snapshot;
use serde::{Deserialize, Serialize};
use store::{
    BrokerStore,
    broker::{ImportOutcome, ImportedInstance},
    import::{
        Error, Finding, KebBinding, KebInstance, KebOperation, KebSource, Mode, Report, RowError,
    },
};
use uuid::Uuid;

use crate::catalog::Catalog;
use instance::{LeftOut, MappedInstance};
pub(crate) use operation::INTERRUPTED;

/// How many instances are read, and written in one transaction, at a time.
const PAGE: u32 = 100;

const INSTANCES: &str = "instances";
const REMOVED: &str = "removed instances";
const OPERATIONS: &str = "operations";
const STATES: &str = "runtime states";
const BINDINGS: &str = "bindings";
const EXPIRED: &str = "expired bindings";
const ORCHESTRATIONS: &str = "orchestrations";
const UPGRADES: &str = "upgrades of orchestrations";
const ARCHIVED: &str = "archived instances";

/// The original's description of an imported operation, stored in its input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ImportNote {
    /// How it ended, in the original's words.
    pub(crate) description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) orchestration_id: Option<Uuid>,
}

impl ImportNote {
    /// The original's description of an operation; none for one of our own.
    pub(crate) fn of(operation: &Snapshot) -> Option<Self> {
        #[derive(Deserialize)]
        struct Input {
            imported: Option<ImportNote>,
        }
        serde_json::from_slice::<Input>(&operation.input).ok()?.imported
    }
}

/// An import from the original broker.
pub struct Import<'a> {
    /// Where to.
    pub store: &'a BrokerStore,
    /// The catalog, to map the original's plans.
    pub catalog: &'a Catalog,
    /// Whether anything is written.
    pub mode: Mode,
    /// Whether instances are taken over that the original works on: it is stopped for good.
    pub unfinished: bool,
    /// The time.
    pub clock: &'a Clock,
}

/// The rows that belong to the instances of one page.
struct Belongings {
    operations: HashMap<String, Vec<Result<KebOperation, RowError>>>,
    bindings: HashMap<String, Vec<Result<KebBinding, RowError>>>,
}

impl Import<'_> {
    /// Takes over what is not here yet.
    pub async fn run(&self, source: &mut KebSource) -> Result<Report, Error> {
        let mut report = Report::default();
        loop {
            let rows = source.next_instances(PAGE).await?;
            if rows.is_empty() {
                break;
            }
            self.page(source, rows, &mut report).await?;
        }
        self.removed_instances(source, &mut report).await?;
        self.archive(source, &mut report).await?;
        self.orchestrations(source, &mut report).await?;
        other_tables(source, &mut report).await?;
        Ok(report)
    }

    async fn page(
        &self,
        source: &mut KebSource,
        rows: Vec<Result<KebInstance, RowError>>,
        report: &mut Report,
    ) -> Result<(), Error> {
        report.count(INSTANCES).found += rows.len() as u64;
        let mut good = Vec::new();
        for row in rows {
            match row {
                Ok(row) => good.push(row),
                Err(error) => leave_out(report, unreadable("instance", &error)),
            }
        }
        let ids: Vec<String> = good.iter().map(|row| row.instance_id.clone()).collect();
        let mut belongings = Belongings {
            operations: source.operations_of(&ids).await?,
            bindings: source.bindings_of(&ids).await?,
        };
        let present = self.store.present(&ids).await?;
        self.compare(&present, &belongings, report).await?;
        // What was removed here is not brought back.
        let known = self.store.known(&ids).await?;
        let mut batch = Vec::new();
        for row in good {
            if known.contains(&row.instance_id) {
                report.count(INSTANCES).present += 1;
                if !present.contains(&row.instance_id) {
                    report.add(removed_here(&row.instance_id));
                }
                continue;
            }
            let operations = belongings.operations.remove(&row.instance_id).unwrap_or_default();
            let bindings = belongings.bindings.remove(&row.instance_id).unwrap_or_default();
            match self.mapped(source.cipher(), &row, operations, bindings) {
                Ok(MappedInstance { imported, left_out, findings }) => {
                    report.extend(findings);
                    batch.push((imported, left_out));
                }
                Err(finding) => leave_out(report, finding),
            }
        }
        self.write(batch, report).await
    }

    /// Finds out what has happened in the original to instances that are here.
    async fn compare(
        &self,
        present: &HashSet<String>,
        belongings: &Belongings,
        report: &mut Report,
    ) -> Result<(), Error> {
        let ids: Vec<&str> = present.iter().map(String::as_str).collect();
        let ours: HashSet<String> = if ids.is_empty() {
            HashSet::new()
        } else {
            let all = self.store.engine().of_instances(&ids).await?;
            all.into_iter().map(|operation| operation.id.to_string()).collect()
        };
        for id in ids {
            let theirs = belongings.operations.get(id).into_iter().flatten().flatten();
            let new = theirs.filter(|operation| !ours.contains(&operation.id.to_lowercase()));
            let new = new.map(|operation| format!("{} {}", operation.kind, operation.id));
            let new: Vec<String> = new.collect();
            if !new.is_empty() {
                report.add(Finding::new(
                    subject(id),
                    format!("the original has gone on with it since it was imported: {}", new.join(", ")),
                    "what these operations did is not known here: compare the runtime, and stop the original",
                ));
            }
        }
        Ok(())
    }

    async fn write(
        &self,
        batch: Vec<(ImportedInstance, LeftOut)>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let (batch, left_out): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let outcomes = match self.mode {
            Mode::Apply => self.store.import(&batch).await?,
            Mode::DryRun => vec![ImportOutcome::Stored; batch.len()],
        };
        for ((one, left), outcome) in batch.iter().zip(left_out).zip(outcomes) {
            match outcome {
                ImportOutcome::Stored => {
                    report.count(INSTANCES).taken += 1;
                    taken(report, OPERATIONS, one.operations.len(), left.operations);
                    taken(report, STATES, one.states.len(), left.states);
                    taken(report, BINDINGS, one.bindings.len(), left.bindings);
                    if left.expired > 0 {
                        let expired = report.count(EXPIRED);
                        expired.found += left.expired;
                        expired.left_out += left.expired;
                    }
                }
                ImportOutcome::Present => report.count(INSTANCES).present += 1,
                ImportOutcome::RuntimeTaken => leave_out(
                    report,
                    Finding::new(
                        subject(&one.instance.id),
                        "another instance here has its runtime",
                        "find out which of the two it belongs to: kcp runtimes --runtime-id",
                    ),
                ),
            }
        }
        Ok(())
    }
}

fn taken(report: &mut Report, sort: &'static str, number: usize, left_out: usize) {
    let count = report.count(sort);
    count.found += (number + left_out) as u64;
    count.taken += number as u64;
    count.left_out += left_out as u64;
}

/// An instance that was removed here, and that the original still has.
fn removed_here(id: &str) -> Finding {
    Finding::new(
        subject(id),
        "it was removed here after it was imported, and does not come back",
        "the original still has its row: stop the original, or remove it there as well",
    )
}

/// An instance is not taken over.
fn leave_out(report: &mut Report, finding: Finding) {
    report.count(INSTANCES).left_out += 1;
    report.add(finding);
}

/// The name of an instance in findings.
fn subject(id: &str) -> String {
    format!("instance {id}")
}

fn unreadable(what: &str, error: &RowError) -> Finding {
    Finding::new(
        format!("{what} {}", error.id),
        format!("its row cannot be read ({})", error.why),
        "look at the row in the original's database",
    )
}

/// Reports tables that are not imported.
async fn other_tables(source: &mut KebSource, report: &mut Report) -> Result<(), Error> {
    for table in ["events", "lms_tenants", "actions", "subaccount_states"] {
        let rows = source.rows(table).await?;
        if rows > 0 {
            report.add(Finding::new(
                format!("table {table}"),
                format!("its {rows} rows are not taken over"),
                "keep a copy of the original's database for as long as they are needed",
            ));
        }
    }
    Ok(())
}
