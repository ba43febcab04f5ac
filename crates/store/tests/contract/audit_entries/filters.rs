//! Which entries of the audit a filter finds.

use std::time::Duration;

use store::audit::{AuditFilter, AuditLog, AuditResult, NewAuditEntry};
use uuid::Uuid;

use super::whole;
use crate::bench::OnDatabase;

/// One of two values for each thing that a filter looks at, by the bits of a number.
fn chosen(bits: u32) -> (NewAuditEntry, bool) {
    let one = |bit: u32, values: [&str; 2]| values[usize::from(bits & (1 << bit) != 0)].to_owned();
    let operation = if bits & 8 == 0 { 1 } else { 2 };
    let entry = NewAuditEntry {
        action: one(0, ["bind", "unbind"]),
        subject: one(1, ["jo", "al"]),
        instance: Some(one(2, ["i-1", "i-2"])),
        operation: Some(Uuid::from_u128(operation)),
        // To recognise it by.
        correlation: Some(bits.to_string()),
        ..whole()
    };
    (entry, bits & 16 == 0)
}

pub(crate) async fn of_all_filters_together_each_counts(bench: OnDatabase) {
    let audit = AuditLog::new(bench.store.clone());
    for bits in 0..32 {
        let (entry, accepted) = chosen(bits);
        let id = audit.begin(&entry).await.unwrap();
        audit.finish(id, &AuditResult { accepted, ..AuditResult::default() }).await.unwrap();
    }
    // Looks for the entry of number 0, by some of its fields.
    let (wanted, _) = chosen(0);

    for mask in 0..32_u32 {
        let given =
            |bit: u32, text: &str| if mask & (1 << bit) == 0 { "" } else { text }.to_owned();
        let filter = AuditFilter {
            action: given(0, &wanted.action),
            subject: given(1, &wanted.subject),
            instance: given(2, wanted.instance.as_deref().unwrap()),
            operation: wanted.operation.filter(|_| mask & 8 != 0),
            result: given(4, "accepted"),
            before: None,
            most: 32,
        };
        let page = audit.page(&filter).await.unwrap();
        let mut found: Vec<u32> = page
            .entries
            .iter()
            .map(|it| it.correlation.as_ref().unwrap().parse().unwrap())
            .collect();
        found.sort_unstable();
        let expected: Vec<u32> = (0..32).filter(|bits| bits & mask == 0).collect();
        assert_eq!((found, page.next), (expected, None), "{filter:?}");

        // The same page by page.
        let (mut read, mut before) = (0, None);
        loop {
            let some = AuditFilter { most: 3, before, ..filter.clone() };
            let page = audit.page(&some).await.unwrap();
            read += page.entries.len();
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(read, 32 >> mask.count_ones(), "{filter:?}");
    }
}

pub(crate) async fn the_latest_entries_of_instances_and_operations_come_oldest_first(
    bench: OnDatabase,
) {
    let audit = AuditLog::new(bench.store.clone());
    for number in 0..4_u32 {
        let instance = Some(if number < 2 { "i-1" } else { "i-2" }.to_owned());
        let operation = Some(Uuid::from_u128(u128::from(number) + 1));
        let correlation = Some(number.to_string());
        let entry = NewAuditEntry { instance, operation, correlation, ..whole() };
        audit.begin(&entry).await.unwrap();
        bench.wait(1);
    }
    let told = async |instances: &[&str], operations: &[u128], most| {
        let instances: Vec<String> = instances.iter().map(ToString::to_string).collect();
        let operations: Vec<Uuid> = operations.iter().map(|id| Uuid::from_u128(*id)).collect();
        let found = audit.of(&instances, &operations, most).await.unwrap();
        found.into_iter().map(|it| it.correlation.unwrap()).collect::<Vec<_>>()
    };

    assert_eq!(told(&["i-1"], &[], 10).await, ["0", "1"]);
    assert_eq!(told(&["i-1"], &[4], 10).await, ["0", "1", "3"]);
    assert_eq!(told(&[], &[2, 3], 10).await, ["1", "2"]);
    assert_eq!(told(&["i-1", "i-2"], &[], 3).await, ["1", "2", "3"], "the latest");
    assert!(told(&["i-3"], &[], 10).await.is_empty());
    bench.clock.advance(Duration::from_hours(1));
    assert_eq!(told(&["i-2"], &[1], 2).await, ["2", "3"]);
}
