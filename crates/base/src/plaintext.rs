//! Which addresses may be called without TLS: those of this machine, and hosts that a setting names.

use url::{Host, Url};

/// Hosts that may be called without TLS although they are not this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaintextHosts(Vec<String>);

impl PlaintextHosts {
    /// These hosts: names or addresses, without a port.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect())
    }

    /// The hosts.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether this address may be called: over TLS, on this machine, or at a host that was named.
    pub fn allow(&self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => is_loopback(url) || url.host_str().is_some_and(|host| self.contains(host)),
            _ => false,
        }
    }

    fn contains(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        self.0.iter().any(|name| name == host)
    }
}

/// Whether an address is one of this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tls_only_this_machine_and_named_hosts_may_be_called() {
        let hosts = PlaintextHosts::new(["Director.compass.svc".to_owned(), "fd00::1".to_owned()]);
        let table = [
            ("https://anywhere.example.test/", true),
            ("http://127.0.0.1:8080/a", true),
            ("http://[::1]/", true),
            ("http://localhost:3000/", true),
            ("http://director.compass.svc:3000/graphql", true),
            ("http://[fd00::1]:80/", true),
            ("http://localhost.example.test/", false),
            ("http://other.compass.svc/", false),
            ("http://10.0.0.1/", false),
            ("http://0.0.0.0/", false),
            ("ftp://localhost/", false),
        ];

        for (url, allowed) in table {
            assert_eq!(hosts.allow(&url.parse().unwrap()), allowed, "{url}");
        }
    }
}
