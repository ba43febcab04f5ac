//! Versions of Kubernetes, compared by their numbers.
//!
//! What a reader would get wrong: the provisioner never lowers the version of a Shoot. An order with a lower one succeeds, and changes nothing.

/// Major, minor and patch; none of a text that is no such version.
pub(crate) fn parts(version: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = version.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

/// The version that a cluster has after an order: its own where that is higher.
pub(crate) fn after_order<'a>(before: &'a str, ordered: &'a str) -> &'a str {
    match (parts(before), parts(ordered)) {
        (Some(has), Some(gets)) if has > gets => before,
        _ => ordered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_never_lowers_a_version() {
        for (before, ordered, after) in [
            ("1.31.4", "1.32.0", "1.32.0"),
            ("1.32.0", "1.31.4", "1.32.0"),
            ("1.31.10", "1.31.9", "1.31.10"),
            ("1.31.4", "1.31.4", "1.31.4"),
            ("", "1.31.4", "1.31.4"),
            ("new", "1.31.4", "1.31.4"),
        ] {
            assert_eq!(after_order(before, ordered), after, "{before}, then {ordered}");
        }
    }
}
