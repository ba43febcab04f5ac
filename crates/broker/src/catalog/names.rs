//! Names and addresses that are made up for a runtime.
//!
//! Randomness is handed in, so that the caller that stores the name also decides when a new one is drawn.

use domain::plan::Kind;
use url::form_urlencoded::byte_serialize;
use uuid::Uuid;

/// The longest name that the Director and the provisioner take.
const LONGEST_RUNTIME_NAME: usize = 36;
const SUFFIX: usize = 5;

/// The name of a Shoot: seven characters of a random id, with a letter in front.
pub fn shoot_name(random: [u8; 16]) -> String {
    let id = uuid::Builder::from_random_bytes(random).into_uuid();
    let short: String = id.simple().to_string().chars().take(7).collect();
    if short.starts_with(|first: char| first.is_ascii_alphabetic()) {
        short
    } else {
        format!("c-{short}")
    }
}

/// The domain of a Shoot.
pub fn shoot_domain(shoot: &str, domain: &str) -> String {
    format!("{shoot}.{}", domain.trim_matches('.'))
}

/// The name of a runtime in the Director and the provisioner: what its owner calls it, as far as it can be used, and
/// five random letters. It begins with a letter, whatever its owner's begins with.
pub fn runtime_name(name: &str, random: [u8; SUFFIX]) -> String {
    let usable = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let given: String = name.chars().filter(usable).map(|c| c.to_ascii_lowercase()).collect();
    let given = given.trim_matches(['-', '.']);
    let lettered = given.starts_with(|first: char| first.is_ascii_alphabetic());
    let given = if lettered { given.to_owned() } else { format!("c-{given}") };
    let given: String = given.chars().take(LONGEST_RUNTIME_NAME - SUFFIX - 1).collect();
    let suffix: String = random.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
    format!("{}-{suffix}", given.trim_end_matches(['-', '.']))
}

/// Where the owner of an instance finds its dashboard. A cluster that was brought along has no kubeconfig here to
/// open it with.
pub fn dashboard_url(landscape: &str, kind: Kind, instance: &str) -> String {
    let landscape = landscape.trim_end_matches('/');
    match kind {
        Kind::OwnCluster => landscape.to_owned(),
        _ => {
            let escaped: String = byte_serialize(instance.as_bytes()).collect();
            format!("{landscape}/?kubeconfigID={escaped}")
        }
    }
}

/// Draws `count` of `items` without repetition, in the order of the list.
pub(super) fn draw<T: Clone>(items: &[T], count: usize, random: Uuid) -> Vec<T> {
    let mut indices: Vec<usize> = (0..items.len()).collect();
    let mut dice = random.as_u128();
    while indices.len() > count {
        let left = indices.len() as u128;
        let out = usize::try_from(dice % left).unwrap_or_default();
        dice /= left;
        indices.remove(out);
    }
    indices.into_iter().filter_map(|index| items.get(index).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shoot_is_named_by_seven_characters_behind_a_letter() {
        assert_eq!(shoot_name([0xab; 16]), "abababa");
        assert_eq!(shoot_name([0x12; 16]), "c-1212121");
        assert_eq!(shoot_domain("abababa", ".kyma.test."), "abababa.kyma.test");
    }

    #[test]
    fn a_runtime_keeps_the_usable_part_of_its_name_within_36_characters() {
        assert_eq!(runtime_name("Dev Cluster_1", [0, 1, 2, 25, 26]), "devcluster1-abcza");

        for (name, kept) in [
            ("2024-prod", "c-2024-prod-aaaaa"),
            ("123", "c-123-aaaaa"),
            ("-", "c-aaaaa"),
            ("---a-", "a-aaaaa"),
            ("a.", "a-aaaaa"),
        ] {
            assert_eq!(runtime_name(name, [0; 5]), kept, "{name}");
        }

        let long = runtime_name(&"x".repeat(64), [0; 5]);

        assert_eq!((long.len(), long.ends_with("x-aaaaa")), (36, true));
    }

    #[test]
    fn a_dashboard_is_opened_with_the_kubeconfig_of_the_instance() {
        let url = |kind| dashboard_url("https://dashboard.test/", kind, "i-1");

        assert_eq!(url(Kind::Managed), "https://dashboard.test/?kubeconfigID=i-1");
        assert_eq!(url(Kind::OwnCluster), "https://dashboard.test");
        let odd = dashboard_url("https://dashboard.test", Kind::Managed, "a&kubeconfigID=b#<c> d%");
        assert_eq!(odd, "https://dashboard.test/?kubeconfigID=a%26kubeconfigID%3Db%23%3Cc%3E+d%25");
    }

    #[test]
    fn every_item_is_drawn_by_some_dice_and_none_twice() {
        let items = ["a", "b", "c", "d"];

        let drawn: Vec<_> = (0..24).map(|dice| draw(&items, 2, Uuid::from_u128(dice))).collect();

        assert!(items.iter().all(|item| drawn.iter().any(|draw| draw.contains(item))));
        assert!(drawn.iter().all(|draw| draw.len() == 2 && draw[0] < draw[1]));
        assert_eq!(draw(&items, 9, Uuid::nil()), items);
    }
}
