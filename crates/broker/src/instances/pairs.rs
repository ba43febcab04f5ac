//! The table of pairs: what becomes of a request that meets unfinished operations of its instance.

use engine::{
    Operation, OperationId,
    storage::{Unfinished, Verdict},
};

use crate::operations::{deprovisioning::Deprovisioning, provisioning::Provisioning};

/// The kind of operation that makes an instance.
pub const PROVISION: &str = Provisioning::KIND;
/// The kind of operation that removes an instance.
pub const DEPROVISION: &str = Deprovisioning::KIND;

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
