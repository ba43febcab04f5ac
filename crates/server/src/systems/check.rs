//! Whether the systems can be reached and know us: `kcp check`.
//!
//! What a reader would get wrong: a check changes nothing anywhere. It asks for things that nobody has, and takes it
//! for a good answer that they are not there.

use std::collections::BTreeSet;

use base::{Clock, PlaintextHosts};
use clients::{Component, Error, Http, Kind, gardener::Gardener, kubernetes::Cluster};
use futures::future::{BoxFuture, FutureExt, join_all};
use url::Url;

use super::Systems;
use crate::{
    gates::Gates, patience::Patience, provisioner::Outside,
    settings::provisioner::ProvisionerSettings,
};

/// A tenant for questions that need one.
const TENANT: &str = "kcp-check";

/// What became of one system's check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The system.
    pub system: &'static str,
    /// What is wrong, in plain words; nothing if it was reached and knows us.
    pub wrong: Option<String>,
    /// What was found out about it, in plain words.
    pub found: Option<String>,
}

type Asked<'a> = (&'static str, BoxFuture<'a, Result<Option<String>, Error>>);

impl Systems {
    /// Asks all systems at once, and the provisioner besides whether a broker of that patience waits long enough for it. Those
    /// that its plans do not call are told.
    pub async fn check_for(&self, patience: Patience, called: &BTreeSet<String>) -> Vec<Checked> {
        let mut checked = self.check().await;
        for one in &mut checked {
            if one.wrong.is_none() && !is_called(one.system, called) {
                one.found.get_or_insert_with(|| "no plan calls it with these settings".into());
            }
        }
        if let Some(provisioner) = &self.provisioner
            && let Ok(Err(too_short)) = patience.ask(provisioner).await
        {
            let wrong = Some(too_short.to_string());
            checked.push(Checked { system: "limits", wrong, found: None });
        }
        checked
    }

    /// Asks all systems at once.
    pub async fn check(&self) -> Vec<Checked> {
        let mut asked: Vec<Asked<'_>> = Vec::new();
        macro_rules! ask {
            ($($name:literal: $client:expr,)*) => {
                $(if let Some(client) = &$client {
                    asked.push(($name, plain(client.check()).boxed()));
                })*
            };
        }
        if let Some(garden) = &self.gardener {
            asked.push(("gardener", gardener(garden).boxed()));
        }
        if let Some(cluster) = &self.control_plane {
            asked.push(("control plane", plain(version(cluster)).boxed()));
        }
        ask! {
            "lifecycle manager": self.lifecycle_manager,
            "provisioner": self.provisioner,
        }
        if let Some(director) = &self.director {
            asked.push(("director", plain(director.check(TENANT)).boxed()));
        }
        ask! {
            "reconciler": self.reconciler,
            "avs": self.avs,
            "edp": self.edp,
            "ias": self.ias,
        }
        if let Some(logging) = &self.lms {
            asked.push(("lms", plain(logging.client.check()).boxed()));
        }
        ask! {
            "spc": self.spc,
            "cis events": self.events,
            "cis accounts": self.accounts,
            "cis entitlements": self.entitlements,
        }
        if let Some(releases) = &self.releases {
            let component = Component::RELEASES;
            asked.push(("kyma releases", answers(component, releases.released.clone()).boxed()));
            let development = releases.development.clone();
            asked.push(("kyma development", answers(component, development).boxed()));
        }
        // Their credentials are in the pool: that somebody answers is all that can be found out.
        if let Some(endpoint) = self.aws.as_ref().and_then(|aws| aws.endpoint.clone()) {
            asked.push(("aws", answers(clients::aws::COMPONENT, endpoint).boxed()));
        }
        if let Some(cloud) = &self.azure {
            let component = clients::azure::COMPONENT;
            asked.push(("azure", answers(component, cloud.management.clone()).boxed()));
            asked.push(("azure tokens", answers(component, cloud.authority.clone()).boxed()));
        }
        judged(asked).await
    }
}

/// Whether plans call what is checked under a name. Overrides are read from the control plane whatever the plan.
fn is_called(checked: &str, called: &BTreeSet<String>) -> bool {
    match checked {
        "control plane" => true,
        "kyma development" => called.contains("kyma releases"),
        "azure tokens" => called.contains("azure"),
        other if other.starts_with("cis ") => called.contains("cis"),
        other => called.contains(other),
    }
}

/// Asks all systems that the provisioner reaches.
pub async fn provisioner(settings: &ProvisionerSettings) -> anyhow::Result<Vec<Checked>> {
    let gates = Gates::unobserved(&Clock::running(), settings.transport.hosts());
    let outside = Outside::configured(settings).await?;
    let reached = outside.reach(settings, &gates).await?;
    let (gardener, director): (Gardener, _) = (reached.gardener, reached.director);
    let (released, development) = reached.releases;
    let asked: Vec<Asked<'_>> = vec![
        ("gardener", self::gardener(&gardener).boxed()),
        ("director", plain(director.check(TENANT)).boxed()),
        ("kyma releases", answers(Component::RELEASES, released).boxed()),
        ("kyma development", answers(Component::RELEASES, development).boxed()),
    ];
    Ok(judged(asked).await)
}

async fn version(cluster: &Cluster) -> Result<(), Error> {
    cluster.version().await.map(drop)
}

/// A check that finds out nothing but whether the system is there.
async fn plain(check: impl Future<Output = Result<(), Error>>) -> Result<Option<String>, Error> {
    check.await.map(|()| None)
}

/// Checks the garden, and tells which Gardener it has and how Shoots are written for it.
async fn gardener(garden: &Gardener) -> Result<Option<String>, Error> {
    garden.check().await?;
    Ok(Some(super::garden::described(&*garden.features().await?)))
}

/// Whether anybody answers, whatever they say.
async fn answers(component: Component, url: Url) -> Result<Option<String>, Error> {
    let gates = Gates::unobserved(&Clock::running(), PlaintextHosts::default());
    let http = Http::through(gates.gate(component), url)?;
    match http.send("asking whether anybody answers", http.get("")).await {
        Err(error) if matches!(error.kind, Kind::Unavailable | Kind::Throttled { .. }) => {
            Err(error)
        }
        _ => Ok(None),
    }
}

async fn judged(asked: Vec<Asked<'_>>) -> Vec<Checked> {
    let judge = async |(system, asking): Asked<'_>| match asking.await {
        Ok(found) => Checked { system, wrong: None, found },
        Err(error) => Checked { system, wrong: Some(words(&error)), found: None },
    };
    join_all(asked.into_iter().map(judge)).await
}

/// What is wrong, in plain words.
fn words(error: &Error) -> String {
    let whole = base::failure::chain(error);
    let tokens = error.component == Component::ISSUER;
    let who = if tokens { "the issuer of its tokens" } else { "it" };
    let plain = match error.kind {
        Kind::Unauthorized if tokens => {
            "the issuer of its tokens does not know our client, or not with this secret".to_owned()
        }
        Kind::Unauthorized => "it does not accept our credentials".to_owned(),
        Kind::NotFound => "it does not have what the settings name".to_owned(),
        Kind::Refused { status: 404 } => format!("{who} is not at this address"),
        Kind::Malformed => format!("{who} answers, but not like the system it should be"),
        Kind::Unavailable | Kind::AnswerLost => format!("{who} {}", unreached(&whole)),
        kind => format!("{who} {kind}"),
    };
    format!("{plain} ({whole})")
}

/// Why nobody answered. There is nothing but text to tell by: the libraries below keep their errors to themselves.
fn unreached(whole: &str) -> &'static str {
    let whole = whole.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| whole.contains(word));
    if says(&["dns error", "failed to lookup"]) {
        "has a name that cannot be found"
    } else if says(&["connection refused"]) {
        "has nobody who listens at its address"
    } else if says(&["certificate", "tls", "handshake", "invalidcontenttype"]) {
        "shows a certificate that is not accepted, or does not speak TLS"
    } else if says(&["timed out", "timeout", "deadline"]) {
        "does not answer in time"
    } else {
        "is not well, or cannot be reached"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_in_plain_words() {
        let of = |component, kind, said: &str| {
            words(&Error::new(component, kind, "asking").saying(said))
        };
        let edp = Component("edp");
        let table = [
            (of(edp, Kind::Unavailable, "dns error: no such host"), "name that cannot be found"),
            (of(edp, Kind::Unavailable, "Connection refused"), "nobody who listens"),
            (of(edp, Kind::Unavailable, "invalid peer certificate"), "certificate"),
            (of(edp, Kind::Unauthorized, ""), "does not accept our credentials"),
            (of(Component::ISSUER, Kind::Unauthorized, ""), "does not know our client"),
            (of(edp, Kind::Refused { status: 404 }, ""), "not at this address"),
        ];

        for (said, wanted) in table {
            assert!(said.contains(wanted), "{said}");
        }
    }
}
