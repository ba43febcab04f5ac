//! Amazon. Its clients are made with the credentials of the pool.

use clients::aws::{COMPONENT, Market};
use confique::Config;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

/// Where Amazon is.
#[derive(Debug)]
pub struct Client {
    /// The one address of all regions; Amazon's own if there is none.
    pub endpoint: Option<Url>,
    /// Which regions.
    pub market: Market,
}

pub(super) const ABOUT: About = About {
    name: COMPONENT.0,
    purpose: "tells which zones have a machine type, and is emptied of volumes before an account returns to the pool; credentials come from the pool's Secret",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// The one address of all regions, instead of Amazon's own.
        #[config(env = "KCP_BROKER_AWS_ENDPOINT")]
        endpoint: Url,
        /// Which regions are emptied: `global`, `chinese` or `ns2`. Default: `global`.
        #[config(env = "KCP_BROKER_AWS_MARKET")]
        market: String,
    }
}

pub(super) fn open(section: &Section, _: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { endpoint, market } = section;
    let market = match market.as_deref() {
        None | Some("global") => Market::Global,
        Some("chinese") => Market::Chinese,
        Some("ns2") => Market::Ns2,
        Some(other) => {
            anyhow::bail!("systems.aws.market: \"{other}\" is none of global, chinese and ns2")
        }
    };
    Ok(Client { endpoint: endpoint.clone(), market })
}

/// The credentials are in the pool: whether the address answers is all that can be checked.
pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    let endpoint = client.endpoint.as_ref();
    endpoint.map(|url| Check::answers(ABOUT.name, COMPONENT, url)).into_iter().collect()
}
