//! Takes over the runtimes of the original provisioner: what its rows mean here.
//!
//! What a reader would get wrong: a runtime that is here already is left as it is. And the uid of a Shoot is in none of the
//! original's tables: it is kept when the Shoot is first looked up, if the Shoot names the runtime in its annotations.

mod configuration;
mod operation;

use store::{
    ProvisionerStore,
    import::{Error, Finding, Mode, ProvisionerCluster, ProvisionerSource, Report},
    provisioner::{ImportedRuntime, NewRuntime, RuntimeOutcome},
};
use uuid::Uuid;

use crate::{
    document::{Document, Upgrade},
    operations::Target,
};
use operation::Progress;

/// How many runtimes are read, and written in one transaction, at a time.
const PAGE: u32 = 100;

const RUNTIMES: &str = "runtimes";
const OPERATIONS: &str = "operations";

/// An import from the original provisioner.
pub struct Import<'a> {
    /// Where to.
    pub store: &'a ProvisionerStore,
    /// The project whose Shoots our own provisioner reaches.
    pub project: &'a str,
    /// Whether anything is written.
    pub mode: Mode,
    /// Whether runtimes are taken over that the original works on: it is stopped for good.
    pub unfinished: bool,
}

impl Import<'_> {
    /// Takes over what is not here yet.
    pub async fn run(&self, source: &mut ProvisionerSource) -> Result<Report, Error> {
        let mut report = Report::default();
        loop {
            let rows = source.next_clusters(PAGE).await?;
            if rows.is_empty() {
                return Ok(report);
            }
            report.count(RUNTIMES).found += rows.len() as u64;
            let ids: Vec<Uuid> =
                rows.iter().flatten().filter_map(|row| row.id.parse().ok()).collect();
            let present = self.store.present(&ids).await?;
            let mut batch = Vec::new();
            for row in rows {
                let row = match row {
                    Ok(row) => row,
                    Err(error) => {
                        let problem = format!("its row cannot be read ({})", error.why);
                        let action = "look at the row in the original's database";
                        leave_out(&mut report, Finding::new(subject(&error.id), problem, action));
                        continue;
                    }
                };
                if row.id.parse().is_ok_and(|id: Uuid| present.contains(&id)) {
                    report.count(RUNTIMES).present += 1;
                    continue;
                }
                match self.mapped(source, &row) {
                    Ok((imported, findings)) => {
                        report.extend(findings);
                        batch.push(imported);
                    }
                    Err(finding) => leave_out(&mut report, finding),
                }
            }
            self.write(&batch, &mut report).await?;
        }
    }

    async fn write(&self, batch: &[ImportedRuntime], report: &mut Report) -> Result<(), Error> {
        let outcomes = match self.mode {
            Mode::Apply => self.store.import(batch).await?,
            Mode::DryRun => vec![RuntimeOutcome::Stored; batch.len()],
        };
        for (one, outcome) in batch.iter().zip(outcomes) {
            match outcome {
                RuntimeOutcome::Stored => {
                    report.count(RUNTIMES).taken += 1;
                    let count = report.count(OPERATIONS);
                    count.found += one.operations.len() as u64;
                    count.taken += one.operations.len() as u64;
                }
                RuntimeOutcome::Present => report.count(RUNTIMES).present += 1,
                RuntimeOutcome::NameTaken => leave_out(
                    report,
                    Finding::new(
                        subject(&one.runtime.id.to_string()),
                        format!("another runtime here has the Shoot {}", one.runtime.shoot),
                        "find out with the Shoot's annotations which of the two it belongs to",
                    ),
                ),
            }
        }
        Ok(())
    }

    /// The runtime as it is stored here, or why it cannot be.
    fn mapped(
        &self,
        source: &ProvisionerSource,
        row: &ProvisionerCluster,
    ) -> Result<(ImportedRuntime, Vec<Finding>), Finding> {
        let refused = |problem: &str, action: &str| Finding::new(subject(&row.id), problem, action);
        let id: Uuid = row.id.parse().map_err(|_| {
            refused("its id is not a UUID", "correct the row in a copy of the original's database")
        })?;
        let project = configuration::words(&row.gardener["project_name"]).unwrap_or_default();
        if !row.deleted && project != self.project {
            let problem = format!(
                "its Shoot is in the Gardener project {project}, and not in {}",
                self.project
            );
            return Err(refused(
                &problem,
                "set gardener.project to its project, in a provisioner of its own",
            ));
        }
        let findings = self.unfinished(row)?;
        let configuration = configuration::of(row, source.cipher()).map_err(|problem| {
            refused(&problem, "look at its configuration in the original's database")
        })?;
        let upgrade = row.upgrades.last().filter(|upgrade| upgrade.state != "ROLLED_BACK");
        let upgrade = upgrade.and_then(|upgrade| {
            let before =
                row.kyma.iter().find(|kyma| kyma.id == upgrade.pre_upgrade_kyma_config_id)?;
            let operation = upgrade.operation_id.parse().ok()?;
            Some(Upgrade { operation, before: configuration::kyma(before) })
        });
        let target = Target {
            runtime: id,
            tenant: row.tenant.clone(),
            registered_tenant: None,
            subaccount: row.subaccount.clone(),
            shoot: configuration.cluster.name.clone(),
        };
        let document = Document { configuration, upgrade };
        let operations = row.operations.iter();
        let operations = operations.filter_map(|it| operation::history(it, &target, &document));
        let created_at = row.created_at.unwrap_or_default();
        let imported = ImportedRuntime {
            operations: operations.collect(),
            runtime: NewRuntime {
                id,
                tenant: row.tenant.clone(),
                subaccount: row.subaccount.clone(),
                shoot: target.shoot.clone(),
                document: document.bytes(),
            },
            created_at,
            provisioned_at: operation::provisioned_at(row),
            deleted_at: row.deleted.then(|| operation::deleted_at(row)),
        };
        Ok((imported, findings))
    }

    /// The handling of operations that had not ended; an error when the runtime is left to the original.
    fn unfinished(&self, row: &ProvisionerCluster) -> Result<Vec<Finding>, Finding> {
        let mut findings = Vec::new();
        for it in
            row.operations.iter().filter(|it| operation::progress(it) == Progress::Interrupted)
        {
            let (kind, id) = (&it.kind, &it.id);
            let (problem, action) = if kind.starts_with("DEPROVISION") {
                (
                    format!("its removal (operation {id}) is in progress in the original"),
                    "kcp deprovision, for its instance, removes it".to_owned(),
                )
            } else if !self.unfinished {
                return Err(Finding::new(
                    subject(&row.id),
                    format!("{kind} (operation {id}) is in progress in the original"),
                    "let it end there and import again, or stop the original for good and import with --unfinished",
                ));
            } else if kind.starts_with("PROVISION") {
                (
                    format!("{kind} (operation {id}) had not ended and counts as failed"),
                    "kcp deprovision, for its instance, removes what was made of it".to_owned(),
                )
            } else {
                (
                    format!("{kind} (operation {id}) had not ended and counts as failed"),
                    "make the change again".to_owned(),
                )
            };
            findings.push(Finding::new(subject(&row.id), problem, action));
        }
        Ok(findings)
    }
}

/// A runtime is not taken over.
fn leave_out(report: &mut Report, finding: Finding) {
    report.count(RUNTIMES).left_out += 1;
    report.add(finding);
}

/// The name of a runtime in findings.
fn subject(id: &str) -> String {
    format!("runtime {id}")
}
