//! The Lifecycle Manager, which works in the control plane's cluster.

use anyhow::Context;
use clients::lifecycle_manager::{LifecycleManager, Version};
use confique::Config;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

/// The default of the setting `namespace`.
const NAMESPACE: &str = "kcp-system";

pub(super) type Client = LifecycleManager;

pub(super) const ABOUT: About = About {
    name: "lifecycle manager",
    purpose: "installs the modules of a runtime and keeps them as its Kyma resource in the control plane's cluster says",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Where kubeconfigs are. Default: `kcp-system`.
        #[config(env = "KCP_BROKER_LIFECYCLE_MANAGER_NAMESPACE")]
        namespace: String,
        /// The version of the Kyma resource: `v1alpha1`, `v1beta1`, or `v1beta2`. Default: `v1beta2`.
        #[config(env = "KCP_BROKER_LIFECYCLE_MANAGER_KYMA_VERSION")]
        kyma_version: String,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { namespace, kyma_version } = section;
    let cluster = opening.opened.control_plane.as_ref();
    let cluster = opening.of("control_plane").required("kubeconfig", cluster)?;
    let version = kyma_version.as_deref().map(str::parse).transpose();
    let version: Option<Version> = version.context("systems.lifecycle_manager.kyma_version")?;
    let namespace = namespace.as_deref().unwrap_or(NAMESPACE);
    Ok(LifecycleManager::new(cluster, namespace, version.unwrap_or_default()))
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}
