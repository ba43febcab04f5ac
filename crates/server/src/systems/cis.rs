//! The central services for accounts.

use std::num::NonZeroU16;

use clients::cis::{self, COMPONENT};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::{Section as _, section},
};

/// The default of the setting `page_size`.
const PAGE: u16 = 150;

pub(super) const ABOUT: About = About {
    name: COMPONENT.0,
    purpose: "tells which subaccounts were deleted or changed, what they are, and how many instances they may have",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

/// Clients of those services that are configured.
#[derive(Debug)]
pub struct Client {
    /// Events of subaccounts.
    pub events: Option<cis::Events>,
    /// The service that describes subaccounts.
    pub accounts: Option<cis::Accounts>,
    /// How many instances subaccounts may have.
    pub entitlements: Option<cis::Entitlements>,
}

/// A section for each service.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct Section {
    /// Events of subaccounts.
    #[config(nested)]
    pub events: Events,
    /// The service that describes subaccounts.
    #[config(nested)]
    pub accounts: Accounts,
    /// How many instances subaccounts may have.
    #[config(nested)]
    pub entitlements: Entitlements,
}

section! {
    Events {
        /// The address of the service.
        #[config(env = "KCP_BROKER_CIS_EVENTS_URL")]
        url: Url,
        /// The whole address of its token endpoint.
        #[config(env = "KCP_BROKER_CIS_EVENTS_AUTH_URL")]
        auth_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_CIS_EVENTS_CLIENT_ID")]
        client_id: String,
        /// Client secret.
        #[config(env = "KCP_BROKER_CIS_EVENTS_CLIENT_SECRET")]
        client_secret: SecretString,
        /// How many events a page has. Default: 150.
        #[config(env = "KCP_BROKER_CIS_EVENTS_PAGE_SIZE")]
        page_size: NonZeroU16,
    }
}

section! {
    Accounts {
        /// The address of the service.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_URL")]
        url: Url,
        /// The whole address of its token endpoint.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_AUTH_URL")]
        auth_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_CLIENT_ID")]
        client_id: String,
        /// Client secret.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_CLIENT_SECRET")]
        client_secret: SecretString,
    }
}

section! {
    Entitlements {
        /// The address of the service.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_URL")]
        url: Url,
        /// The whole address of its token endpoint.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_AUTH_URL")]
        auth_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_CLIENT_ID")]
        client_id: String,
        /// Client secret.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_CLIENT_SECRET")]
        client_secret: SecretString,
    }
}

impl super::section::Section for Section {
    fn is_given(&self) -> bool {
        let Self { events, accounts, entitlements } = self;
        events.is_given() || accounts.is_given() || entitlements.is_given()
    }

    fn addresses(&self) -> Vec<(String, &Url)> {
        let Self { events, accounts, entitlements } = self;
        let all = [
            ("events", events.addresses()),
            ("accounts", accounts.addresses()),
            ("entitlements", entitlements.addresses()),
        ];
        let named = |(service, urls): (&'static str, Vec<(String, _)>)| {
            urls.into_iter().map(move |(key, url)| (format!("{service}.{key}"), url))
        };
        all.into_iter().flat_map(named).collect()
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { events, accounts, entitlements } = section;
    let events = {
        let Events { url, auth_url, client_id, client_secret, page_size } = events;
        let page = page_size.map_or(PAGE, NonZeroU16::get);
        let values = (url, auth_url, client_id, client_secret);
        settings(&opening.of("cis.events"), events.is_given(), values, page)?
    };
    let accounts = {
        let Accounts { url, auth_url, client_id, client_secret } = accounts;
        let values = (url, auth_url, client_id, client_secret);
        settings(&opening.of("cis.accounts"), accounts.is_given(), values, PAGE)?
    };
    let entitlements = {
        let Entitlements { url, auth_url, client_id, client_secret } = entitlements;
        let (values, given) = ((url, auth_url, client_id, client_secret), entitlements.is_given());
        settings(&opening.of("cis.entitlements"), given, values, PAGE)?
    };
    let gate = || opening.gate(COMPONENT);
    Ok(Client {
        events: events
            .map(|settings| cis::Events::through(gate(), opening.tokens(), &settings))
            .transpose()?,
        accounts: accounts
            .map(|settings| cis::Accounts::through(gate(), opening.tokens(), &settings))
            .transpose()?,
        entitlements: entitlements
            .map(|settings| cis::Entitlements::through(gate(), opening.tokens(), &settings))
            .transpose()?,
    })
}

type Values<'a> = (&'a Option<Url>, &'a Option<Url>, &'a Option<String>, &'a Option<SecretString>);

fn settings(
    opening: &ClientBuilder<'_>,
    is_given: bool,
    (url, auth_url, client_id, client_secret): Values<'_>,
    page_size: u16,
) -> anyhow::Result<Option<cis::Settings>> {
    if !is_given {
        return Ok(None);
    }
    Ok(Some(cis::Settings {
        url: opening.required("url", url.as_ref())?,
        token_url: opening.required("auth_url", auth_url.as_ref())?,
        client_id: opening.required("client_id", client_id.as_ref())?,
        client_secret: opening.required("client_secret", client_secret.as_ref())?,
        page_size,
    }))
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    let Client { events, accounts, entitlements } = client;
    let events = events.as_ref().map(|client| Check::of("cis events", client.check()));
    let accounts = accounts.as_ref().map(|client| Check::of("cis accounts", client.check()));
    let entitlements =
        entitlements.as_ref().map(|client| Check::of("cis entitlements", client.check()));
    [events, accounts, entitlements].into_iter().flatten().collect()
}
