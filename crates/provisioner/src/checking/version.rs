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
    raised(stored, live, wanted, "kubernetesVersion")
}

/// The same for a field at `path`.
pub(super) fn raised(
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
    let current = live.max(Some(ours(stored)?));
    match (wanted, current) {
        (Some(wanted), Some(current)) if wanted < current => {
            let rule = format!("{wanted} is lower than {current}: versions only go up");
            Err(refused(path, rule))
        }
        (wanted, current) => Ok(wanted.or(current).map(|v| v.to_string()).unwrap_or_default()),
    }
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
