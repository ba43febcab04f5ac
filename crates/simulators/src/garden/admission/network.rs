//! Address ranges: well formed, inside of one another where they must be, apart where they must be.

use std::{
    net::{IpAddr, Ipv4Addr},
    str::FromStr,
};

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{list, text};
use crate::garden::{
    kinds,
    version::{Gardeners, Version},
};

/// The message about a text that is no range.
const MALFORMED: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Where older Gardeners have the network between control plane and machines.
const VPN: &str = "192.168.123.0/24";

/// A range of IPv4 addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first: u32,
    last: u32,
}

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, length) = text.split_once('/').ok_or(MALFORMED)?;
        let address = u32::from(address.parse::<Ipv4Addr>().map_err(|_| MALFORMED)?);
        let length: u32 = length.parse().map_err(|_| MALFORMED)?;
        let mask = match length {
            0 => 0,
            1..=32 => u32::MAX << (32 - length),
            _ => return Err(MALFORMED),
        };
        if address & !mask != 0 {
            return Err("must be valid canonical CIDR");
        }
        Ok(Self { first: address, last: address | !mask })
    }
}

impl Range {
    fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// A range, the field it stands in, and how it was written.
struct NamedRange {
    field: String,
    written: String,
    range: Range,
}

/// Names ranges that are malformed, or of the other kind of addresses.
pub(super) fn check(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let older = gardener < Version::V1_117;
    let networking = &shoot["spec"]["networking"];
    let has_machines = !list(shoot, "/spec/provider/workers").is_empty();
    if text(networking, "/type").is_none() && (older || has_machines) {
        let why = "networking type must be provided";
        causes.push(Cause::required("spec.networking.type", why));
    }
    let families = list(networking, "/ipFamilies");
    let before = causes.len();
    wrong_families(families, older, causes);
    if causes.len() > before {
        return;
    }
    let wanted = families.first().and_then(Value::as_str).unwrap_or("IPv4");
    for key in ["nodes", "pods", "services"] {
        let field = format!("spec.networking.{key}");
        let Some(written) = networking[key].as_str() else { continue };
        let Some((address, length)) = cidr(written) else {
            let why = format!("invalid CIDR address: {written}");
            causes.push(Cause::invalid(field, written, &why));
            continue;
        };
        if families.len() < 2 && address.is_ipv4() != (wanted == "IPv4") {
            let why = format!("must be a valid {wanted} address");
            causes.push(Cause::invalid(field.clone(), &address.to_string(), &why));
        }
        let bits = match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        };
        if length < 128 && bits << length != 0 {
            causes.push(Cause::invalid(field, written, "must be valid canonical CIDR"));
        }
    }
}

/// An address of either kind, and how many bits of it name the network.
fn cidr(written: &str) -> Option<(IpAddr, u32)> {
    let (address, length) = written.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let is_plain = length.chars().all(|digit| digit.is_ascii_digit());
    let length = length.parse().ok().filter(|length| is_plain && *length <= most)?;
    Some((address, length))
}

fn wrong_families(families: &[Value], older: bool, causes: &mut Vec<Cause>) {
    let field = "spec.networking.ipFamilies";
    for (place, family) in families.iter().enumerate() {
        let written = family.as_str().unwrap_or_default();
        if !["IPv4", "IPv6"].contains(&written) {
            causes.push(super::unsupported(format!("{field}[{place}]"), written, ["IPv4", "IPv6"]));
        }
        if families[..place].contains(family) {
            let message = format!("Duplicate value: {written:?}");
            let field = format!("{field}[{place}]");
            causes.push(Cause { reason: "FieldValueDuplicate", field, message });
        }
    }
    if !older || families.iter().any(|family| family != "IPv4" && family != "IPv6") {
        return;
    }
    let why = match families {
        [one] if one == "IPv6" => "IPv6 single-stack networking is not supported",
        [_, _, ..] => "dual-stack networking is not supported",
        _ => return,
    };
    let shown = Value::Array(families.to_vec()).to_string();
    causes.push(Cause::invalid(field, &shown, why));
}

/// What each Gardener says of a range that neither the Shoot nor its Seed has; the older ones look three times.
const MISSING: [(&str, &str, Gardeners); 6] = [
    ("pods", "pods is required", Gardeners::All),
    ("services", "services is required", Gardeners::All),
    ("services", "shoot service network is required", Gardeners::Older),
    ("pods", "shoot pod network is required", Gardeners::Older),
    ("services", "services is required", Gardeners::Older),
    ("pods", "pods is required", Gardeners::Older),
];

/// Names the ranges that a Shoot with a Seed needs and does not have.
pub(super) fn missing(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let has_machines = !list(shoot, "/spec/provider/workers").is_empty();
    let needs_pods = has_machines || gardener < Version::V1_117;
    for (key, why, gardeners) in MISSING {
        let is_needed = key != "pods" || needs_pods;
        let field = format!("spec.networking.{key}");
        if is_needed && gardeners.have(gardener) && shoot["spec"]["networking"][key].is_null() {
            causes.push(Cause::required(field, why));
        }
    }
}

/// Names ranges of the cluster that meet each other or those of the Seed, as they are looked at when a Shoot has one.
pub(super) fn overlaps(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    let range = |key: &str| {
        text(shoot, &format!("/spec/networking/{key}")).and_then(|text| text.parse::<Range>().ok())
    };
    with_seed(write, gardener, causes);
    let pairs = [
        ("pods", "pod", "nodes", "node"),
        ("services", "service", "nodes", "node"),
        ("services", "service", "pods", "pod"),
    ];
    for (one, word, other, second) in pairs {
        if let (Some(first), Some(second_range)) = (range(one), range(other))
            && first.meets(second_range)
        {
            let why = format!("shoot {word} network intersects with shoot {second} network");
            let shown = text(shoot, &format!("/spec/networking/{one}")).unwrap_or_default();
            causes.push(Cause::invalid(format!("spec.networking.{one}"), shown, &why));
        }
    }
}

/// Newer Gardeners map the ranges of the Seed elsewhere, unless the control plane is spread.
fn with_seed(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    let spread = shoot["spec"]["controlPlane"]["highAvailability"].is_object();
    if gardener >= Version::V1_117 && !spread {
        return;
    }
    let named = text(shoot, "/spec/seedName").unwrap_or_default();
    let Some(seed) = write.find(kinds::SEEDS, "", named) else { return };
    let mut ranges = vec![];
    for (key, word) in [("services", "service"), ("pods", "pod"), ("nodes", "node")] {
        let range = text(&seed, &format!("/spec/networks/{key}"));
        ranges.extend(range.map(|range| (range, format!("seed {word} network"))));
    }
    if gardener < Version::V1_117 {
        ranges.push((VPN, format!("default vpn network ({VPN})")));
    }
    for (key, word) in [("nodes", "node"), ("services", "service"), ("pods", "pod")] {
        let Some(own) = text(shoot, &format!("/spec/networking/{key}")) else { continue };
        let Ok(range) = own.parse::<Range>() else { continue };
        for (other, what) in &ranges {
            if other.parse::<Range>().is_ok_and(|other| other.meets(range)) {
                let why = format!("shoot {word} network intersects with {what}");
                causes.push(Cause::invalid(format!("spec.networking.{key}"), own, &why));
            }
        }
    }
}

/// Names what the provider's extension refuses about the ranges in `infrastructureConfig`.
///
/// `networks` is how the extension names the place where they stand.
pub(super) fn provider(shoot: &Value, networks: &str, causes: &mut Vec<Cause>) {
    let mut read = |field: String, value: Option<&str>| {
        let written = value?.to_owned();
        match written.parse() {
            Ok(range) => Some(NamedRange { field, written, range }),
            Err(why) => {
                causes.push(Cause::invalid(field, &written, why));
                None
            }
        }
    };
    let top = |key: &str| {
        let written = text(shoot, &format!("/spec/networking/{key}"))?.to_owned();
        let range = written.parse().ok()?;
        Some(NamedRange { field: format!("spec.networking.{key}"), written, range })
    };
    let (nodes, pods, services) = (top("nodes"), top("pods"), top("services"));
    let (workers, others) = infrastructure(shoot, networks, &mut read);
    let whole = outer(shoot, networks, &mut read);

    apart(workers.iter().chain(&others), causes);
    for worker in &workers {
        inside(worker, nodes.as_ref(), causes);
        inside(worker, whole.as_ref(), causes);
        for cluster in [&pods, &services].into_iter().flatten() {
            if worker.range.meets(cluster.range) {
                causes.push(overlap(worker, cluster));
            }
        }
    }
    for other in &others {
        inside(other, whole.as_ref(), causes);
    }
}

/// Whether all addresses of one network are in another.
pub(super) fn holds(outer: Option<&str>, inner: Option<&str>) -> bool {
    let range = |text: Option<&str>| text?.parse::<Range>().ok();
    range(outer).zip(range(inner)).is_some_and(|(outer, inner)| outer.holds(inner))
}

fn networks(shoot: &Value) -> &Value {
    &shoot["spec"]["provider"]["infrastructureConfig"]["networks"]
}

/// The ranges of machines, and what else lies beside them.
fn infrastructure(
    shoot: &Value,
    at: &str,
    read: &mut impl FnMut(String, Option<&str>) -> Option<NamedRange>,
) -> (Vec<NamedRange>, Vec<NamedRange>) {
    let networks = networks(shoot);
    let mut workers = Vec::new();
    let mut others = Vec::new();
    // `worker` is the older spelling; where both stand, they say the same.
    let either = text(networks, "/workers").or_else(|| text(networks, "/worker"));
    workers.extend(read(format!("{at}.workers"), either));
    others.extend(read(format!("{at}.internal"), text(networks, "/internal")));
    for (place, zone) in list(networks, "/zones").iter().enumerate() {
        let mut of =
            |key: &str| read(format!("{at}.zones[{place}].{key}"), text(zone, &format!("/{key}")));
        workers.extend(of("workers"));
        workers.extend(of("cidr"));
        others.extend(of("public"));
        others.extend(of("internal"));
    }
    (workers, others)
}

/// The network of the account that everything lies in, where there is one.
fn outer(
    shoot: &Value,
    at: &str,
    read: &mut impl FnMut(String, Option<&str>) -> Option<NamedRange>,
) -> Option<NamedRange> {
    let networks = networks(shoot);
    let (key, cidr) = match (text(networks, "/vpc/cidr"), text(networks, "/vnet/cidr")) {
        (Some(cidr), _) => ("vpc", cidr),
        (None, cidr) => ("vnet", cidr?),
    };
    read(format!("{at}.{key}.cidr"), Some(cidr))
}

fn apart<'a>(ranges: impl Iterator<Item = &'a NamedRange>, causes: &mut Vec<Cause>) {
    let ranges: Vec<&NamedRange> = ranges.collect();
    for (place, one) in ranges.iter().enumerate() {
        let before = ranges[..place].iter().filter(|other| one.range.meets(other.range));
        causes.extend(before.map(|other| overlap(one, other)));
    }
}

fn overlap(one: &NamedRange, other: &NamedRange) -> Cause {
    let why = format!("must not overlap with {:?} ({:?})", other.field, other.written);
    Cause::invalid(&one.field, &one.written, &why)
}

fn inside(one: &NamedRange, outer: Option<&NamedRange>, causes: &mut Vec<Cause>) {
    let Some(outer) = outer.filter(|outer| !outer.range.holds(one.range)) else { return };
    let why = format!("must be a subset of {:?} ({:?})", outer.field, outer.written);
    causes.push(Cause::invalid(&one.field, &one.written, &why));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_meet_and_refuse_nonsense() {
        let range = |text: &str| text.parse::<Range>();
        let all = range("10.250.0.0/16").unwrap();

        assert!(all.holds(range("10.250.64.0/19").unwrap()));
        assert!(!all.holds(range("10.251.0.0/24").unwrap()));
        assert!(!all.meets(range("100.96.0.0/11").unwrap()));
        assert!(all.meets(range("0.0.0.0/0").unwrap()));
        for text in ["10.250.0.1/16", "10.250.0.0", "10.250.0.0/33", "x/8"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
