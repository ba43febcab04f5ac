//! Names of a binding's objects in a runtime.

use aws_lc_rs::digest::{SHA256, digest};

const PREFIX: &str = "kyma-binding-";
/// The longest id that stands in the name as it is: names of Kubernetes have 253 characters at most, and role names are labels of others.
const LONGEST: usize = 200;

/// The name of everything that is made for a binding. Ids that cannot be a name of Kubernetes, or only by changing them, are hashed: two
/// ids never have one name.
pub fn access_name(binding: &str) -> String {
    if is_name(binding) {
        return format!("{PREFIX}{binding}");
    }
    let hash = digest(&SHA256, binding.as_bytes());
    // No id that stands in the name as it is has a dot.
    format!("{PREFIX}id.{}", hex::encode(hash))
}

fn is_name(id: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| alphanumeric(*byte));
    let bytes = id.as_bytes();
    bytes.len() <= LONGEST
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| alphanumeric(*byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ids_never_have_one_name() {
        let long = "x".repeat(255);
        let ids = ["b-1", "B-1", "b_1", "b.1", "-b", "b-", "", "b/1", "ü", long.as_str()];

        let names: std::collections::BTreeSet<String> =
            ids.iter().map(|id| access_name(id)).collect();

        assert_eq!(names.len(), ids.len());
        assert_eq!(access_name("b-1"), "kyma-binding-b-1");
        assert!(names.iter().all(|name| name.len() <= 253
            && name.bytes().all(|byte| byte.is_ascii_lowercase()
                || byte.is_ascii_digit()
                || b"-.".contains(&byte))));
    }
}
