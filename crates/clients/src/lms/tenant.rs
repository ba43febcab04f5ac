//! Tenants: how they are named, where they are, whether they are ready, who gets one.

use serde::Deserialize;

const LONGEST_NAME: usize = 50;

/// How large a tenant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterType {
    /// Survives the loss of a machine.
    Ha,
    /// One machine.
    SingleNode,
}

impl ClusterType {
    /// As settings and the service spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ha => "ha",
            Self::SingleNode => "single-node",
        }
    }
}

impl std::str::FromStr for ClusterType {
    type Err = UnknownClusterType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Ha, Self::SingleNode]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| UnknownClusterType(text.into()))
    }
}

/// A size that tenants do not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cluster type \"{0}\" is neither \"ha\" nor \"single-node\"")]
pub struct UnknownClusterType(String);

/// How far a tenant is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Readiness {
    /// Whether the name for people can be found.
    #[serde(rename = "kibanaDNSResolves", default)]
    pub kibana_resolves: bool,
    /// Whether the name for logs can be found.
    #[serde(rename = "elasticsearchDNSResolves", default)]
    pub elasticsearch_resolves: bool,
    /// The state of Kibana.
    #[serde(rename = "kibanaState", default)]
    pub kibana_state: String,
}

impl Readiness {
    /// Whether logs can be sent.
    pub fn is_ready(&self) -> bool {
        self.kibana_resolves && self.elasticsearch_resolves
    }
}

/// Where a tenant is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Info {
    /// Its id.
    pub id: String,
    /// Its domain.
    pub dns: String,
}

impl Info {
    /// Where logs are sent to, at port 8443.
    pub fn forward_host(&self) -> String {
        format!("forward.{}", self.dns)
    }

    /// Where people look at them.
    pub fn kibana_url(&self) -> String {
        format!("https://kibana.{}", self.dns)
    }
}

/// Which accounts get a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnabledFor {
    /// No account.
    Nobody,
    /// Everybody.
    Everybody,
    /// These global accounts, in lower case.
    Accounts(Vec<String>),
}

impl EnabledFor {
    /// As settings say it: `all`, `none`, nothing, or a list with commas.
    pub fn parse(text: &str) -> Self {
        match text.trim().to_lowercase().as_str() {
            "" | "none" => Self::Nobody,
            "all" => Self::Everybody,
            list => Self::Accounts(list.split(',').map(|one| one.trim().to_owned()).collect()),
        }
    }

    /// Whether this global account is among them.
    pub fn includes(&self, global_account: &str) -> bool {
        match self {
            Self::Nobody => false,
            Self::Everybody => true,
            Self::Accounts(accounts) => accounts.contains(&global_account.to_lowercase()),
        }
    }
}

/// The name of the tenant of a global account: its letters and digits, at most 50.
pub fn tenant_name(global_account: &str) -> String {
    global_account.chars().filter(char::is_ascii_alphanumeric).take(LONGEST_NAME).collect()
}

/// The region in which the tenant of a runtime is.
pub fn region_of(runtime_region: Option<&str>) -> &'static str {
    match runtime_region.unwrap_or_default() {
        "eastus" | "eastus2" | "centralus" | "EastUS2EUAP" => "us",
        "southeastasia" | "japaneast" => "aus",
        _ => "eu",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_and_digits_only() {
        assert_eq!(tenant_name("0b1c-ü_2D/3e"), "0b1c2D3e");
        assert_eq!(tenant_name(&"a-".repeat(60)).len(), 50);
    }

    #[test]
    fn regions_and_accounts_follow_the_settings() {
        assert_eq!([None, Some("westeurope"), Some("x")].map(region_of), ["eu"; 3]);
        assert_eq!([Some("centralus"), Some("japaneast")].map(region_of), ["us", "aus"]);
        assert!(EnabledFor::parse("ALL").includes("ga"));
        assert!(!EnabledFor::parse("").includes("ga"));
        assert!(!EnabledFor::parse("None").includes("ga"));
        assert!(EnabledFor::parse("x, GA-1").includes("ga-1"));
        assert!(!EnabledFor::parse("x, GA-1").includes("ga-2"));
        assert_eq!("single-node".parse(), Ok(ClusterType::SingleNode));
        assert!("HA".parse::<ClusterType>().is_err());
    }
}
