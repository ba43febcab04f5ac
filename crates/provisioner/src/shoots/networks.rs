//! Networks: what `10.250.0.0/16` means, and how two of them relate.
//!
//! What a reader would get wrong: `10.250.0.1/16` is no network. It names a host in one, and Gardener refuses it.

use std::{fmt, net::Ipv4Addr, str::FromStr};

/// A range of IPv4 addresses, aligned to its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: u32,
    length: u8,
}

/// Why a text is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoNetwork {
    /// It is not written as one.
    #[error("must be a network such as 10.250.0.0/16")]
    Unreadable,
    /// It names a host in a network.
    #[error("must be a network, not a host in one; did you mean {0}?")]
    Host(Network),
}

impl Network {
    /// The network of this length that an address is in; nothing for lengths over 32.
    pub fn around(address: Ipv4Addr, length: u8) -> Option<Self> {
        let mask = mask(length)?;
        Some(Self { first: u32::from(address) & mask, length })
    }

    /// Whether all addresses of the other one are in this one.
    pub fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last() <= self.last()
    }

    /// Whether they have an address in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last() && other.first <= self.last()
    }

    /// How many networks of this length have a place in it.
    pub fn parts(self, length: u8) -> u32 {
        match length.checked_sub(self.length) {
            Some(more) => 1_u32.checked_shl(more.into()).unwrap_or(u32::MAX),
            None => 0,
        }
    }

    /// Its highest address.
    fn last(self) -> u32 {
        self.first | !mask(self.length).unwrap_or(u32::MAX)
    }
}

/// As many ones as the network's part is long, from the left.
fn mask(length: u8) -> Option<u32> {
    let hosts = 32_u32.checked_sub(length.into())?;
    Some(u32::MAX.checked_shl(hosts).unwrap_or(0))
}

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let (address, length) = text.split_once('/').ok_or(NoNetwork::Unreadable)?;
        let address: Ipv4Addr = address.parse().map_err(|_| NoNetwork::Unreadable)?;
        let number: u8 = length.parse().map_err(|_| NoNetwork::Unreadable)?;
        // Not "+8" and not "08": each network has one way to be written.
        if number.to_string() != length {
            return Err(NoNetwork::Unreadable);
        }
        let network = Self::around(address, number).ok_or(NoNetwork::Unreadable)?;
        let aligned = network.first == u32::from(address);
        if aligned { Ok(network) } else { Err(NoNetwork::Host(network)) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.first), self.length)
    }
}
