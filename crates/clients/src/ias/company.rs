//! The company document: everything there is, of which we read little.

use serde::{Deserialize, Serialize};

/// The company as it was when it was read.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Company {
    /// Its service providers.
    #[serde(default)]
    pub service_providers: Vec<ServiceProvider>,
    /// Its identity providers.
    #[serde(default)]
    pub identity_providers: Vec<IdentityProvider>,
}

/// Something that people log in to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServiceProvider {
    /// Its id.
    pub id: String,
    /// The name by which it is found again.
    #[serde(default)]
    pub display_name: String,
    /// The client's id for its secrets.
    #[serde(rename = "userForRest", default)]
    pub user_for_rest: String,
    /// Its secrets, without their values.
    #[serde(rename = "clientSecrets", default)]
    pub secrets: Vec<KeptSecret>,
    /// Attributes of people for tools.
    #[serde(rename = "assertion_attributes", default)]
    pub attributes: Vec<Attribute>,
}

/// A secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptSecret {
    /// Its id.
    #[serde(rename = "clientSecretId")]
    pub id: String,
}

/// An attribute of people for a tool, and its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name in the tool.
    #[serde(rename = "assertionAttribute")]
    pub assertion: String,
    /// Its name in the service.
    #[serde(rename = "userAttribute", default)]
    pub user: String,
}

/// An identity provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IdentityProvider {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
}

/// Attributes for every tool, and their default sources.
const ATTRIBUTES: [(&str, &str); 4] = [
    ("first_name", "firstName"),
    ("last_name", "lastName"),
    ("email", "mail"),
    ("groups", "companyGroups"),
];

impl Company {
    /// The service provider with this name; the first one if there are several.
    pub fn provider(&self, name: &str) -> Option<&ServiceProvider> {
        self.service_providers.iter().find(|provider| provider.display_name == name)
    }

    /// The identity provider with this name.
    pub fn identity_provider(&self, name: &str) -> Option<&IdentityProvider> {
        self.identity_providers.iter().find(|provider| provider.name == name)
    }
}

impl ServiceProvider {
    /// The attributes it should have: ours, as they are if they are there, and no others.
    pub fn wanted_attributes(&self) -> Vec<Attribute> {
        let wanted = |(assertion, user): (&str, &str)| {
            let kept = self.attributes.iter().find(|kept| kept.assertion == assertion);
            let usual = || Attribute { assertion: assertion.into(), user: user.into() };
            kept.cloned().unwrap_or_else(usual)
        };
        ATTRIBUTES.map(wanted).into()
    }
}
