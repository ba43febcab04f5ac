//! The Reconciler.

use clients::reconciler::{self, Reconciler};
use confique::Config;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Reconciler;

pub(super) const ABOUT: About = About {
    name: reconciler::COMPONENT.0,
    purpose: "installs Kyma in a runtime and keeps it as configured",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Its address inside the control plane.
        #[config(env = "KCP_BROKER_RECONCILER_URL")]
        url: Url,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { url } = section;
    let url = opening.required("url", url.as_ref())?;
    let settings = reconciler::Settings { url };
    Ok(Reconciler::through(opening.gate(reconciler::COMPONENT), &settings)?)
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}
