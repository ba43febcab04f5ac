//! The archive of the original: what it keeps of removed instances.

use store::{
    broker::ArchivedInstance,
    import::{Error, Finding, KebArchived, KebSource, Mode, Report},
};
use uuid::Uuid;

use super::{ARCHIVED, Import, PAGE, subject, unreadable};

impl Import<'_> {
    /// Takes over archived instances of which nothing else is here.
    pub(super) async fn archive(
        &self,
        source: &mut KebSource,
        report: &mut Report,
    ) -> Result<(), Error> {
        loop {
            let rows = source.next_archived(PAGE).await?;
            if rows.is_empty() {
                return Ok(());
            }
            report.count(ARCHIVED).found += rows.len() as u64;
            let mut all = Vec::new();
            for row in rows {
                let row = row.map_err(|error| unreadable("archived instance", &error));
                match row.and_then(|row| archived(&row)) {
                    Ok(one) => all.push(one),
                    Err(finding) => {
                        report.count(ARCHIVED).left_out += 1;
                        report.add(finding);
                    }
                }
            }
            let ids: Vec<String> = all.iter().map(|one| one.instance.clone()).collect();
            let known = self.store.known(&ids).await?;
            let new: Vec<_> =
                all.into_iter().filter(|one| !known.contains(&one.instance)).collect();
            let stored = match self.mode {
                Mode::Apply => self.store.import_archived(&new).await?,
                Mode::DryRun => new.len(),
            };
            let count = report.count(ARCHIVED);
            count.taken += stored as u64;
            count.present += (ids.len() - stored) as u64;
        }
    }
}

/// As it is kept here. It is deleted as long after its removal as one that was archived here.
fn archived(row: &KebArchived) -> Result<ArchivedInstance, Finding> {
    let times = [
        row.first_deprovisioning_started_at,
        row.first_deprovisioning_finished_at,
        row.last_deprovisioning_finished_at,
    ];
    let Some(removed_at) = times.into_iter().flatten().max() else {
        return Err(Finding::new(
            subject(&row.instance_id),
            "the archive does not say when it was removed",
            "look at the row in the original's database",
        ));
    };
    Ok(ArchivedInstance {
        instance: row.instance_id.clone(),
        global_account: row.global_account_id.clone(),
        subscription_global_account: row.subscription_global_account_id.clone(),
        subaccount: row.subaccount_id.clone(),
        plan_id: row.plan_id.clone(),
        plan_name: row.plan_name.clone(),
        provider: row.provider.to_lowercase(),
        region: row.region.clone(),
        platform_region: row.subaccount_region.clone(),
        shoot_name: row.shoot_name.clone(),
        last_runtime_id: row.last_runtime_id.parse().ok(),
        internal_user: row.internal_user,
        provisioning_state: row.provisioning_state.clone(),
        provisioning_started_at: row.provisioning_started_at.map(Into::into),
        provisioning_finished_at: row.provisioning_finished_at.map(Into::into),
        first_deprovisioning_started_at: times[0].unwrap_or(removed_at).into(),
        first_deprovisioning_finished_at: times[1].unwrap_or(removed_at).into(),
        last_deprovisioning_finished_at: removed_at.into(),
        // The original has deleted its operations.
        last_operation: Uuid::nil(),
        archived_at: removed_at.into(),
    })
}
