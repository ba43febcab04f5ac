//! Tampering with sealed values: they open in one place, whole, or not at all.

mod key_files;
mod rotation;

use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::SecretString;

use super::*;

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
fn no_two_values_are_sealed_with_the_same_cipher_key() {
    let sealer = sealer(&[("k", 1)]);
    let salts: std::collections::BTreeSet<_> = (0..100)
        .map(|_| Envelope::read(&sealer.seal(HERE, PLAIN)).unwrap().salt.copied().unwrap())
        .collect();

    assert_eq!(salts.len(), 100);
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
