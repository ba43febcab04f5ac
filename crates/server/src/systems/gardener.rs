//! Gardener.

use std::{num::NonZeroU16, path::PathBuf};

use clients::{
    CallLimits, Component, Error,
    gardener::{Field, Gardener},
};
use confique::Config;

use super::garden;
use crate::settings::provisioner;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

/// The owner of our fields in the garden.
const OWNER: &str = "kcp-broker";

pub(super) type Client = Gardener;

pub(super) const ABOUT: About = About {
    name: Component::GARDENER.0,
    purpose: "makes the clusters of runtimes, and keeps the pool of hyperscaler accounts",
    usage: Usage::StepsAndMore {
        called: "`runtimeStatus` fetches a kubeconfig, and Shoots are watched",
        when_down: "nothing is made twice, because a Shoot names its runtime and a claim is a label",
    },
    settings: &[
        Setting::Values(&provisioner::Gardener::META, &["kubeconfig", "project", "calls"]),
        Setting::Section(&Section::META),
    ],
};

section! {
    Section {
        /// The kubeconfig of the garden: a file.
        #[config(env = "KCP_BROKER_GARDENER_KUBECONFIG")]
        kubeconfig: PathBuf,
        /// The project whose accounts and Shoots are ours.
        #[config(env = "KCP_BROKER_GARDENER_PROJECT")]
        project: String,
        /// How many calls may be under way at once. Default: 32.
        #[config(env = "KCP_BROKER_GARDENER_CALLS")]
        calls: NonZeroU16,
    }
}

pub(super) async fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { kubeconfig, project, calls } = section;
    let path = opening.required("kubeconfig", kubeconfig.as_ref())?;
    let project = opening.required("project", project.as_ref())?;
    let at_once = calls.map_or(CallLimits::CLUSTER.at_once, |calls| calls.get().into());
    let limits = CallLimits { at_once, ..CallLimits::CLUSTER };
    let cluster = opening.cluster(Component::GARDENER, limits, &path).await?;
    Ok(Gardener::new(cluster, &project, OWNER))
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::finding(ABOUT.name, features(client))]
}

/// The checks of a provisioner, which also keeps issuers of users in `ConfigMap`s of the project.
pub(super) fn checks_of_provisioner(client: &Client) -> Vec<Check<'_>> {
    vec![Check::finding(ABOUT.name, features_and_config_maps(client))]
}

async fn features_and_config_maps(garden: &Gardener) -> Result<Option<String>, Error> {
    let found = features(garden).await?;
    let features = garden.features().await?;
    if !features.has(Field::StructuredAuthentication) {
        return Ok(found);
    }
    match garden.check_config_maps().await {
        Ok(()) => Ok(found.map(|found| format!("{found}; ConfigMaps in the project can be read"))),
        Err(error) => {
            let namespace = garden.namespace();
            let doing = format!("reading a ConfigMap in {namespace}, for structuredAuthentication");
            let doing = doing.into();
            Err(Error { doing, ..error })
        }
    }
}

/// Which Gardener it is, and how Shoots are written for it.
async fn features(garden: &Gardener) -> Result<Option<String>, Error> {
    garden.check().await?;
    Ok(Some(garden::described(&*garden.features().await?)))
}
