//! The clients and people that the issuer knows: those of its settings, and those that an operator added.
//!
//! What a reader would get wrong: one that was added hides one of the settings with the same name, until it is taken away.

use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Client, Grant, Issuer, User,
    records::{Event, Records, digest_of},
};
use crate::{
    orders::{text, unknown},
    system::OrderError,
};

/// A client; its secret is a digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RegisteredClient {
    pub(super) id: String,
    /// Nothing for a public client, which says only who it is.
    pub(super) secret: Option<String>,
    pub(super) grants: Vec<Grant>,
    pub(super) scopes: Vec<String>,
}

/// A person; the password is a digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) password: String,
    pub(super) scopes: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) email: Option<String>,
}

impl Person {
    /// The address in ID tokens.
    pub(super) fn address(&self) -> String {
        let own = self.email.clone().or_else(|| self.name.contains('@').then(|| self.name.clone()));
        own.unwrap_or_else(|| format!("{}@example.com", self.name))
    }
}

impl From<&Client> for RegisteredClient {
    fn from(client: &Client) -> Self {
        let secret = client.secret.as_ref().map(|secret| digest_of(secret.expose_secret()));
        let (id, grants, scopes) =
            (client.id.clone(), client.grants.clone(), client.scopes.clone());
        Self { id, secret, grants, scopes }
    }
}

impl From<&User> for Person {
    fn from(user: &User) -> Self {
        Self {
            name: user.name.clone(),
            password: digest_of(user.password.expose_secret()),
            scopes: user.scopes.clone(),
            groups: user.groups.clone(),
            email: None,
        }
    }
}

/// What the order `add-client` comes with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewClient {
    id: String,
    secret: Option<String>,
    grants: Option<Vec<Grant>>,
    scopes: Option<Vec<String>>,
}

/// What the order `add-user` comes with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewUser {
    name: String,
    password: String,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    scopes: Vec<String>,
    email: Option<String>,
}

/// All grants, the one for machines first.
const GRANTS: [Grant; 5] = [
    Grant::ClientCredentials,
    Grant::Password,
    Grant::AuthorizationCode,
    Grant::Device,
    Grant::Refresh,
];

impl Issuer {
    /// A client by its id.
    pub(super) fn find_client(&self, known: &Records, id: &str) -> Option<RegisteredClient> {
        let added = known.clients.get(id).cloned();
        let settings = || self.settings.clients.iter().find(|client| client.id == id);
        added.or_else(|| settings().map(RegisteredClient::from))
    }

    /// The same, while nothing of what is known is held.
    pub(super) fn client(&self, id: &str) -> Option<RegisteredClient> {
        self.known.read(|known| self.find_client(known, id))
    }

    /// A person by name.
    pub(super) fn person(&self, name: &str) -> Option<Person> {
        let added = self.known.read(|known| known.people.get(name).cloned());
        let settings = || self.settings.users.iter().find(|user| user.name == name);
        added.or_else(|| settings().map(Person::from))
    }

    /// The clients of the settings and those that were added.
    pub(super) fn clients(&self, known: &Records) -> Vec<RegisteredClient> {
        let hidden = |client: &&Client| !known.clients.contains_key(&client.id);
        let settings = self.settings.clients.iter().filter(hidden).map(RegisteredClient::from);
        settings.chain(known.clients.values().cloned()).collect()
    }

    /// The people of the settings and added ones.
    pub(super) fn people(&self, known: &Records) -> Vec<Person> {
        let hidden = |user: &&User| !known.people.contains_key(&user.name);
        let settings = self.settings.users.iter().filter(hidden).map(Person::from);
        settings.chain(known.people.values().cloned()).collect()
    }

    /// The change that an order about clients and people means.
    pub(super) fn register(&self, order: &str, with: &Value) -> Result<Event, OrderError> {
        let invalid = |error: serde_json::Error| OrderError::Invalid(error.to_string());
        match order {
            "add-client" => {
                let new: NewClient = serde_json::from_value(with.clone()).map_err(invalid)?;
                let usual = if new.secret.is_some() { &GRANTS[..] } else { &GRANTS[1..] };
                let client = RegisteredClient {
                    id: new.id,
                    secret: new.secret.as_deref().map(digest_of),
                    grants: new.grants.unwrap_or_else(|| usual.to_vec()),
                    scopes: new.scopes.unwrap_or_else(|| self.every_scope()),
                };
                Ok(Event::ClientAdded { client })
            }
            "add-user" => {
                let new: NewUser = serde_json::from_value(with.clone()).map_err(invalid)?;
                let password = digest_of(&new.password);
                let NewUser { name, groups, scopes, email, .. } = new;
                Ok(Event::PersonAdded { person: Person { name, password, scopes, groups, email } })
            }
            "remove-client" => {
                let id = text(with, "id")?;
                let found = self.known.read(|known| known.clients.contains_key(&id));
                found
                    .then(|| Event::ClientRemoved { id: id.clone() })
                    .ok_or_else(|| unknown("added client", &id))
            }
            _ => {
                let name = text(with, "name")?;
                let found = self.known.read(|known| known.people.contains_key(&name));
                found
                    .then(|| Event::PersonRemoved { name: name.clone() })
                    .ok_or_else(|| unknown("added user", &name))
            }
        }
    }

    /// Every scope that a client of the settings may have.
    fn every_scope(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for scope in self.settings.clients.iter().flat_map(|client| &client.scopes) {
            if !all.contains(scope) {
                all.push(scope.clone());
            }
        }
        all
    }
}
