//! Lists and files of keys: which are refused, and that none shows in an error.

use std::{fs, os::unix::fs::PermissionsExt};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{super::*, HERE, PLAIN, refusal, sealer};
use crate::testing::Folder;

#[test]
fn a_missing_key_is_named() {
    let value = sealer(&[("2026-05", 1)]).seal(HERE, PLAIN);

    let error = sealer(&[("2026-11", 2)]).open(HERE, &value).unwrap_err();

    assert_eq!(
        error.to_string(),
        "the value in operation_inputs.input is sealed with key \"2026-05\", which is not configured"
    );
}

#[test]
fn a_key_with_a_known_id_and_other_bytes_is_refused() {
    let value = sealer(&[("2026-05", 1)]).seal(HERE, PLAIN);

    let error = sealer(&[("2026-05", 2)]).open(HERE, &value).unwrap_err();

    assert!(matches!(error, SealError::Refused { .. }));
}

#[test]
fn a_bad_list_of_keys_is_refused_without_repeating_it() {
    let good = STANDARD.encode([7; 32]);

    assert_eq!(refusal(" , \n"), "there is no key in the list of keys");
    assert!(refusal(&format!("a:{good},{good}")).starts_with("entry 2 of the list"));
    assert!(refusal(&format!("{good}:a")).starts_with("entry 1 of the list"));
    assert_eq!(refusal(&format!("a:{good},b:cGxhaW4=")), "key \"b\" is not 32 bytes in base64");
    assert_eq!(refusal(&format!("a:{good},a:{good}")), "key \"a\" is in the list of keys twice");
    for text in [format!("a:{good},{good}"), format!("{good}:a"), "a:cGxhaW4=".into()] {
        assert!(!refusal(&text).contains(&good) && !refusal(&text).contains("cGxhaW4"));
    }
}

#[test]
fn a_key_file_is_made_once_for_its_owner_alone() {
    let folder = Folder::new("keys").unwrap();
    let path = folder.path().join("keys");

    let value = Sealer::from_file_or_create(&path).unwrap().seal(HERE, PLAIN);

    let again = Sealer::from_file_or_create(&path).unwrap();
    assert_eq!(again.open(HERE, &value).unwrap(), PLAIN);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_key_file_that_others_may_read_is_refused() {
    let folder = Folder::new("keys").unwrap();
    let path = folder.path().join("keys");
    Sealer::from_file_or_create(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();

    let refused = Sealer::from_file_or_create(&path);

    assert!(matches!(refused, Err(KeysError::Exposed { .. })));
}
