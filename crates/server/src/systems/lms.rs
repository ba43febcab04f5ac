//! The logging service.

use anyhow::Context;
use clients::lms::{self, EnabledFor, Lms};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

/// The client, and which instances use it.
#[derive(Debug)]
pub struct Client {
    /// The client.
    pub client: Lms,
    /// Which global accounts get a tenant.
    pub enabled: EnabledFor,
    /// Whether provisioning fails without it.
    pub mandatory: bool,
}

pub(super) const ABOUT: About = About {
    name: lms::COMPONENT.0,
    purpose: "keeps the logs of runtimes",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Its address.
        #[config(env = "KCP_BROKER_LMS_URL")]
        url: Url,
        /// The token it asks for.
        #[config(env = "KCP_BROKER_LMS_TOKEN")]
        token: SecretString,
        /// How large tenants are: `ha` or `single-node`. Default: `single-node`.
        #[config(env = "KCP_BROKER_LMS_CLUSTER_TYPE")]
        cluster_type: String,
        /// The environment of our tenants.
        #[config(env = "KCP_BROKER_LMS_ENVIRONMENT")]
        environment: String,
        /// The tenant that people come from.
        #[config(env = "KCP_BROKER_LMS_SAML_TENANT")]
        saml_tenant: String,
        /// The region of all tenants, instead of the runtime's.
        #[config(env = "KCP_BROKER_LMS_REGION")]
        region: String,
        /// Whether provisioning fails without it. Default: false.
        #[config(env = "KCP_BROKER_LMS_MANDATORY")]
        mandatory: bool,
        /// `all`, `none`, or a list of global accounts with commas between them. Default: `none`.
        #[config(env = "KCP_BROKER_LMS_ENABLED_FOR_GLOBAL_ACCOUNTS")]
        enabled_for_global_accounts: String,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section {
        url,
        token,
        cluster_type,
        environment,
        saml_tenant,
        region,
        mandatory,
        enabled_for_global_accounts,
    } = section;
    let size = cluster_type.as_deref().unwrap_or("single-node");
    let settings = lms::Settings {
        url: opening.required("url", url.as_ref())?,
        token: opening.required("token", token.as_ref())?,
        cluster_type: size.parse().context("systems.lms.cluster_type")?,
        environment: opening.required("environment", environment.as_ref())?,
        saml_tenant: opening.required("saml_tenant", saml_tenant.as_ref())?,
        region: region.clone(),
    };
    let enabled = enabled_for_global_accounts.as_deref().unwrap_or_default();
    Ok(Client {
        client: Lms::new(settings, opening.gate(lms::COMPONENT))?,
        enabled: EnabledFor::parse(enabled),
        mandatory: mandatory.unwrap_or_default(),
    })
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.client.check())]
}
