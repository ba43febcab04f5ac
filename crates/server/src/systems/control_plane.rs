//! The cluster that the control plane runs in.

use std::path::PathBuf;

use clients::{CallLimits, Component, kubernetes::Cluster};
use confique::Config;
use futures::TryFutureExt as _;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Cluster;

pub(super) const ABOUT: About = About {
    name: Component::CONTROL_PLANE.0,
    purpose: "is the cluster that the control plane runs in: ConfigMaps and Secrets with overrides, versions of Kyma, templates of the Kyma resource, and the policy of maintenance windows",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Its kubeconfig: a file.
        #[config(env = "KCP_BROKER_CONTROL_PLANE_KUBECONFIG")]
        kubeconfig: PathBuf,
    }
}

pub(super) async fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { kubeconfig } = section;
    let path = opening.required("kubeconfig", kubeconfig.as_ref())?;
    opening.cluster(Component::CONTROL_PLANE, CallLimits::CLUSTER, &path).await
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.version().map_ok(drop))]
}
