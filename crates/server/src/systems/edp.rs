//! The event data platform.

use clients::edp::{self, Edp};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Edp;

pub(super) const ABOUT: About = About {
    name: edp::COMPONENT.0,
    purpose: "knows which subaccounts have runtimes, and bills them",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Where tokens come from; `/oauth2/token` is added.
        #[config(env = "KCP_BROKER_EDP_AUTH_URL")]
        auth_url: Url,
        /// Where data tenants are made.
        #[config(env = "KCP_BROKER_EDP_ADMIN_URL")]
        admin_url: Url,
        /// The namespace of our data tenants, and part of our client id.
        #[config(env = "KCP_BROKER_EDP_NAMESPACE")]
        namespace: String,
        /// The secret of our client.
        #[config(env = "KCP_BROKER_EDP_SECRET")]
        secret: SecretString,
        /// The environment of our data tenants. Default: `prod`.
        #[config(env = "KCP_BROKER_EDP_ENVIRONMENT")]
        environment: String,
        /// Whether provisioning fails when the registration fails. Default: false.
        #[config(env = "KCP_BROKER_EDP_REQUIRED")]
        required: bool,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { auth_url, admin_url, namespace, secret, environment, required: _ } = section;
    let settings = edp::Settings {
        auth_url: opening.required("auth_url", auth_url.as_ref())?,
        admin_url: opening.required("admin_url", admin_url.as_ref())?,
        namespace: opening.required("namespace", namespace.as_ref())?,
        secret: opening.required("secret", secret.as_ref())?,
        environment: environment.clone().unwrap_or_else(|| "prod".into()),
    };
    Ok(Edp::new(settings, opening.gate(edp::COMPONENT), opening.tokens())?)
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}
