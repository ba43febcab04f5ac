//! Which instances can be bound, and how.

use std::{num::NonZeroU32, time::Duration};

use anyhow::{Context as _, bail, ensure};
use api::origins::{Origin, Origins};
use broker::catalog::{BindingOffer, Catalog};
use confique::Config;
use domain::plan::Kind;

use super::values::friendly;

/// Kubernetes gives no token for less.
const SHORTEST: Duration = Duration::from_secs(600);
/// Platforms give up after a minute.
const LONGEST_TIME: Duration = Duration::from_secs(45);

/// Which instances can be bound, and how.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct BindingSettings {
    /// Whether instances can be bound. Default: true with `kcp up`, false with `kcp broker`.
    #[config(env = "KCP_BROKER_BINDINGS_ENABLED")]
    pub enabled: Option<bool>,
    /// The names of the plans whose instances can be bound.
    #[config(env = "KCP_BROKER_BINDINGS_PLANS", default = ["aws"], parse_env = confique::env::parse::list_by_comma)]
    pub plans: Vec<String>,
    /// How long credentials are valid when a bind has no `expiration_seconds`.
    #[config(env = "KCP_BROKER_BINDINGS_EXPIRATION", default = "10m", deserialize_with = friendly)]
    pub expiration: Duration,
    /// The shortest time that a bind may ask for; ten minutes at least, because Kubernetes gives no token for less.
    #[config(env = "KCP_BROKER_BINDINGS_SHORTEST", default = "10m", deserialize_with = friendly)]
    pub shortest: Duration,
    /// The longest time that a bind may ask for.
    #[config(env = "KCP_BROKER_BINDINGS_LONGEST", default = "2h", deserialize_with = friendly)]
    pub longest: Duration,
    /// How many bindings an instance may have, those not counted that have expired.
    #[config(env = "KCP_BROKER_BINDINGS_MOST", default = 10)]
    pub most: NonZeroU32,
    /// For how long operators get access to a runtime, with all rights, at `/kubeconfig/{account}/{runtime}`. Off when it is missing;
    /// `8h` with `kcp up`.
    #[config(env = "KCP_BROKER_BINDINGS_OPERATORS", deserialize_with = friendly)]
    pub operators: Option<Duration>,
    /// The origins whose pages may fetch `/kubeconfig/{instance_id}` in the browser, as in `https://dashboard.example.com`, or `*`. They need
    /// a token like every caller.
    #[config(env = "KCP_BROKER_BINDINGS_KUBECONFIG_ORIGINS", default = [], parse_env = confique::env::parse::list_by_comma)]
    pub kubeconfig_origins: Vec<String>,
    /// How long a bind may take; 45 seconds at most, and less than `requests.time`.
    #[config(env = "KCP_BROKER_BINDINGS_TIME", default = "15s", deserialize_with = friendly)]
    pub time: Duration,
}

impl BindingSettings {
    /// The bindings that the catalog offers; none where they are not enabled.
    pub(crate) fn offer(
        &self,
        catalog: &Catalog,
        requests: Duration,
    ) -> anyhow::Result<Option<BindingOffer>> {
        let Self {
            enabled,
            plans,
            expiration,
            shortest,
            longest,
            most,
            operators,
            kubeconfig_origins: _,
            time,
        } = self;
        ensure!(
            *shortest >= SHORTEST,
            "bindings.shortest is {} s; Kubernetes gives no token for less than {} s",
            shortest.as_secs(),
            SHORTEST.as_secs()
        );
        ensure!(
            shortest <= expiration && expiration <= longest,
            "bindings.expiration ({} s) must be between bindings.shortest ({} s) and bindings.longest ({} s)",
            expiration.as_secs(),
            shortest.as_secs(),
            longest.as_secs()
        );
        ensure!(
            !time.is_zero() && *time <= LONGEST_TIME && *time < requests,
            "bindings.time must be more than nothing, at most {} s, and less than requests.time",
            LONGEST_TIME.as_secs()
        );
        ensure!(
            operators.is_none_or(|operators| operators >= 2 * SHORTEST),
            "bindings.operators must be at least {} s",
            2 * SHORTEST.as_secs()
        );
        for name in plans {
            match catalog.plan_named(name) {
                None => bail!("bindings.plans: there is no plan \"{name}\""),
                Some(plan) if plan.kind() == Kind::OwnCluster => bail!(
                    "bindings.plans: instances of \"{name}\" cannot be bound, their clusters are not made here"
                ),
                Some(_) => {}
            }
        }
        Ok((*enabled == Some(true) && !plans.is_empty()).then(|| BindingOffer {
            plans: plans.clone(),
            usual: *expiration,
            shortest: *shortest,
            longest: *longest,
            most: most.get(),
        }))
    }

    /// The origins whose pages may read the kubeconfig with which people log in.
    pub(crate) fn origins(&self) -> anyhow::Result<Origins> {
        let origins = self.kubeconfig_origins.iter().map(|text| text.parse::<Origin>());
        let origins: Result<Vec<_>, _> = origins.collect();
        Ok(origins.context("bindings.kubeconfig_origins")?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings;

    fn offer(text: &str) -> Result<Option<BindingOffer>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("broker.toml");
        std::fs::write(&file, format!("[bindings]\n{text}\n")).unwrap();
        let settings = settings::load(Some(&file)).unwrap();
        let catalog = Catalog::embedded().unwrap();
        let offer = settings.bindings.offer(&catalog, settings.requests.time);
        offer.map_err(|error| error.to_string())
    }

    #[test]
    fn bindings_are_off_until_they_are_enabled_and_have_the_known_bounds() {
        assert_eq!(offer(""), Ok(None));
        assert_eq!(offer("enabled = true"), Ok(Some(BindingOffer::default())));
        assert_eq!(offer("enabled = true\nplans = []"), Ok(None));
    }

    #[test]
    fn an_origin_with_a_path_is_refused_by_name() {
        let mut settings = settings::load(None).unwrap().bindings;
        settings.kubeconfig_origins = vec!["https://dashboard.example.com/app".into()];

        let refused = format!("{:#}", settings.origins().unwrap_err());

        assert!(refused.starts_with("bindings.kubeconfig_origins: \"https://dash"), "{refused}");
    }

    #[test]
    fn bounds_that_cannot_be_kept_are_refused_by_name() {
        for (text, problem) in [
            ("shortest = \"5m\"", "bindings.shortest is 300 s"),
            ("longest = \"9m\"", "bindings.expiration (600 s) must be between"),
            ("expiration = \"3h\"", "bindings.expiration (10800 s) must be between"),
            ("time = \"46s\"", "bindings.time must be"),
            ("operators = \"19m\"", "bindings.operators must be at least 1200 s"),
            ("plans = [\"moon\"]", "there is no plan \"moon\""),
            ("plans = [\"own_cluster\"]", "instances of \"own_cluster\" cannot be bound"),
        ] {
            let refused = offer(text).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
        }
    }
}
