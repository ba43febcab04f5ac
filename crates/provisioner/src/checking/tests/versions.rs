//! Versions of Kubernetes only go up.

use clients::gardener::{Kubernetes, Shoot};

use crate::{checking::kubernetes_version, error::Code};

fn live(version: &str) -> Shoot {
    let mut shoot = Shoot::named("c-7f3a91b");
    shoot.spec.kubernetes =
        Some(Kubernetes { version: Some(version.into()), ..Kubernetes::default() });
    shoot
}

#[test]
fn a_higher_or_equal_version_is_taken() {
    let shoot = live("1.32.4");

    for wanted in ["1.32.4", "1.32.10", "1.33.0"] {
        let version = kubernetes_version("1.31.9", Some(&shoot), Some(wanted));
        assert_eq!(version, Ok(wanted.into()));
    }
}

#[test]
fn no_version_keeps_the_higher_one() {
    let raised_by_gardener = kubernetes_version("1.32.4", Some(&live("1.32.10")), None);
    let not_yet_raised = kubernetes_version("1.33.0", Some(&live("1.32.10")), None);
    let no_shoot = kubernetes_version("1.32.4", None, None);

    assert_eq!(raised_by_gardener, Ok("1.32.10".into()));
    assert_eq!(not_yet_raised, Ok("1.33.0".into()));
    assert_eq!(no_shoot, Ok("1.32.4".into()));
}

#[test]
fn a_lower_version_is_refused() {
    let than_live = kubernetes_version("1.31.9", Some(&live("1.32.4")), Some("1.32.3"));
    let than_stored = kubernetes_version("1.32.10", None, Some("1.32.9"));

    let (than_live, than_stored) = (than_live.unwrap_err(), than_stored.unwrap_err());
    let text = "kubernetesVersion 1.32.3 is lower than 1.32.4: versions only go up";
    assert_eq!((than_live.message.as_str(), than_live.code), (text, Code::BadRequest));
    let text = "kubernetesVersion 1.32.9 is lower than 1.32.10: versions only go up";
    assert_eq!((than_stored.message.as_str(), than_stored.code), (text, Code::BadRequest));
}

#[test]
fn what_is_no_version_is_refused() {
    for wanted in ["latest", "1.32", "1.32.4.1", "v1.32.4", "1.032.4", "1.-1.4", "1.32.4-rc1"] {
        let error = kubernetes_version("1.31.9", None, Some(wanted)).unwrap_err();
        let text = format!("kubernetesVersion {wanted:?} is not a version such as 1.32.4");
        assert_eq!((error.message, error.code), (text, Code::BadRequest));
    }
    let empty = kubernetes_version("1.31.9", None, Some("")).unwrap_err();
    assert_eq!(empty.message, "empty kubernetes version provided");
}

#[test]
fn what_is_no_version_in_the_shoot_is_not_the_callers_fault() {
    let error = kubernetes_version("1.31.9", Some(&live("latest")), None).unwrap_err();

    assert_eq!(error.code, Code::Internal);
}
