//! Which of two versions is higher.

use proptest::prelude::*;

use crate::shoots::versions::{Version, is_lower};

proptest! {
    #[test]
    fn versions_are_ordered_by_their_numbers(
        one in (0_u64..30, 0_u64..30, 0_u64..30),
        other in (0_u64..30, 0_u64..30, 0_u64..30),
    ) {
        let text = |(major, minor, patch): (u64, u64, u64)| format!("{major}.{minor}.{patch}");

        let (first, second) = (Version::parse(&text(one)), Version::parse(&text(other)));

        prop_assert_eq!(first.cmp(&second), one.cmp(&other));
        prop_assert_eq!(is_lower(&text(one), &text(other)), one < other);
        prop_assert_eq!(first.unwrap().to_string(), text(one));
    }
}

#[test]
fn images_have_as_many_numbers_as_they_like() {
    assert!(is_lower("18.4.20210108", "18.4.20210415"));
    assert!(is_lower("1443", "1443.1"));
    assert!(!is_lower("1443.3.0", "1443.3.0"));
}

#[test]
fn what_has_no_numbers_is_not_lower() {
    assert!(!is_lower("1443.3.0-dev", "1500.0.0"));
    assert!(!is_lower("1443.3.0", "latest"));
}
