//! Whether the systems can be reached and know us: `kcp check`.
//!
//! What a reader would get wrong: a check changes nothing anywhere. It asks for things that nobody has, and takes it
//! for a good answer that they are not there.

use std::collections::BTreeSet;

use base::{Clock, PlaintextHosts};
use clients::{Component, Error, Http, Kind};
use futures::{
    FutureExt as _, TryFutureExt as _,
    future::{BoxFuture, join_all},
};
use url::Url;

use super::{About, SystemClients, Usage, director, gardener, releases};
use crate::{
    gates::Gates, patience::Patience, provisioner::ProvisionerAddresses,
    settings::provisioner::ProvisionerSettings,
};

/// The outcome of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// The system.
    pub system: &'static str,
    /// The problem, in plain words; none if it was reached and accepted our credentials.
    pub wrong: Option<String>,
    /// The finding about it, in plain words.
    pub found: Option<String>,
}

/// A question to one system.
pub(super) struct Check<'a> {
    system: &'static str,
    call: BoxFuture<'a, Result<Option<String>, Error>>,
}

impl<'a> Check<'a> {
    /// A check that tells only whether the system is there.
    pub(super) fn of(
        system: &'static str,
        call: impl Future<Output = Result<(), Error>> + Send + 'a,
    ) -> Self {
        Self::finding(system, call.map_ok(|()| None))
    }

    /// A check that tells something about the system.
    pub(super) fn finding(
        system: &'static str,
        call: impl Future<Output = Result<Option<String>, Error>> + Send + 'a,
    ) -> Self {
        Self { system, call: call.boxed() }
    }

    /// Whether an address answers, with any status.
    pub(super) fn answers(system: &'static str, component: Component, url: &Url) -> Self {
        Self::of(system, answers(component, url.clone()))
    }

    async fn result(self) -> CheckResult {
        let Self { system, call } = self;
        match call.await {
            Ok(found) => CheckResult { system, wrong: None, found },
            Err(error) => CheckResult { system, wrong: Some(words(&error)), found: None },
        }
    }
}

impl SystemClients {
    /// Checks all systems at once, and whether a broker of that patience waits long enough for the provisioner. Those
    /// that its plans do not call are named.
    pub async fn check_for(
        &self,
        patience: Patience,
        called: &BTreeSet<String>,
    ) -> Vec<CheckResult> {
        let checks = self.checks().into_iter().map(async |(about, check)| {
            let mut result = check.result().await;
            if result.wrong.is_none() && !is_called(&about, called) {
                result.found.get_or_insert_with(|| "no plan calls it with these settings".into());
            }
            result
        });
        let mut results = join_all(checks).await;
        if let Some(provisioner) = &self.provisioner
            && let Ok(Err(too_short)) = patience.ask(provisioner).await
        {
            let wrong = Some(too_short.to_string());
            results.push(CheckResult { system: "limits", wrong, found: None });
        }
        results
    }
}

fn is_called(about: &About, called: &BTreeSet<String>) -> bool {
    matches!(about.usage, Usage::Described { .. }) || called.contains(about.name)
}

/// Checks all systems that the provisioner calls.
pub async fn provisioner(settings: &ProvisionerSettings) -> anyhow::Result<Vec<CheckResult>> {
    let gates = Gates::unobserved(&Clock::running(), settings.transport.hosts());
    let outside = ProvisionerAddresses::configured(settings).await?;
    let reached = outside.reach(settings, &gates).await?;
    let (released, development) = reached.releases;
    let releases = releases::Client { released, development };
    let mut checks = gardener::checks_of_provisioner(&reached.gardener);
    checks.extend(director::checks(&reached.director));
    checks.extend(releases::checks(&releases));
    Ok(join_all(checks.into_iter().map(Check::result)).await)
}

async fn answers(component: Component, url: Url) -> Result<(), Error> {
    let gates = Gates::unobserved(&Clock::running(), PlaintextHosts::default());
    let http = Http::through(gates.gate(component), url)?;
    match http.send("checking whether it answers", http.get("")).await {
        Err(error) if matches!(error.kind, Kind::Unavailable | Kind::Throttled { .. }) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// The problem, in plain words.
fn words(error: &Error) -> String {
    let whole = base::failure::chain(error);
    let tokens = error.component == Component::ISSUER;
    let who = if tokens { "token issuer: " } else { "" };
    let plain = match error.kind {
        Kind::Unauthorized if tokens => {
            "token issuer: client id or client secret not accepted".to_owned()
        }
        Kind::Unauthorized => "credentials not accepted".to_owned(),
        Kind::NotFound => "an object that the settings name was not found".to_owned(),
        Kind::Refused { status: 404 } => format!("{who}address does not serve this system (404)"),
        Kind::Malformed => format!("{who}invalid response, probably another system"),
        Kind::Unavailable | Kind::AnswerLost => format!("{who}{}", unreached(&whole)),
        kind => format!("{who}{kind}"),
    };
    format!("{plain} ({whole})")
}

/// Why there was no answer. Only the text tells: the libraries below keep their error types private.
fn unreached(whole: &str) -> &'static str {
    let whole = whole.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| whole.contains(word));
    if says(&["dns error", "failed to lookup"]) {
        "host name not found"
    } else if says(&["connection refused"]) {
        "connection refused"
    } else if says(&["certificate", "tls", "handshake", "invalidcontenttype"]) {
        "certificate not accepted, or no TLS"
    } else if says(&["timed out", "timeout", "deadline"]) {
        "no response in time"
    } else {
        "unavailable"
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
            (of(edp, Kind::Unavailable, "dns error: no such host"), "host name not found"),
            (of(edp, Kind::Unavailable, "Connection refused"), "connection refused ("),
            (of(edp, Kind::Unavailable, "invalid peer certificate"), "certificate"),
            (of(edp, Kind::Unauthorized, ""), "credentials not accepted"),
            (of(Component::ISSUER, Kind::Unauthorized, ""), "client id or client secret"),
            (of(edp, Kind::Refused { status: 404 }, ""), "address does not serve"),
        ];

        for (said, wanted) in table {
            assert!(said.contains(wanted), "{said}");
        }
    }
}
