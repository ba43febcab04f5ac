//! Accepted issuers, and peers that need no token, from the settings.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use anyhow::{Context, ensure};
use api::{Peer, TrustedIssuer, Verifier, auth::RESERVED_CLAIMS};
use base::{Clock, PlaintextHosts};
use clients::kubernetes::Network;
use url::Url;

use crate::settings::access::{Audience, IssuerSettings, PeerSettings};

/// Access to a service.
#[derive(Debug, Clone)]
pub(crate) struct Doors {
    /// Issuers whose tokens are accepted.
    pub(crate) issuers: Vec<IssuerSettings>,
    /// The audience of tokens, unless their issuer's table has one.
    pub(crate) audience: String,
    /// Peers that need no token.
    pub(crate) peers: Vec<PeerSettings>,
}

impl Doors {
    /// Checks tokens; the issuers' keys are found by discovery.
    pub(crate) fn verifier(
        self,
        plaintext: &PlaintextHosts,
        clock: &Clock,
    ) -> anyhow::Result<Arc<Verifier>> {
        self.check(plaintext)?;
        let Self { issuers, audience, peers } = self;
        let trusted = issuers.into_iter().map(|issuer| trusted(issuer, &audience, plaintext));
        let verifier = Verifier::new(trusted.collect(), clock.clone())?;
        let peers = peers.into_iter().map(peer).collect::<anyhow::Result<_>>()?;
        Ok(Arc::new(verifier.trusting(peers)))
    }

    /// Checks everything that a start would refuse.
    pub(crate) fn check(&self, plaintext: &PlaintextHosts) -> anyhow::Result<()> {
        let mut named = BTreeSet::new();
        for IssuerSettings { url, tenant_claim, .. } in &self.issuers {
            check_issuer(url, plaintext)?;
            ensure!(
                named.insert(url),
                "access.issuers: {url} is there twice; one table may have several audiences"
            );
            ensure!(
                !tenant_claim.is_empty() && !RESERVED_CLAIMS.contains(&tenant_claim.as_str()),
                "access.issuers: {url} cannot have the tenant in the claim \"{tenant_claim}\""
            );
        }
        for settings in &self.peers {
            let PeerSettings { name, addresses, certificates, scopes } = settings;
            peer(settings.clone())?;
            ensure!(!name.trim().is_empty(), "access.peers: a peer has no name");
            ensure!(
                !(addresses.is_empty() && certificates.is_empty()),
                "access.peers: {name} has neither addresses nor certificates, so anybody could be it"
            );
            ensure!(!scopes.0.is_empty(), "access.peers: {name} has no scopes");
        }
        Ok(())
    }

    /// Certificates that nobody has signed prove nothing.
    pub(crate) fn check_certificates(&self, authorities: Option<&Path>) -> anyhow::Result<()> {
        let named = self.peers.iter().find(|peer| !peer.certificates.is_empty());
        if let (Some(peer), None) = (named, authorities) {
            anyhow::bail!(
                "access.peers: {} has certificates, which transport.client_authorities must have signed",
                peer.name
            );
        }
        Ok(())
    }

    /// Whether there is no way to authenticate.
    pub(crate) fn is_empty(&self) -> bool {
        self.issuers.is_empty() && self.peers.is_empty()
    }

    /// Settings that are less strict than usual, in plain words.
    pub(crate) fn exceptions(&self) -> Vec<String> {
        let unchecked = self.issuers.iter().filter(|issuer| issuer.audience == Some(Audience::Any));
        let unchecked = unchecked
            .map(|issuer| format!("tokens of {} are accepted whatever their audience", issuer.url));
        let peers = self.peers.iter().map(|peer| {
            let PeerSettings { name, addresses, certificates, scopes } = peer;
            let one_of = |what: &str, all: &[String]| {
                (!all.is_empty()).then(|| format!(" {what} {}", all.join(" or ")))
            };
            let from = one_of("from", addresses).unwrap_or_default();
            let with = one_of("with a certificate of", certificates).unwrap_or_default();
            let scopes: Vec<&str> = scopes.0.iter().map(String::as_str).collect();
            format!("requests without a token{from}{with} count as {name}: {}", scopes.join(" "))
        });
        unchecked.chain(peers).collect()
    }
}

fn trusted(issuer: IssuerSettings, audience: &str, plaintext: &PlaintextHosts) -> TrustedIssuer {
    let IssuerSettings { url, audience: own, tenant_claim, any_tenant, groups } = issuer;
    TrustedIssuer {
        issuer: url,
        audiences: match own {
            None => Some(vec![audience.to_owned()]),
            Some(Audience::OneOf(several)) => Some(several),
            Some(Audience::Any) => None,
        },
        tenant_claim,
        any_tenant,
        groups: groups.into_iter().map(|(group, scopes)| (group, scopes.0)).collect(),
        keys: None,
        plaintext: plaintext.clone(),
    }
}

fn peer(peer: PeerSettings) -> anyhow::Result<Peer> {
    let PeerSettings { name, addresses, certificates, scopes } = peer;
    let range = |text: &String| text.parse().map(Network::range);
    let addresses = addresses.iter().map(range).collect::<Result<_, _>>();
    let addresses = addresses.with_context(|| format!("access.peers: {name}"))?;
    Ok(Peer { name, addresses, certificates, scopes: scopes.0 })
}

/// Anybody between us and an issuer could choose its keys if it were called without TLS.
fn check_issuer(issuer: &str, plaintext: &PlaintextHosts) -> anyhow::Result<()> {
    let url =
        Url::parse(issuer).with_context(|| format!("access.issuers: {issuer} is no address"))?;
    ensure!(
        plaintext.allow(&url),
        "access.issuers: {issuer} would be asked for its keys without TLS; use https, or name the host in \
         transport.plaintext_hosts"
    );
    Ok(())
}
