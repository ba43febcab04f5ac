//! Releases of Kyma.

use clients::Component;
use confique::Config;
use url::Url;

use crate::settings::provisioner;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

/// Where releases of Kyma are.
#[derive(Debug, Clone)]
pub struct Client {
    /// Base URL of the releases.
    pub released: Url,
    /// Base URL of versions that are not released yet.
    pub development: Url,
}

pub(super) const ABOUT: About = About {
    name: Component::RELEASES.0,
    purpose: "has the installer and the list of components of every version of Kyma",
    usage: Usage::Steps,
    settings: &[
        Setting::Values(&provisioner::Kyma::META, &["releases", "development"]),
        Setting::Section(&Section::META),
    ],
};

section! {
    Section {
        /// Base URL of the releases.
        #[config(env = "KCP_BROKER_RELEASES_URL")]
        url: Url,
        /// Base URL of versions that are not released yet. Default: the same as `url`.
        #[config(env = "KCP_BROKER_RELEASES_DEVELOPMENT_URL")]
        development_url: Url,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { url, development_url } = section;
    let released = opening.required("url", url.as_ref())?;
    let development = development_url.clone().unwrap_or_else(|| released.clone());
    Ok(Client { released, development })
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![
        Check::answers(ABOUT.name, Component::RELEASES, &client.released),
        Check::answers("kyma development", Component::RELEASES, &client.development),
    ]
}
