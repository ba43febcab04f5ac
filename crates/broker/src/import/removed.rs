//! Instances whose rows are gone in the original: only their operations are taken over, without any credentials.

use store::{
    engine::ImportedOperation,
    import::{Error, Finding, KebOperation, KebSource, Mode, Report},
};

use super::{
    Import, OPERATIONS, PAGE, REMOVED,
    details::words,
    instance::{history, newest_data},
    order::{self, OrderSource},
    subject, taken, unreadable,
};

impl Import<'_> {
    /// Takes over the operations of removed instances.
    pub(super) async fn removed_instances(
        &self,
        source: &mut KebSource,
        report: &mut Report,
    ) -> Result<(), Error> {
        loop {
            let ids = source.next_removed(PAGE).await?;
            if ids.is_empty() {
                return Ok(());
            }
            self.removed_page(source, &ids, report).await?;
        }
    }

    async fn removed_page(
        &self,
        source: &mut KebSource,
        ids: &[String],
        report: &mut Report,
    ) -> Result<(), Error> {
        report.count(REMOVED).found += ids.len() as u64;
        let mut operations = source.operations_of(ids).await?;
        let present = self.store.present(ids).await?;
        let known = self.store.known(ids).await?;
        for id in ids {
            if present.contains(id) {
                report.count(REMOVED).left_out += 1;
                report.add(Finding::new(
                    subject(id),
                    "it was removed in the original after it was imported",
                    format!(
                        "kcp deprovision {id} removes it here; what is gone already is found gone"
                    ),
                ));
                continue;
            }
            if known.contains(id) {
                report.count(REMOVED).present += 1;
                continue;
            }
            let theirs = operations.remove(id).unwrap_or_default();
            let theirs: Result<Vec<KebOperation>, _> = theirs.into_iter().collect();
            let theirs = theirs.map_err(|error| unreadable("operation", &error));
            match theirs.and_then(|theirs| self.removed(id, &theirs)) {
                Ok((all, findings)) => {
                    if self.mode == Mode::Apply {
                        self.store.import_operations(&all).await?;
                    }
                    report.count(REMOVED).taken += 1;
                    taken(report, OPERATIONS, all.len(), findings.len());
                    report.extend(findings);
                }
                Err(finding) => {
                    report.count(REMOVED).left_out += 1;
                    report.add(finding);
                }
            }
        }
        Ok(())
    }

    fn removed(
        &self,
        id: &str,
        operations: &[KebOperation],
    ) -> Result<(Vec<ImportedOperation>, Vec<Finding>), Finding> {
        let newest = operations.last().map(|operation| &operation.provisioning_parameters);
        let parameters = newest.unwrap_or(&serde_json::Value::Null);
        let order = order::order(
            self.catalog,
            &OrderSource {
                instance: id,
                plan_id: &words(&parameters["plan_id"]).unwrap_or_default(),
                parameters,
                account: "",
                subscription_account: "",
                provider: "",
                dashboard_url: "",
                data: newest_data(operations),
                sent: None,
                cipher: None,
            },
        )?;
        Ok(history(&order, operations, false))
    }
}
