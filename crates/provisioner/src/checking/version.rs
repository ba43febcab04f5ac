//! Versions of Kubernetes only go up.

use clients::gardener::Shoot;

use super::refused;
use crate::{Error, shoots::versions::Version};

/// The version that a cluster is to have. A lower one than it has is refused; none keeps what it has, which is
/// the higher one of what is stored and what Gardener may have raised it to.
pub fn kubernetes_version(
    stored: &str,
    live: Option<&Shoot>,
    wanted: Option<&str>,
) -> Result<String, Error> {
    let path = "kubernetesVersion";
    let highest = highest(stored, live, wanted, path)?;
    match wanted {
        Some(wanted) if wanted != highest => {
            let rule = format!("{wanted} is lower than {highest}: versions only go up");
            Err(refused(path, rule))
        }
        _ => Ok(highest),
    }
}

/// The highest of what is stored, what Gardener may have raised it to, and what is wanted by the field at `path`.
pub(super) fn highest(
    stored: &str,
    live: Option<&Shoot>,
    wanted: Option<&str>,
    path: &str,
) -> Result<String, Error> {
    if wanted == Some("") {
        return Err(Error::bad("empty kubernetes version provided"));
    }
    let wanted = wanted.map(|wanted| parsed(wanted, path)).transpose()?;
    let live = live.and_then(|shoot| shoot.spec.kubernetes.as_ref()?.version.as_deref());
    let live = live.map(ours).transpose()?;
    Ok(ours(stored)?.max(live.unwrap_or_default()).max(wanted.unwrap_or_default()).to_string())
}

/// A version that a caller wrote.
pub(super) fn parsed(text: &str, path: &str) -> Result<Version, Error> {
    let rule = || refused(path, format_args!("{text:?} is not a version such as 1.32.4"));
    Version::parse(text).ok_or_else(rule)
}

/// A version that no caller wrote: it is not their fault when it is none.
fn ours(text: &str) -> Result<Version, Error> {
    let message = || format!("the cluster's version of Kubernetes is {text:?}, which is none");
    Version::parse(text).ok_or_else(|| Error::internal(message()))
}
