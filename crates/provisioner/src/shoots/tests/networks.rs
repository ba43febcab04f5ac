//! Networks behave like the sets of addresses that they are.

use std::net::Ipv4Addr;

use proptest::prelude::*;

use crate::shoots::networks::{Network, NoNetwork};

fn network(text: &str) -> Network {
    text.parse().unwrap()
}

fn any_network() -> impl Strategy<Value = Network> {
    (any::<u32>(), 0_u8..=32)
        .prop_map(|(address, length)| Network::around(Ipv4Addr::from(address), length).unwrap())
}

/// Few addresses, so that networks often meet.
fn small_network() -> impl Strategy<Value = (Network, Vec<u32>)> {
    (0_u32..64, 26_u8..=32).prop_map(|(address, length)| {
        let network = Network::around(Ipv4Addr::from(address), length).unwrap();
        let size = 1 << (32 - u32::from(length));
        let first = address / size * size;
        (network, (first..first + size).collect())
    })
}

#[test]
fn what_is_no_network_is_told_from_a_host_in_one() {
    let unreadable = [
        "",
        "10.250.0.0",
        "10.250.0.0/",
        "10.250.0.0/33",
        "10.250.0.0/08",
        "10.250.0.0/+8",
        "10.250.0/16",
        "10.250.0.0/16/1",
        "fd00::/8",
        " 10.0.0.0/8",
    ];

    for text in unreadable {
        assert_eq!(text.parse::<Network>(), Err(NoNetwork::Unreadable), "{text}");
    }
    let host: Result<Network, _> = "10.250.7.1/16".parse();
    assert_eq!(host, Err(NoNetwork::Host(network("10.250.0.0/16"))));
}

#[test]
fn the_whole_internet_is_a_network() {
    let all = network("0.0.0.0/0");

    assert!(all.contains(network("255.255.255.255/32")));
    assert!(all.contains(all));
    assert!(!network("128.0.0.0/1").contains(all));
}

proptest! {
    #[test]
    fn a_network_is_read_as_it_is_written(network in any_network()) {
        prop_assert_eq!(network.to_string().parse(), Ok(network));
    }

    #[test]
    fn only_the_first_address_names_a_network(address in any::<u32>(), length in 0_u8..=32) {
        let text = format!("{}/{length}", Ipv4Addr::from(address));
        let around = Network::around(Ipv4Addr::from(address), length).unwrap();

        let read: Result<Network, NoNetwork> = text.parse();

        let named = around.to_string() == text;
        prop_assert_eq!(read, if named { Ok(around) } else { Err(NoNetwork::Host(around)) });
    }

    #[test]
    fn networks_contain_and_overlap_as_their_addresses_do(
        (one, ones) in small_network(),
        (other, others) in small_network(),
    ) {
        let contains = others.iter().all(|address| ones.contains(address));
        let overlaps = others.iter().any(|address| ones.contains(address));

        prop_assert_eq!(one.contains(other), contains);
        prop_assert_eq!(one.overlaps(other), overlaps);
        prop_assert_eq!(other.overlaps(one), overlaps);
    }
}
