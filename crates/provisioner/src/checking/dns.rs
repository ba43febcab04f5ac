//! Rules for a cluster's names in the DNS.

use super::{must, names};
use crate::{
    Error,
    configuration::{Dns, DnsProvider},
};

pub(super) fn check(dns: &Dns, at: &str) -> Result<(), Error> {
    names::domain(&dns.domain, &format!("{at}.domain"))?;
    for (index, provider) in dns.providers.iter().enumerate() {
        check_provider(provider, &format!("{at}.providers[{index}]"))?;
    }
    let first = dns.providers.iter().filter(|provider| provider.primary).count();
    must(first <= 1, format_args!("{at}.providers"), "must have only one that is primary")
}

fn check_provider(provider: &DnsProvider, at: &str) -> Result<(), Error> {
    must(!provider.kind.is_empty(), format_args!("{at}.type"), "must not be empty")?;
    must(!provider.secret_name.is_empty(), format_args!("{at}.secretName"), "must not be empty")?;
    for (index, domain) in provider.domains_include.iter().enumerate() {
        names::domain(domain, &format!("{at}.domainsInclude[{index}]"))?;
    }
    Ok(())
}
