//! Access: the tables of issuers and of peers, the same for the broker and the provisioner.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fmt,
    str::FromStr,
};

use api::scope::{
    ALL, ANY_TENANT, KUBECONFIG_READ, ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, RUNTIMES_READ,
};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value::MapAccessDeserializer},
};

/// Scopes of groups, unless an issuer's table says otherwise.
const GROUPS: [(&str, &[&str]); 3] = [
    ("runtimeAdmin", &[RUNTIMES_READ, KUBECONFIG_READ, ANY_TENANT]),
    ("runtimeOperator", &[RUNTIMES_READ, ANY_TENANT]),
    ("orchestrationsAdmin", &[ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, ANY_TENANT]),
];

/// An issuer whose tokens are accepted: a table, or its url alone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct IssuerSettings {
    /// Its address, exactly as in the claim `iss`; its keys are found by discovery.
    pub url: String,
    /// The audience of its tokens; by default `access.audience`.
    #[serde(default)]
    pub audience: Option<Audience>,
    /// The claim with the only tenant that a token speaks for.
    #[serde(default = "tenant_claim")]
    pub tenant_claim: String,
    /// Whether its tokens that name no tenant speak for all of them.
    #[serde(default)]
    pub any_tenant: bool,
    /// Which scopes each group of people has.
    #[serde(default = "groups")]
    pub groups: BTreeMap<String, Scopes>,
}

/// The audience of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// That is not checked: `"any"`.
    Any,
    /// One of these.
    OneOf(Vec<String>),
}

/// Scopes that there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeSet<String>")]
pub struct Scopes(pub BTreeSet<String>);

impl IssuerSettings {
    /// The issuer at this address, trusted as if its table said nothing else.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            audience: None,
            tenant_claim: tenant_claim(),
            any_tenant: false,
            groups: groups(),
        }
    }
}

fn tenant_claim() -> String {
    "tenant".into()
}

fn groups() -> BTreeMap<String, Scopes> {
    let scopes = |scopes: &[&str]| Scopes(scopes.iter().map(ToString::to_string).collect());
    GROUPS.iter().map(|(group, all)| ((*group).to_owned(), scopes(all))).collect()
}

impl FromStr for IssuerSettings {
    type Err = Infallible;

    fn from_str(url: &str) -> Result<Self, Infallible> {
        Ok(Self::at(url.trim()))
    }
}

impl<'de> Deserialize<'de> for IssuerSettings {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct TableOrUrl;
        impl<'de> Visitor<'de> for TableOrUrl {
            type Value = IssuerSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the table of an issuer, or its url")
            }

            fn visit_str<E: Error>(self, url: &str) -> Result<IssuerSettings, E> {
                Ok(IssuerSettings::at(url))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<IssuerSettings, M::Error> {
                IssuerSettings::deserialize(MapAccessDeserializer::new(map))
            }
        }
        input.deserialize_any(TableOrUrl)
    }
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an audience is a text, a list of texts, or \"any\"")]
        enum Form {
            One(String),
            Several(Vec<String>),
        }
        let several = match Form::deserialize(input)? {
            Form::One(one) if one == "any" => return Ok(Self::Any),
            Form::One(one) => vec![one],
            Form::Several(several) => several,
        };
        if several.is_empty() || several.iter().any(|one| one.trim().is_empty()) {
            let wrong = "an audience is missing; \"any\" accepts tokens for whomever they are";
            return Err(D::Error::custom(wrong));
        }
        Ok(Self::OneOf(several))
    }
}

/// It is no scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScope(String);

impl fmt::Display for UnknownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no scope; there are {}", self.0, ALL.join(", "))
    }
}

impl std::error::Error for UnknownScope {}

impl TryFrom<BTreeSet<String>> for Scopes {
    type Error = UnknownScope;

    fn try_from(scopes: BTreeSet<String>) -> Result<Self, UnknownScope> {
        match scopes.iter().find(|scope| !ALL.contains(&scope.as_str())) {
            Some(unknown) => Err(UnknownScope(unknown.clone())),
            None => Ok(Self(scopes)),
        }
    }
}

/// A service that needs no token: when it sends none, it counts as if it had one with these scopes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerSettings {
    /// The name in the log.
    pub name: String,
    /// The networks that it may come from.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// The DNS names and URIs of client certificates, one of which it must have.
    #[serde(default)]
    pub certificates: Vec<String>,
    /// The scopes.
    pub scopes: Scopes,
}

/// It is no peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPeer(String);

impl fmt::Display for NoPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no peer such as broker@127.0.0.1=provisioner:read,tenants:any", self.0)
    }
}

impl std::error::Error for NoPeer {}

impl FromStr for PeerSettings {
    type Err = NoPeer;

    fn from_str(text: &str) -> Result<Self, NoPeer> {
        let wrong = || NoPeer(text.to_owned());
        let (who, scopes) = text.trim().split_once('=').ok_or_else(wrong)?;
        let (name, address) = who.split_once('@').ok_or_else(wrong)?;
        let scopes: BTreeSet<String> = scopes.split(',').map(str::to_owned).collect();
        Ok(Self {
            name: name.to_owned(),
            addresses: vec![address.to_owned()],
            certificates: Vec::new(),
            scopes: scopes.try_into().map_err(|_| wrong())?,
        })
    }
}
