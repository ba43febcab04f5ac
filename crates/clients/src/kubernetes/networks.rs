//! Where a kubeconfig that a customer brings may lead: to public addresses, and to the networks that the operator allows.
//!
//! What a reader would get wrong: a name is no address. It is resolved anew for every connection, so the addresses are checked by
//! the resolver that connects, whatever the name meant when the order was accepted.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    ops::RangeInclusive,
    pin::Pin,
    str::FromStr,
    sync::Arc,
    task::{Context, Poll},
    vec,
};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower::{BoxError, Service};

/// A network that is allowed: `10.0.0.0/8`, `::1/128` or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    length: u8,
}

/// It is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no network: 10.0.0.0/8, ::1/128 or one address is")]
pub struct NoNetwork(String);

/// The networks that customers' kubeconfigs may lead to besides public addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

impl Networks {
    /// Only these, and public addresses.
    pub fn new(allowed: Vec<Network>) -> Self {
        Self(allowed)
    }

    /// Whether a connection may be made.
    pub fn allow(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.0.iter().any(|network| network.holds(address))
    }

    /// Whether a host, as it stands in an address, is certainly not allowed. A name may be.
    pub(super) fn refuse(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        match host.parse::<IpAddr>() {
            Ok(address) => !self.allow(address),
            Err(_) if name == "localhost" || name.ends_with(".localhost") => {
                !self.allow(Ipv4Addr::LOCALHOST.into()) && !self.allow(Ipv6Addr::LOCALHOST.into())
            }
            Err(_) => name.is_empty(),
        }
    }
}

impl Network {
    fn holds(self, address: IpAddr) -> bool {
        self.range().contains(&address)
    }

    /// Its first and its last address.
    pub fn range(self) -> RangeInclusive<IpAddr> {
        let length = u32::from(self.length);
        match self.address {
            IpAddr::V4(own) => {
                let host = u32::MAX.checked_shr(length).unwrap_or(0);
                let (first, last) = (own.to_bits() & !host, own.to_bits() | host);
                Ipv4Addr::from_bits(first).into()..=Ipv4Addr::from_bits(last).into()
            }
            IpAddr::V6(own) => {
                let host = u128::MAX.checked_shr(length).unwrap_or(0);
                let (first, last) = (own.to_bits() & !host, own.to_bits() | host);
                Ipv6Addr::from_bits(first).into()..=Ipv6Addr::from_bits(last).into()
            }
        }
    }
}

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let wrong = || NoNetwork(text.to_owned());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length = length.unwrap_or(width);
        if length > width { Err(wrong()) } else { Ok(Self { address, length }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// Whether an address is routed on the internet, and means the host that it names.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let special = matches!(
        (first, second, third),
        // This network, carriers' NAT, protocol assignments, 6to4 relays, benchmarks, everything from 240 on.
        (0 | 240..=255, ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18 | 19, _)
    );
    !(special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

/// Global unicast only, without what carries another address inside and what is for documents.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let global = first & 0xe000 == 0x2000;
    let special = matches!(
        (first, second),
        (0x2001, 0..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0..=0x0fff)
    );
    global && !special
}

/// Finds the addresses of a host; of a restricted one, only those that a connection may be made to.
#[derive(Debug, Clone)]
pub(super) struct Resolver {
    below: GaiResolver,
    networks: Option<Arc<Networks>>,
}

impl Resolver {
    pub(super) fn new(networks: Option<Arc<Networks>>) -> Self {
        Self { below: GaiResolver::new(), networks }
    }
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.below.poll_ready(cx).map_err(BoxError::from)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (found, networks) = (self.below.call(name), self.networks.clone());
        Box::pin(async move {
            let found: Vec<SocketAddr> = found.await?.collect();
            let Some(networks) = networks else { return Ok(found.into_iter()) };
            let allowed: Vec<SocketAddr> =
                found.into_iter().filter(|address| networks.allow(address.ip())).collect();
            if allowed.is_empty() {
                return Err("the host has no address that may be connected to".into());
            }
            Ok(allowed.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(allowed: &[&str]) -> Networks {
        Networks::new(allowed.iter().map(|network| network.parse().unwrap()).collect())
    }

    #[test]
    fn only_public_addresses_are_allowed_by_themselves() {
        let none = Networks::default();
        let public = [
            "8.8.8.8",
            "100.128.0.1",
            "192.88.98.1",
            "198.17.0.1",
            "198.20.0.1",
            "2a00:1450::1",
            "2606:4700::1111",
            "3ffe::1",
            "3fff:1000::1",
        ];
        let inner = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "192.0.0.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "3fff:fff::1",
        ];

        for address in public {
            assert!(none.allow(address.parse().unwrap()), "{address}");
        }
        for address in inner {
            assert!(!none.allow(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_operator_allows_networks_beside_them() {
        let some = networks(&["127.0.0.0/8", "::1/128", "10.2.0.0/16"]);

        for (address, allowed) in [
            ("127.9.9.9", true),
            ("::ffff:127.0.0.1", true),
            ("::1", true),
            ("10.2.255.1", true),
            ("10.3.0.1", false),
            ("fe80::1", false),
        ] {
            assert_eq!(some.allow(address.parse().unwrap()), allowed, "{address}");
        }
        for wrong in ["", "10.0.0.0/33", "::/129", "ten", "10.0.0.0/", "10.0.0.0/-1"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
        assert_eq!("0.0.0.0/0".parse::<Network>().unwrap().to_string(), "0.0.0.0/0");
        assert!(networks(&["0.0.0.0/0"]).allow("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn a_host_is_refused_when_it_certainly_leads_inside() {
        let (none, local) = (Networks::default(), networks(&["127.0.0.0/8"]));

        for host in [
            "127.0.0.1",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "",
        ] {
            assert!(none.refuse(host), "{host}");
        }
        assert!(!none.refuse("api.example.com") && !none.refuse("8.8.8.8"));
        assert!(!local.refuse("localhost") && !local.refuse("127.0.0.1"));
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_has_no_address() {
        let name = || "localhost".parse::<Name>().unwrap();
        let mut restricted = Resolver::new(Some(Arc::default()));
        let mut local = Resolver::new(Some(Arc::new(networks(&["127.0.0.0/8", "::1"]))));
        let mut free = Resolver::new(None);

        assert!(restricted.call(name()).await.is_err());
        assert!(local.call(name()).await.unwrap().count() > 0);
        assert!(free.call(name()).await.unwrap().count() > 0);
    }
}
