//! Services that need no token, because the network in front of us has checked who they are.
//!
//! What a reader would get wrong: a peer that sends an `Authorization` header, however bad, is judged by it and by nothing
//! else.

use std::{collections::BTreeSet, net::IpAddr, ops::RangeInclusive};

use axum::{extract::Request, http::header::AUTHORIZATION};
use base::Clock;
use jiff::Timestamp;

use super::Principal;

/// A service that counts as if it had a token with these scopes. It must fit all that is given of it.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The name in the log.
    pub name: String,
    /// The addresses that it may come from; any when there are none.
    pub addresses: Vec<RangeInclusive<IpAddr>>,
    /// The names that its client certificate may have, one of them; no certificate is asked for when there are none.
    pub certificates: Vec<String>,
    /// The scopes.
    pub scopes: BTreeSet<String>,
}

/// The other end of a connection. The listener puts it into the extensions of each request.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its address.
    pub address: IpAddr,
    /// The DNS names and URIs of the client certificate that it has proved to own.
    pub certificate: Vec<String>,
}

impl Peer {
    fn is(&self, remote: &Remote) -> bool {
        let address = remote.address.to_canonical();
        let (addresses, names) = (&self.addresses, &self.certificates);
        let from_there =
            addresses.is_empty() || addresses.iter().any(|range| range.contains(&address));
        let named = names.is_empty() || names.iter().any(|name| remote.certificate.contains(name));
        // One of which nothing is known would be everybody.
        from_there && named && !(addresses.is_empty() && names.is_empty())
    }
}

/// The principal of a request without a token.
pub(super) fn principal(peers: &[Peer], request: &Request, clock: &Clock) -> Option<Principal> {
    if request.headers().contains_key(AUTHORIZATION) {
        return None;
    }
    let remote = request.extensions().get::<Remote>()?;
    let peer = peers.iter().find(|peer| peer.is(remote))?;
    Some(Principal {
        issuer: "access.peers".into(),
        subject: peer.name.clone(),
        scopes: peer.scopes.clone(),
        groups: BTreeSet::new(),
        tenant: None,
        until: Timestamp::MAX,
        clock: clock.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(address: &str, certificate: &[&str]) -> Remote {
        let certificate = certificate.iter().map(ToString::to_string).collect();
        Remote { address: address.parse().unwrap(), certificate }
    }

    fn peer(addresses: &[(&str, &str)], certificates: &[&str]) -> Peer {
        let range = |(first, last): &(&str, &str)| first.parse().unwrap()..=last.parse().unwrap();
        Peer {
            name: "broker".into(),
            addresses: addresses.iter().map(range).collect(),
            certificates: certificates.iter().map(ToString::to_string).collect(),
            scopes: BTreeSet::new(),
        }
    }

    #[test]
    fn a_peer_fits_all_that_is_given_of_it() {
        let local = ("127.0.0.0", "127.255.255.255");
        let by_address = peer(&[local, ("::1", "::1")], &[]);
        let by_name = peer(&[], &["broker.test", "spiffe://test/broker"]);
        let by_both = peer(&[local], &["broker.test"]);
        let table = [
            (remote("127.0.0.1", &[]), [true, false, false]),
            (remote("::ffff:127.0.0.9", &[]), [true, false, false]),
            (remote("::1", &["other.test"]), [true, false, false]),
            (remote("10.0.0.1", &[]), [false, false, false]),
            (remote("::2", &["spiffe://test/broker"]), [false, true, false]),
            (remote("10.0.0.1", &["a.test", "broker.test"]), [false, true, false]),
            (remote("127.0.0.1", &["broker.test"]), [true, true, true]),
            (remote("127.0.0.1", &["broker.test.other"]), [true, false, false]),
        ];

        for (remote, wanted) in table {
            let found = [&by_address, &by_name, &by_both].map(|peer| peer.is(&remote));
            assert_eq!(found, wanted, "{remote:?}");
        }
        assert!(!peer(&[], &[]).is(&remote("127.0.0.1", &["broker.test"])));
    }
}
