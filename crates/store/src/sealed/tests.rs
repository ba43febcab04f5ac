//! Tampering with sealed values, and the secrecy of their keys.

use std::{fs, os::unix::fs::PermissionsExt};

use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::SecretString;

use super::*;
use crate::testing::Folder;

const HERE: SealLocation<'static> =
    SealLocation { table: "operation_inputs", column: "input", row: "8f21" };
const PLAIN: &[u8] = b"kubeconfig";
/// The same, sealed in version 1 with the key "2026-05" of ones.
const OF_VERSION_1: &str = "AQcyMDI2LTA1lIyuM3m8hA1Kmi2zE6EQPdTOZwjSn/HTa50Rp032YHQ8RlaRQcQ=";

fn keys(entries: &[(&str, u8)]) -> Keys {
    let text: Vec<_> =
        entries.iter().map(|(id, byte)| format!("{id}:{}", STANDARD.encode([*byte; 32]))).collect();
    Keys::parse(&SecretString::from(text.join(","))).unwrap()
}

fn sealer(entries: &[(&str, u8)]) -> Sealer {
    Sealer::new(&keys(entries))
}

fn refusal(text: &str) -> String {
    Keys::parse(&SecretString::from(text)).unwrap_err().to_string()
}

#[test]
fn what_is_sealed_opens_in_its_place_and_does_not_show() {
    let sealer = Sealer::generate();

    let value = sealer.seal(HERE, PLAIN);

    assert_eq!(sealer.open(HERE, &value).unwrap(), PLAIN);
    assert_eq!(sealer.clone().open(HERE, &value).unwrap(), PLAIN);
    assert!(!value.windows(PLAIN.len()).any(|part| part == PLAIN));
    assert_eq!(sealer.open(HERE, &sealer.seal(HERE, b"")).unwrap(), b"");
}

#[test]
fn sealing_twice_gives_two_different_values() {
    let sealer = Sealer::generate();

    assert_ne!(sealer.seal(HERE, PLAIN), sealer.seal(HERE, PLAIN));
}

#[test]
fn s2_a_value_does_not_open_in_another_place() {
    let sealer = Sealer::generate();
    let value = sealer.seal(HERE, PLAIN);

    for elsewhere in [
        SealLocation { table: "operation_data", ..HERE },
        SealLocation { column: "data", ..HERE },
        SealLocation { row: "8f22", ..HERE },
        SealLocation { table: "operation_inputsi", column: "nput", ..HERE },
        SealLocation { column: "input8", row: "f21", ..HERE },
    ] {
        assert!(matches!(sealer.open(elsewhere, &value), Err(SealError::Refused { .. })));
    }
}

#[test]
fn s2_a_value_cut_at_any_length_does_not_open() {
    let sealer = Sealer::generate();
    let value = sealer.seal(HERE, PLAIN);

    for length in 0..value.len() {
        assert!(sealer.open(HERE, &value[..length]).is_err(), "cut to {length} bytes");
    }
}

#[test]
fn s2_a_value_with_any_flipped_bit_does_not_open() {
    let sealer = Sealer::generate();
    let value = sealer.seal(HERE, PLAIN);

    for bit in 0..value.len() * 8 {
        let mut changed = value.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(sealer.open(HERE, &changed).is_err(), "bit {bit}");
    }
}

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
fn rotation_moves_a_value_to_the_new_key_once() {
    let old = sealer(&[("2026-05", 1)]);
    let both = sealer(&[("2026-11", 2), ("2026-05", 1)]);
    let new = sealer(&[("2026-11", 2)]);
    let value = old.seal(HERE, PLAIN);

    let resealed = both.reseal(HERE, &value).unwrap().unwrap();

    assert!(!both.is_current(&value) && both.is_current(&resealed));
    assert!(resealed.starts_with(&both.current_prefix()));
    assert_eq!(Sealer::key_id(&resealed), Some("2026-11"));
    assert_eq!(new.open(HERE, &resealed).unwrap(), PLAIN);
    assert_eq!(both.reseal(HERE, &resealed).unwrap(), None);
}

#[test]
fn no_two_values_are_sealed_with_the_same_cipher_key() {
    let sealer = sealer(&[("k", 1)]);
    let salts: std::collections::BTreeSet<_> = (0..100)
        .map(|_| Envelope::read(&sealer.seal(HERE, PLAIN)).unwrap().salt.copied().unwrap())
        .collect();

    assert_eq!(salts.len(), 100);
}

#[test]
fn a_value_of_version_1_opens_and_a_rotation_seals_it_anew() {
    let sealer = sealer(&[("2026-05", 1)]);
    let old = STANDARD.decode(OF_VERSION_1).unwrap();

    assert_eq!(sealer.open(HERE, &old).unwrap(), PLAIN);
    assert!(!sealer.is_current(&old) && Sealer::key_id(&old) == Some("2026-05"));
    let new = sealer.reseal(HERE, &old).unwrap().unwrap();
    assert!(sealer.is_current(&new) && sealer.open(HERE, &new).unwrap() == PLAIN);
    let mut pretending = new;
    pretending[0] = WITHOUT_SALT;
    assert!(sealer.open(HERE, &pretending).is_err());
}

#[test]
fn a_digest_is_recognised_after_a_new_key_was_put_in_front() {
    let old = sealer(&[("2026-05", 1)]);
    let both = sealer(&[("2026-11", 2), ("2026-05", 1)]);

    let digest = old.digest("request", PLAIN);

    assert!(both.digest_matches("request", PLAIN, &digest));
    assert!(!both.digest_matches("request", b"other", &digest));
    assert!(!both.digest_matches("reques", b"tkubeconfig", &digest));
    assert!(!both.digest_matches("request", PLAIN, &digest[..digest.len() - 1]));
    assert!(!both.digest_matches("request", PLAIN, b""));
    assert!(both.digest_matches("request", PLAIN, &both.digest("request", PLAIN)));
    assert!(!old.digest_matches("request", PLAIN, &both.digest("request", PLAIN)));
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
fn s4_debug_output_shows_ids_and_no_key() {
    let keys = keys(&[("2026-11", b'k'), ("2026-05", b'o')]);

    let shown = format!("{keys:?} {:?}", Sealer::new(&keys));

    assert!(shown.contains("2026-11") && shown.contains("2026-05"));
    for key in [b'k', b'o'] {
        assert!(!shown.contains(&STANDARD.encode([key; 32])));
        assert!(!shown.contains(&"k".repeat(4)) && !shown.contains(&format!("{key}, {key}")));
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

#[test]
fn keys_with_a_new_one_in_front_still_open_what_the_old_ones_sealed() {
    let old = Keys::generate();
    let value = Sealer::new(&old).seal(HERE, PLAIN);

    let sealer = Sealer::new(&old.rotated());

    assert_eq!(sealer.open(HERE, &value).unwrap(), PLAIN);
    assert!(!sealer.is_current(&value));
}
