//! A data tenant's name and its metadata.

use std::fmt;

use serde::Serialize;

/// The keys that every data tenant of ours has.
pub const KEYS: [&str; 4] = [ENVIRONMENT, REGION, SUBACCOUNT, SERVICE_PLAN];

const ENVIRONMENT: &str = "maasConsumerEnvironment";
const REGION: &str = "maasConsumerRegion";
const SUBACCOUNT: &str = "maasConsumerSubAccount";
const SERVICE_PLAN: &str = "maasConsumerServicePlan";

/// The data tenant of a subaccount. The only place where an account's id becomes a tenant's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tenant(String);

/// One thing that is known about a data tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// Its key.
    pub key: String,
    /// How it is.
    pub value: String,
}

impl Tenant {
    /// The tenant of this subaccount, however its id is spelt.
    pub fn of_subaccount(id: &str) -> Self {
        Self(id.to_lowercase())
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Metadata for the platform.
    pub fn metadata(&self, platform_region: &str, plan: &str) -> [Metadata; 4] {
        let environment = match platform_region.split('-').next() {
            Some("k8s") => "KUBERNETES",
            Some("neo") => "NEO",
            _ => "CF",
        };
        let service_plan = match plan {
            "free" => "free",
            "azure_lite" => "tdd",
            _ => "standard",
        };
        let entry = |key: &str, value: &str| Metadata { key: key.into(), value: value.into() };
        [
            entry(ENVIRONMENT, environment),
            entry(REGION, platform_region),
            entry(SUBACCOUNT, &self.0),
            entry(SERVICE_PLAN, service_plan),
        ]
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_account_has_one_tenant_however_it_is_spelt() {
        assert_eq!(Tenant::of_subaccount("9F1C-A"), Tenant::of_subaccount("9f1c-a"));
        assert_eq!(Tenant::of_subaccount("9F1C-A").to_string(), "9f1c-a");
    }

    #[test]
    fn metadata_follows_from_region_and_plan() {
        let table = [
            ("cf-eu10", "aws", "CF", "standard"),
            ("k8s-eu10", "free", "KUBERNETES", "free"),
            ("neo-x", "azure_lite", "NEO", "tdd"),
            ("", "gcp", "CF", "standard"),
            ("elsewhere", "trial", "CF", "standard"),
        ];

        for (region, plan, environment, service_plan) in table {
            let metadata = Tenant::of_subaccount("SA").metadata(region, plan);

            assert_eq!(metadata.each_ref().map(|entry| entry.key.as_str()), KEYS);
            let values = metadata.each_ref().map(|entry| entry.value.as_str());
            assert_eq!(values, [environment, region, "sa", service_plan]);
        }
    }
}
