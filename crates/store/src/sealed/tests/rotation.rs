//! Sealed values and digests after a new key was put in front.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{super::*, HERE, OF_VERSION_1, PLAIN, sealer};

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
fn keys_with_a_new_one_in_front_still_open_what_the_old_ones_sealed() {
    let old = Keys::generate();
    let value = Sealer::new(&old).seal(HERE, PLAIN);

    let sealer = Sealer::new(&old.rotated());

    assert_eq!(sealer.open(HERE, &value).unwrap(), PLAIN);
    assert!(!sealer.is_current(&value));
}
