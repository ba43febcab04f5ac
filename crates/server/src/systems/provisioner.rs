//! The provisioner, as the broker reaches it.

use std::num::NonZeroU16;

use clients::{
    CallLimits,
    provisioner::{Access, COMPONENT, LIMITS, Provisioner, Settings},
};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Provisioner;

pub(super) const ABOUT: About = About {
    name: COMPONENT.0,
    purpose: "makes runtimes: a cluster from Gardener, an entry in the Director, and Kyma where it is asked for",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Its GraphQL endpoint.
        #[config(env = "KCP_BROKER_PROVISIONER_URL")]
        url: Url,
        /// Where tokens come from. Without it none are sent.
        #[config(env = "KCP_BROKER_PROVISIONER_TOKEN_URL")]
        token_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_PROVISIONER_CLIENT_ID")]
        client_id: String,
        /// Client secret.
        #[config(env = "KCP_BROKER_PROVISIONER_CLIENT_SECRET")]
        client_secret: SecretString,
        /// How many calls may be under way at once. Default: 32.
        #[config(env = "KCP_BROKER_PROVISIONER_CALLS")]
        calls: NonZeroU16,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { url, token_url, client_id, client_secret, calls } = section;
    let access = match token_url {
        Some(token_url) => Some(Access {
            token_url: token_url.clone(),
            client_id: opening.required("client_id", client_id.as_ref())?,
            client_secret: opening.required("client_secret", client_secret.as_ref())?,
        }),
        None if client_id.is_some() || client_secret.is_some() => {
            opening.required::<Url>("token_url", None)?;
            None
        }
        None => None,
    };
    let url = opening.required("url", url.as_ref())?;
    let at_once = calls.map_or(LIMITS.at_once, |calls| calls.get().into());
    let gate = opening.gates.limited(COMPONENT, CallLimits { at_once, ..LIMITS });
    Ok(Provisioner::through(gate, opening.tokens(), &Settings { url, access })?)
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}
