//! Operations as the list of runtimes has them.
//!
//! What a reader would get wrong: input and data of an operation are opened only where something of them is listed, and each of them is read
//! once. The inputs of most operations have nothing that is listed, and are the largest of all that could be opened. Dry runs of upgrades are not listed at all: they change nothing.

use std::collections::HashMap;

use engine::{State, storage::Snapshot};
use serde::Deserialize;
use store::engine::Content;
use uuid::Uuid;

use crate::{
    details::RuntimeVersion,
    import::ImportNote,
    instances::pairs::{DEPROVISION, PROVISION, UPDATE, UPGRADE_CLUSTER, UPGRADE_KYMA},
};

/// How many updates and upgrades are listed.
pub(super) const NEWEST: usize = 2;

/// An operation, with the listed part of its input and data.
pub(super) struct OperationRecord {
    pub(super) snapshot: Snapshot,
    pub(super) known: ListedFields,
}

/// The listed part of an operation's input and data; empty where they were not opened, or cannot be read.
#[derive(Default)]
pub(super) struct ListedFields {
    /// Of a removal: whether it was a suspension.
    pub(super) temporary: bool,
    /// Of an upgrade: whether it only tried things out; none while that is not known.
    pub(super) dry_run: Option<bool>,
    pub(super) orchestration: Option<Uuid>,
    pub(super) imported: Option<ImportNote>,
    /// The cluster that it worked on.
    pub(super) runtime_id: Option<Uuid>,
    /// The version of Kyma that it was about.
    pub(super) version: Option<String>,
    /// The version of Kyma that the runtime has after it: an upgrade that has not ordered its version yet leaves the one of before.
    pub(super) applied_version: Option<String>,
}

/// The fields of an operation's input that are listed.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Input {
    temporary: bool,
    dry_run: bool,
    orchestration: Option<Uuid>,
    imported: Option<ImportNote>,
}

/// The fields of an operation's data that are listed: a removal has them one level deeper.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Data {
    runtime_id: Option<Uuid>,
    /// The version that an upgrade is to install.
    version: Option<RuntimeVersion>,
    /// The version that was ordered.
    runtime_version: Option<RuntimeVersion>,
    details: Option<Box<Data>>,
}

impl OperationRecord {
    /// An operation of which nothing has been opened yet; of upgrades in orchestrations it is known whether they are dry runs.
    pub(super) fn new(snapshot: Snapshot, dry_runs: &HashMap<Uuid, bool>) -> Self {
        let dry_run = dry_runs.get(&snapshot.id).copied();
        Self { snapshot, known: ListedFields { dry_run, ..ListedFields::default() } }
    }

    /// Keeps the listed part of its input and data. What cannot be read is left out, so that one operation does not hide a page of runtimes.
    pub(super) fn open(&mut self, content: Content) {
        // There is nothing to read where nothing of it is listed.
        let input: Input = serde_json::from_slice(&content.input).unwrap_or_default();
        let data: Data = serde_json::from_slice(&content.data).unwrap_or_default();
        let deeper = data.details.map(|details| *details).unwrap_or_default();
        let applied = data.runtime_version.or(deeper.runtime_version).map(|it| it.version);
        let of_original = input.imported.as_ref().and_then(|imported| imported.orchestration_id);
        self.known = ListedFields {
            temporary: input.temporary,
            dry_run: self.known.dry_run.or(Some(input.dry_run)),
            orchestration: input.orchestration.or(of_original),
            imported: input.imported,
            runtime_id: data.runtime_id.or(deeper.runtime_id),
            version: data.version.map(|it| it.version).or_else(|| applied.clone()),
            applied_version: applied,
        };
        (self.snapshot.input, self.snapshot.data) = (content.input, content.data);
    }

    /// Whether something of its input may be listed: whether it suspends, its orchestration, what an import has noted, or the provider that a
    /// failure names. An operation that was imported was never owned here, and one that continues it has its input.
    pub(super) fn has_listed_input(&self) -> bool {
        let Snapshot { id, root, epoch, failure, .. } = &self.snapshot;
        let of_import = *epoch == 0 || root != id;
        let of_kind = self.kind() == DEPROVISION || is_upgrade(&self.snapshot);
        of_kind || of_import || failure.is_some()
    }

    pub(super) fn kind(&self) -> &str {
        &self.snapshot.kind
    }

    /// Whether it was worked on: one that was canceled before that has changed nothing.
    pub(super) fn has_begun(&self) -> bool {
        match self.snapshot.state {
            State::Pending => false,
            State::Canceled => self.snapshot.started_at.is_some(),
            _ => true,
        }
    }

    /// Whether it is listed: dry runs are not.
    pub(super) fn is_shown(&self) -> bool {
        !(is_upgrade(&self.snapshot) && self.known.dry_run == Some(true))
    }

    /// Whether it says which version of Kyma the runtime has: an order, or an upgrade that was worked on.
    pub(super) fn sets_kyma(&self) -> bool {
        let worked_on = self.has_begun() && self.snapshot.state != State::Canceled;
        self.kind() == PROVISION || (self.kind() == UPGRADE_KYMA && self.is_shown() && worked_on)
    }

    /// Whether only its input says that it is listed.
    fn is_in_doubt(&self) -> bool {
        is_upgrade(&self.snapshot) && self.known.dry_run.is_none()
    }
}

/// Whether it is an upgrade of Kyma or of the cluster.
pub(super) fn is_upgrade(operation: &Snapshot) -> bool {
    [UPGRADE_KYMA, UPGRADE_CLUSTER].contains(&operation.kind.as_str())
}

/// The newest of those that are listed and have begun, or the newest of those that are listed.
pub(super) fn last(own: &[OperationRecord]) -> Option<&OperationRecord> {
    let shown = || own.iter().rev().filter(|it| it.is_shown() && is_listed(it.kind()));
    shown().find(|it| it.has_begun()).or(shown().next())
}

fn is_listed(kind: &str) -> bool {
    [PROVISION, DEPROVISION, UPDATE, UPGRADE_KYMA, UPGRADE_CLUSTER].contains(&kind)
}

/// The operations of an instance whose input and data are worth opening: those that are listed, and the one that has the version of
/// Kyma; without `all`, only those of the kind of the last one.
pub(super) fn worth_opening(own: &[OperationRecord], all: bool) -> Vec<&OperationRecord> {
    let all = all || own.iter().any(OperationRecord::is_in_doubt);
    let only = if all { None } else { last(own).map(OperationRecord::kind) };
    let kinds = [PROVISION, DEPROVISION, UPDATE, UPGRADE_KYMA, UPGRADE_CLUSTER].into_iter();
    let kinds = kinds.filter(|kind| only.is_none_or(|only| only == *kind));
    let of_kind = |kind: &'static str| {
        let newest_first = own.iter().rev().filter(move |it| it.kind() == kind && it.is_shown());
        let kyma = own.iter().rev().find(|it| it.kind() == UPGRADE_KYMA && it.sets_kyma());
        let kyma = kyma.map(|it| it.snapshot.id);
        newest_first.enumerate().filter(move |(number, it)| {
            [PROVISION, DEPROVISION].contains(&kind)
                || *number < NEWEST
                || it.is_in_doubt()
                || kyma == Some(it.snapshot.id)
        })
    };
    kinds.flat_map(of_kind).map(|(_, it)| it).collect()
}
