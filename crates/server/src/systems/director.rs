//! The Director.

use clients::{Component, Grant, Http, TokenSource, director::Director};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use crate::settings::provisioner;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

/// The scopes of our tokens.
const SCOPE: &str = "runtime:read runtime:write";
/// The tenant that `kcp check` asks for; it has no runtimes.
const CHECKED_TENANT: &str = "kcp-check";

pub(super) type Client = Director;

pub(super) const ABOUT: About = About {
    name: Component::DIRECTOR.0,
    purpose: "is the registry of runtimes: each has an entry with labels, and a token to connect with",
    usage: Usage::StepsAndMore {
        called: "provisionRuntime registers the runtime before it answers, and the FAILED condition of a runtime is sent until it has arrived",
        when_down: "provisionRuntime answers with the error and leaves nothing behind; a registration whose answer was lost is found again by its label",
    },
    settings: &[Setting::Section(&provisioner::Director::META), Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Its GraphQL endpoint.
        #[config(env = "KCP_BROKER_DIRECTOR_URL")]
        url: Url,
        /// Where tokens come from.
        #[config(env = "KCP_BROKER_DIRECTOR_TOKEN_URL")]
        token_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_DIRECTOR_CLIENT_ID")]
        client_id: String,
        /// Client secret.
        #[config(env = "KCP_BROKER_DIRECTOR_CLIENT_SECRET")]
        client_secret: SecretString,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { url, token_url, client_id, client_secret } = section;
    let grant = Grant::ClientCredentials {
        id: opening.required("client_id", client_id.as_ref())?,
        secret: opening.required("client_secret", client_secret.as_ref())?,
        scope: SCOPE.into(),
    };
    let token_url = opening.required("token_url", token_url.as_ref())?;
    let url = opening.required("url", url.as_ref())?;
    let tokens = TokenSource::through(opening.tokens(), token_url, grant)?;
    let http = Http::through(opening.gate(Component::DIRECTOR), url)?.with_token(tokens);
    Ok(Director::new(http.renewing_refused_tokens()))
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check(CHECKED_TENANT))]
}
