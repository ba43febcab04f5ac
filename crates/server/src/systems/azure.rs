//! Azure. Its clients are made with the credentials of the pool.

use clients::azure::{COMPONENT, Cloud};
use confique::Config;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Cloud;

pub(super) const ABOUT: About = About {
    name: COMPONENT.0,
    purpose: "keeps the event hubs of early runtimes, tells which zones have a machine type, and is emptied before a subscription returns to the pool; credentials come from the pool's Secret",
    usage: Usage::Steps,
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Where tokens are issued, instead of the public cloud.
        #[config(env = "KCP_BROKER_AZURE_AUTHORITY")]
        authority: Url,
        /// The resource manager, instead of the public cloud's.
        #[config(env = "KCP_BROKER_AZURE_MANAGEMENT")]
        management: Url,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "systems are all opened alike")]
pub(super) fn open(section: &Section, _: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { authority, management } = section;
    let public = Cloud::public();
    Ok(Cloud {
        authority: authority.clone().unwrap_or(public.authority),
        management: management.clone().unwrap_or(public.management),
    })
}

/// The credentials are in the pool: whether the addresses answer is all that can be checked.
pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![
        Check::answers(ABOUT.name, COMPONENT, &client.management),
        Check::answers("azure tokens", COMPONENT, &client.authority),
    ]
}
