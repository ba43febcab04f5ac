//! Systems without a section of their own.

use clients::Component;
use confique::Config;

use super::about::{About, Setting, Usage};
use crate::settings::{AccessSettings, provisioner};

pub(super) const ISSUER: About = About {
    name: Component::ISSUER.0,
    purpose: "gives tokens: to us for systems that ask for one, and to everybody who calls us",
    usage: Usage::Described {
        called: "a client fetches a token before its first call, renews it before it runs out, and keeps it meanwhile; each system \
             with a token endpoint names it in its own settings",
        when_down: "calls that need a new token fail for now and are tried again, those with a kept one go on; callers are \
                checked with the issuer's keys that are known already",
    },
    settings: &[
        Setting::Values(&AccessSettings::META, &["issuers", "audience"]),
        Setting::Values(&provisioner::Access::META, &["issuers", "audience"]),
    ],
};

pub(super) const RUNTIME: About = About {
    name: Component::RUNTIME.0,
    purpose: "is a cluster that was made; what customers use lives in it",
    usage: Usage::StepsAndMore {
        called: "`runtimeConnectionStatus` reads the state of the agent",
        when_down: "each runtime has a gate of its own, so a broken one delays no other",
    },
    settings: &[Setting::Values(
        &provisioner::Runtimes::META,
        &["kept_clients", "kubeconfig_lifetime"],
    )],
};

pub(super) const BTP_OPERATOR: About = About {
    name: "btp operator",
    purpose: "connects a runtime with the Service Manager; it runs in the runtime, and we give it credentials",
    usage: Usage::Steps,
    settings: &[],
};
