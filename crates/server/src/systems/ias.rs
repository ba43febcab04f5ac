//! The identity authentication service.

use clients::ias::{self, Ias};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Ias;

pub(super) const ABOUT: About = About {
    name: ias::COMPONENT.0,
    purpose: "lets people log in to the tools of a runtime",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Its address.
        #[config(env = "KCP_BROKER_IAS_URL")]
        url: Url,
        /// The technical user.
        #[config(env = "KCP_BROKER_IAS_USER_ID")]
        user_id: String,
        /// The technical user's secret.
        #[config(env = "KCP_BROKER_IAS_USER_SECRET")]
        user_secret: SecretString,
        /// The identity provider that people come from, by name.
        #[config(env = "KCP_BROKER_IAS_IDENTITY_PROVIDER")]
        identity_provider: String,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { url, user_id, user_secret, identity_provider } = section;
    let settings = ias::Settings {
        url: opening.required("url", url.as_ref())?,
        user: opening.required("user_id", user_id.as_ref())?,
        secret: opening.required("user_secret", user_secret.as_ref())?,
        identity_provider: opening.required("identity_provider", identity_provider.as_ref())?,
    };
    Ok(Ias::new(settings, opening.gate(ias::COMPONENT))?)
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}
