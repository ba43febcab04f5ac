//! The table of pairs: what becomes of a request that meets unfinished operations of its instance.
//!
//! | Asked for | On a provision | On an update | On an upgrade | On a deprovision |
//! |---|---|---|---|---|
//! | provision | refused | refused | refused | refused |
//! | update | queued | the same one if it is the newest and says the same, else queued | queued | refused |
//! | deprovision | supersedes it | supersedes it | supersedes it | the same one |
//!
//! Refused is `ConcurrencyError`. `docs/updates.md` has the same table for platforms.

use engine::{
    Operation, OperationId,
    storage::{Unfinished, Verdict},
};

use crate::operations::{
    deprovisioning::Deprovisioning, provisioning::Provisioning, update::Updating,
};

/// The kind of operation that makes an instance.
pub const PROVISION: &str = Provisioning::KIND;
/// The kind of operation that removes an instance.
pub const DEPROVISION: &str = Deprovisioning::KIND;

/// The kind of operation that changes an instance.
pub const UPDATE: &str = Updating::KIND;

/// What becomes of a change; `is_same` recognises its digest.
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
                && last.digest.as_deref().is_some_and(is_same) =>
        {
            Verdict::Same(last.id)
        }
        _ => Verdict::Queue,
    }
}

/// What becomes of a new operation, `id` of this kind.
///
/// A removal goes before everything but another removal; whatever else begins finds the place empty or is refused.
pub fn verdict(kind: &str, id: OperationId, unfinished: &[Unfinished]) -> Verdict {
    let Some(first) = unfinished.iter().find(|other| other.admitted).or(unfinished.first()) else {
        return Verdict::Queue;
    };
    if kind != DEPROVISION {
        return Verdict::Refuse(first.id);
    }
    // One that was called off ends without having removed everything.
    let removal = unfinished.iter().find(|other| other.kind == DEPROVISION && !other.canceling);
    if let Some(removal) = removal {
        return Verdict::Same(removal.id);
    }
    let in_the_way = unfinished.iter().filter(|other| !other.canceling).map(|other| other.id);
    Verdict::Supersede(in_the_way.collect(), format!("operation preempted by deprovisioning {id}"))
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
        let operation = |(at, kind): (usize, &&str)| Unfinished {
            id: Uuid::from_u128(number(at)),
            kind: kind.trim_end_matches('!').to_owned(),
            state: if at == 0 { State::InProgress } else { State::Pending },
            admitted: at == 0,
            digest: None,
            canceling: kind.ends_with('!'),
        };
        kinds.iter().enumerate().map(operation).collect()
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
    fn every_pair_has_its_verdict() {
        let id = Uuid::from_u128;
        let supersede = |ids: &[u128]| {
            let ids = ids.iter().copied().map(id).collect();
            Verdict::Supersede(ids, format!("operation preempted by deprovisioning {NEW}"))
        };
        let table: Vec<(&str, &[&str], Verdict)> = vec![
            ("provision", &[], Verdict::Queue),
            ("provision", &["provision"], Verdict::Refuse(id(1))),
            ("provision", &["deprovision"], Verdict::Refuse(id(1))),
            ("provision", &["provision!", "deprovision"], Verdict::Refuse(id(1))),
            ("deprovision", &[], Verdict::Queue),
            ("deprovision", &["provision"], supersede(&[1])),
            ("deprovision", &["update", "update"], supersede(&[1, 2])),
            ("deprovision", &["upgradeKyma"], supersede(&[1])),
            ("deprovision", &["provision!"], supersede(&[])),
            ("deprovision", &["deprovision"], Verdict::Same(id(1))),
            ("deprovision", &["provision!", "deprovision"], Verdict::Same(id(2))),
            ("deprovision", &["deprovision!"], supersede(&[])),
        ];

        for (kind, before, expected) in table {
            assert_eq!(verdict(kind, NEW, &unfinished(before)), expected, "{kind} on {before:?}");
        }
    }
}
