//! The table of pairs: what becomes of a request that meets unfinished operations of its instance.
//!
//! | Asked for | On a provision | On an update | On an upgrade | On a deprovision |
//! |---|---|---|---|---|
//! | provision | refused | refused | refused | refused |
//! | update | queued | the same one if it is the newest and says the same, else queued | queued | refused |
//! | upgrade | queued | queued | the same one if it has the same id, else queued | refused |
//! | deprovision | supersedes it | supersedes it | supersedes it | the same one |
//! | retry by an operator | refused | refused | refused | refused |
//!
//! The upgrade of an orchestration that waits for maintenance windows is refused where it would be queued: [`upgrade_alone`].
//! A suspension is a deprovision here, except that it waits for provisions, updates and upgrades, and is refused on an update that changes
//! the plan: another plan may not be suspended or expire. The return from it is a provision that
//! waits for a suspension, also for one that has not begun if it is to remove what a return that was stopped leaves. A retry begins alone or not at all, and
//! only of the newest operation: `store::operations::Operations::retry`, for both services. Refused is `ConcurrencyError`, for operators
//! 409. `docs/updates.md` has the same table for platforms.

use engine::{
    Operation, OperationId,
    storage::{Unfinished, Verdict},
};

use crate::operations::{
    deprovisioning::Deprovisioning, provisioning::Provisioning, update::Updating,
    upgrade_cluster::UpgradingCluster, upgrade_kyma::UpgradingKyma,
};

/// The kind of operation that makes an instance.
pub const PROVISION: &str = Provisioning::KIND;
/// The kind of operation that removes an instance.
pub const DEPROVISION: &str = Deprovisioning::KIND;

/// The digest of a suspension. The request has no words, so all of them are the same one.
pub const SUSPENSION: &[u8] = b"suspension";
/// The digest of the return from a suspension.
pub const UNSUSPENSION: &[u8] = b"unsuspension";
/// How the digest of an update begins that changes the plan: who judges another change can tell it from the others.
const PLAN_CHANGE: &[u8] = b"plan:";
/// The kind of operation that changes an instance.
pub const UPDATE: &str = Updating::KIND;
/// The kind of operation that gives a runtime another Kyma.
pub const UPGRADE_KYMA: &str = UpgradingKyma::KIND;
/// The kind of operation that gives a runtime's cluster another Kubernetes.
pub const UPGRADE_CLUSTER: &str = UpgradingCluster::KIND;

/// The verdict on an update; `is_same` recognises its digest.
///
/// Only the newest operation answers a repetition: a change that says again what was said before another one came is to have the
/// last word.
pub fn update_verdict(unfinished: &[Unfinished], is_same: impl Fn(&[u8]) -> bool) -> Verdict {
    if let Some(removal) = unfinished.iter().find(|other| other.kind == DEPROVISION) {
        return Verdict::Refuse(removal.id);
    }
    match unfinished.last() {
        Some(last)
            if last.kind == UPDATE
                && !last.canceling
                && last.digest.as_deref().map(request_digest).is_some_and(is_same) =>
        {
            Verdict::Same(last.id)
        }
        _ => Verdict::Queue,
    }
}

/// The digest of an update, from that of its request.
pub fn update_digest(changes_plan: bool, request: Vec<u8>) -> Vec<u8> {
    if changes_plan { [PLAN_CHANGE, &request].concat() } else { request }
}

fn request_digest(digest: &[u8]) -> &[u8] {
    digest.strip_prefix(PLAN_CHANGE).unwrap_or(digest)
}

/// Whether these are the unfinished changes of the plan: all of them are there, and no other one.
pub fn are_plan_changes(unfinished: &[Unfinished], operations: &[OperationId]) -> bool {
    let going = || unfinished.iter().filter(|it| !it.canceling);
    // Those of older releases are not marked.
    let all_there = operations.iter().all(|id| going().any(|it| it.id == *id));
    all_there && going().all(|it| !changes_plan(it) || operations.contains(&it.id))
}

fn changes_plan(other: &Unfinished) -> bool {
    let is_marked = |digest: &[u8]| digest.starts_with(PLAN_CHANGE);
    other.kind == UPDATE && other.digest.as_deref().is_some_and(is_marked)
}

/// The verdict on the upgrade `id`.
///
/// It waits for everything that keeps the runtime. What removes the runtime leaves nothing to upgrade, not even when it was
/// called off: nobody can say what it has removed.
pub fn upgrade_verdict(id: OperationId, unfinished: &[Unfinished]) -> Verdict {
    if unfinished.iter().any(|other| other.id == id) {
        return Verdict::Same(id);
    }
    match unfinished.iter().find(|other| other.kind == DEPROVISION) {
        Some(removal) => Verdict::Refuse(removal.id),
        None => Verdict::Queue,
    }
}

/// The verdict on the upgrade `id` in a maintenance window: it begins at once or not at all.
pub fn upgrade_alone(id: OperationId, unfinished: &[Unfinished]) -> Verdict {
    match (upgrade_verdict(id, unfinished), unfinished.first()) {
        (Verdict::Queue, Some(other)) => Verdict::Refuse(other.id),
        (verdict, _) => verdict,
    }
}

/// The verdict on a new operation, `id` of this kind.
///
/// A removal goes before everything but another removal; whatever else begins finds the place empty or is refused.
pub fn verdict(kind: &str, id: OperationId, unfinished: &[Unfinished]) -> Verdict {
    let Some(first) = unfinished.iter().find(|other| other.admitted).or(unfinished.first()) else {
        return Verdict::Queue;
    };
    if kind != DEPROVISION {
        return Verdict::Refuse(first.id);
    }
    if let Some(removal) = removal(unfinished) {
        return Verdict::Same(removal.id);
    }
    let in_the_way = unfinished.iter().filter(|other| !other.canceling).map(|other| other.id);
    Verdict::Supersede(in_the_way.collect(), format!("operation preempted by deprovisioning {id}"))
}

/// The verdict on a new suspension.
///
/// Orders and updates are seen through first: their platform follows them. Behind a change of the plan nobody can say yet whether the
/// instance may be suspended or expire. Nobody waits for a return, so it is stopped, with everything that waits behind it.
pub fn suspension(id: OperationId, unfinished: &[Unfinished]) -> Verdict {
    if let Some(removal) = removal(unfinished) {
        return Verdict::Refuse(removal.id);
    }
    let going: Vec<&Unfinished> = unfinished.iter().filter(|other| !other.canceling).collect();
    match going.last() {
        Some(last) if is_suspension(last) => return Verdict::Same(last.id),
        _ => {}
    }
    // One that is being stopped may still succeed.
    if let Some(change) = unfinished.iter().find(|other| changes_plan(other)) {
        return Verdict::Refuse(change.id);
    }
    match going.iter().position(|other| is_unsuspension(other)) {
        None => Verdict::Queue,
        Some(first) => {
            let stopped = going[first..].iter().map(|other| other.id).collect();
            Verdict::Supersede(stopped, format!("operation preempted by suspension {id}"))
        }
    }
}

/// The verdict on a new return from a suspension.
///
/// A suspension that has begun ends first; one that still waits need not begin, unless it waits for a provision or a return that
/// was stopped: what that leaves half-made goes first. Behind an update nobody can say yet what the next cluster shall have.
pub fn unsuspension(id: OperationId, unfinished: &[Unfinished]) -> Verdict {
    let going: Vec<&Unfinished> = unfinished.iter().filter(|other| !other.canceling).collect();
    if let Some(last) = going.last().filter(|last| is_unsuspension(last)) {
        return Verdict::Same(last.id);
    }
    let known = |other: &&Unfinished| is_suspension(other) || other.kind == PROVISION;
    if let Some(other) = going.iter().copied().find(|other| !known(other)) {
        return Verdict::Refuse(other.id);
    }
    let waiting = going.iter().filter(|other| is_suspension(other) && !other.admitted);
    let waiting: Vec<OperationId> = waiting.map(|other| other.id).collect();
    let leaves_some = |other: &Unfinished| other.kind == PROVISION && other.canceling;
    if waiting.is_empty() || unfinished.iter().any(leaves_some) {
        return Verdict::Queue;
    }
    Verdict::Supersede(waiting, format!("operation preempted by unsuspension {id}"))
}

/// The removal that is under way. One that was called off ends without having removed everything.
fn removal(unfinished: &[Unfinished]) -> Option<&Unfinished> {
    let is_removal = |other: &&Unfinished| other.kind == DEPROVISION && !is_suspension(other);
    unfinished.iter().find(|other| is_removal(other) && !other.canceling)
}

fn is_suspension(other: &Unfinished) -> bool {
    other.kind == DEPROVISION && other.digest.as_deref() == Some(SUSPENSION)
}

fn is_unsuspension(other: &Unfinished) -> bool {
    other.kind == PROVISION && other.digest.as_deref() == Some(UNSUSPENSION)
}

#[cfg(test)]
mod tests {
    use engine::State;
    use uuid::Uuid;

    use super::*;

    const NEW: OperationId = Uuid::from_u128(0xabc);

    /// Operations of these kinds, numbered from one, the first one admitted; a `!` marks one that is to end.
    fn unfinished(kinds: &[&str]) -> Vec<Unfinished> {
        let number = |at: usize| u128::try_from(at).unwrap() + 1;
        let operation = |(at, word): (usize, &&str)| {
            let name = word.trim_end_matches('!');
            let (kind, digest) = match name {
                "suspension" => (DEPROVISION, Some(SUSPENSION.to_vec())),
                "unsuspension" => (PROVISION, Some(UNSUSPENSION.to_vec())),
                "plan change" => (UPDATE, Some(update_digest(true, vec![1]))),
                kind => (kind, None),
            };
            Unfinished {
                id: Uuid::from_u128(number(at)),
                kind: kind.to_owned(),
                state: if at == 0 { State::InProgress } else { State::Pending },
                admitted: at == 0,
                digest,
                canceling: word.ends_with('!'),
            }
        };
        kinds.iter().enumerate().map(operation).collect()
    }

    fn verdict_of(request: &str, before: &[Unfinished]) -> Verdict {
        match request {
            "suspension" => suspension(NEW, before),
            "unsuspension" => unsuspension(NEW, before),
            kind => verdict(kind, NEW, before),
        }
    }

    #[test]
    fn a_change_waits_for_everything_but_a_removal_and_is_recognised_as_the_newest() {
        let id = Uuid::from_u128;
        let said = |kinds: &[&str], digests: &[u8]| {
            let mut unfinished = unfinished(kinds);
            for (other, digest) in unfinished.iter_mut().zip(digests) {
                other.digest = Some(vec![*digest]);
            }
            update_verdict(&unfinished, |digest| digest == [1])
        };

        assert_eq!(said(&[], &[]), Verdict::Queue);
        assert_eq!(said(&["provision"], &[]), Verdict::Queue);
        assert_eq!(said(&["upgradeKyma"], &[]), Verdict::Queue);
        assert_eq!(said(&["upgradeCluster", "update"], &[0, 2]), Verdict::Queue);
        assert_eq!(said(&["update"], &[1]), Verdict::Same(id(1)));
        assert_eq!(said(&["provision", "update"], &[0, 1]), Verdict::Same(id(2)));
        assert_eq!(said(&["update", "update"], &[1, 2]), Verdict::Queue);
        assert_eq!(said(&["update!"], &[1]), Verdict::Queue);
        assert_eq!(said(&["deprovision"], &[]), Verdict::Refuse(id(1)));
        assert_eq!(said(&["update!", "deprovision"], &[1]), Verdict::Refuse(id(2)));
        assert_eq!(said(&["deprovision!"], &[]), Verdict::Refuse(id(1)));
    }

    #[test]
    fn an_upgrade_waits_for_everything_that_keeps_the_runtime_and_is_refused_otherwise() {
        let id = Uuid::from_u128;
        let verdict = |kinds: &[&str]| upgrade_verdict(NEW, &unfinished(kinds));

        assert_eq!(verdict(&[]), Verdict::Queue);
        assert_eq!(verdict(&["provision"]), Verdict::Queue);
        assert_eq!(verdict(&["unsuspension"]), Verdict::Queue);
        assert_eq!(verdict(&["update", "upgradeKyma"]), Verdict::Queue);
        assert_eq!(verdict(&["upgradeCluster"]), Verdict::Queue);
        assert_eq!(upgrade_verdict(id(1), &unfinished(&["upgradeKyma"])), Verdict::Same(id(1)));
        assert_eq!(verdict(&["deprovision"]), Verdict::Refuse(id(1)));
        assert_eq!(verdict(&["update", "suspension"]), Verdict::Refuse(id(2)));
        assert_eq!(verdict(&["upgradeKyma!", "deprovision"]), Verdict::Refuse(id(2)));
        assert_eq!(verdict(&["deprovision!"]), Verdict::Refuse(id(1)));
    }

    #[test]
    fn an_upgrade_in_a_maintenance_window_waits_for_nothing() {
        let id = Uuid::from_u128;
        let verdict = |kinds: &[&str]| upgrade_alone(NEW, &unfinished(kinds));

        assert_eq!(verdict(&[]), Verdict::Queue);
        assert_eq!(verdict(&["update"]), Verdict::Refuse(id(1)));
        assert_eq!(verdict(&["update", "deprovision"]), Verdict::Refuse(id(2)));
        assert_eq!(upgrade_alone(id(1), &unfinished(&["upgradeKyma"])), Verdict::Same(id(1)));
    }

    #[test]
    fn every_pair_has_its_verdict() {
        let id = Uuid::from_u128;
        let stopped = |word: &str, ids: &[u128]| {
            let ids = ids.iter().copied().map(id).collect();
            Verdict::Supersede(ids, format!("operation preempted by {word} {NEW}"))
        };
        let supersede = |ids: &[u128]| stopped("deprovisioning", ids);
        let table: Vec<(&str, &[&str], Verdict)> = vec![
            ("provision", &[], Verdict::Queue),
            ("provision", &["provision"], Verdict::Refuse(id(1))),
            ("provision", &["deprovision"], Verdict::Refuse(id(1))),
            ("provision", &["provision!", "deprovision"], Verdict::Refuse(id(1))),
            ("deprovision", &[], Verdict::Queue),
            ("deprovision", &["provision"], supersede(&[1])),
            ("deprovision", &["update", "update"], supersede(&[1, 2])),
            ("deprovision", &["upgradeKyma", "upgradeCluster"], supersede(&[1, 2])),
            ("deprovision", &["provision!"], supersede(&[])),
            ("deprovision", &["deprovision"], Verdict::Same(id(1))),
            ("deprovision", &["provision!", "deprovision"], Verdict::Same(id(2))),
            ("deprovision", &["deprovision!"], supersede(&[])),
            ("deprovision", &["plan change"], supersede(&[1])),
            ("deprovision", &["suspension"], supersede(&[1])),
            ("deprovision", &["suspension", "unsuspension"], supersede(&[1, 2])),
            ("deprovision", &["suspension!", "deprovision"], Verdict::Same(id(2))),
            ("suspension", &[], Verdict::Queue),
            ("suspension", &["provision"], Verdict::Queue),
            ("suspension", &["update"], Verdict::Queue),
            ("suspension", &["plan change"], Verdict::Refuse(id(1))),
            ("suspension", &["provision", "plan change"], Verdict::Refuse(id(2))),
            ("suspension", &["plan change", "update"], Verdict::Refuse(id(1))),
            ("suspension", &["unsuspension", "plan change"], Verdict::Refuse(id(2))),
            ("suspension", &["plan change!"], Verdict::Refuse(id(1))),
            ("suspension", &["plan change", "suspension"], Verdict::Same(id(2))),
            ("suspension", &["upgradeKyma", "upgradeCluster"], Verdict::Queue),
            ("suspension", &["provision!"], Verdict::Queue),
            ("suspension", &["suspension"], Verdict::Same(id(1))),
            ("suspension", &["suspension!"], Verdict::Queue),
            ("suspension", &["provision", "suspension"], Verdict::Same(id(2))),
            ("suspension", &["unsuspension"], stopped("suspension", &[1])),
            ("suspension", &["suspension", "unsuspension"], stopped("suspension", &[2])),
            ("suspension", &["unsuspension", "update"], stopped("suspension", &[1, 2])),
            ("suspension", &["deprovision"], Verdict::Refuse(id(1))),
            ("suspension", &["unsuspension!", "deprovision"], Verdict::Refuse(id(2))),
            ("suspension", &["deprovision!"], Verdict::Queue),
            ("unsuspension", &[], Verdict::Queue),
            ("unsuspension", &["suspension"], Verdict::Queue),
            ("unsuspension", &["suspension!"], Verdict::Queue),
            ("unsuspension", &["unsuspension"], Verdict::Same(id(1))),
            ("unsuspension", &["suspension", "unsuspension"], Verdict::Same(id(2))),
            ("unsuspension", &["provision", "suspension"], stopped("unsuspension", &[2])),
            ("unsuspension", &["unsuspension!", "suspension"], Verdict::Queue),
            ("unsuspension", &["provision!", "suspension"], Verdict::Queue),
            ("unsuspension", &["update", "suspension"], Verdict::Refuse(id(1))),
            ("unsuspension", &["upgradeKyma", "suspension"], Verdict::Refuse(id(1))),
            ("unsuspension", &["deprovision"], Verdict::Refuse(id(1))),
        ];

        for (kind, before, expected) in table {
            let given = verdict_of(kind, &unfinished(before));
            assert_eq!(given, expected, "{kind} on {before:?}");
        }
    }
}
