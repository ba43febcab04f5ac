//! SPC, which tells customers about maintenance.

use clients::spc::{self, Spc};
use confique::Config;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Spc;

pub(super) const ABOUT: About = About {
    name: spc::COMPONENT.0,
    purpose: "notifies customers of maintenance of their runtimes",
    usage: Usage::StepsAndMore {
        called: "after an upgrade has ended, well or not: the customer is notified that the maintenance is over, or that nothing was done; what an orchestration could not announce at its end",
        when_down: "the customer is notified later: it is tried again every 2 minutes for a day",
    },
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
        /// Where maintenance events are made.
        #[config(env = "KCP_BROKER_SPC_URL")]
        url: Url,
    }
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section { url } = section;
    let url = opening.required("url", url.as_ref())?;
    Ok(Spc::new(spc::Settings { url }, opening.gate(spc::COMPONENT))?)
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}
