//! Which version of Kyma an order gets: its own, that of its account, or everybody's.

use clients::Error;

use crate::{Order, details::RuntimeVersion, operations::env::Env, overrides::objects};

/// The version for an order: the one that is asked for, that of its account, or everybody's. Without a mapping there is none; a mapping
/// that cannot be read is a failure.
pub(in crate::operations) async fn runtime_version(
    env: &Env,
    order: &Order,
    asked: Option<&str>,
) -> Result<RuntimeVersion, Error> {
    let default = &env.settings.default_kyma_version;
    let of = |version: &str, origin: &str| RuntimeVersion {
        version: version.to_owned(),
        origin: origin.to_owned(),
        major: major(version, default),
    };
    if let Some(asked) = asked.filter(|version| !version.is_empty()) {
        return Ok(of(asked, "parameters"));
    }
    if let Some(name) = &env.settings.account_versions {
        let map = objects::map(&env.control_plane, &env.settings.namespace, name).await?;
        let data = map.and_then(|map| map.data).unwrap_or_default();
        let keys = [
            format!("SA_{}", order.context.subaccount_id),
            format!("GA_{}", order.context.globalaccount_id),
        ];
        if let Some(mapped) = keys.iter().find_map(|key| data.get(key)) {
            return Ok(of(mapped, "account-mapping"));
        }
    }
    Ok(of(default, "defaults"))
}

/// The first number of a version; what is not released has the default's.
pub(in crate::operations) fn major(version: &str, default: &str) -> u32 {
    let first = |version: &str| version.split('.').next().and_then(|first| first.parse().ok());
    first(version).or_else(|| first(default)).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_begins_with_its_major_number_unless_it_is_not_released() {
        assert_eq!(major("1.24.11", "2.20.0"), 1);
        assert_eq!(major("PR-123", "2.20.0"), 2);
        assert_eq!(major("main-8d3f", "3.1.0"), 3);
    }
}
