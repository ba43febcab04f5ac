//! The simulated outside world, as far as it exists: the issuer.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context;
use api::{router::open, scope};
use axum::Router;
use base::Clock;
use secrecy::SecretString;
use simulators::issuer::{self, Client, Grant, Issuer, ONE_DAY, SigningKey, User};

use super::folder::{Credentials, Folder};
use crate::{Settings, readiness::Always};

/// The public client under which people log in.
const PEOPLE: &str = "kcp";
/// The client under which the broker speaks to the provisioner.
const BROKER: &str = "kcp-broker";

pub(super) fn issuer(
    folder: &Folder,
    credentials: &Credentials,
    settings: &Settings,
    address: SocketAddr,
    clock: &Clock,
) -> anyhow::Result<Arc<Issuer>> {
    let key = SigningKey::from_file_or_create(&folder.file("issuer-key.pem"))
        .context("the issuer has no key")?;
    let settings = issuer::Settings {
        url: format!("http://{address}"),
        audience: vec![settings.access.audience.clone()],
        lifetime: ONE_DAY,
        clients: vec![
            Client {
                id: PEOPLE.into(),
                secret: None,
                grants: vec![Grant::Password],
                scopes: every_scope(),
            },
            Client {
                id: BROKER.into(),
                secret: Some(credentials.client_secret.clone()),
                grants: vec![Grant::ClientCredentials],
                scopes: every_scope(),
            },
        ],
        users: vec![User {
            name: credentials.user.clone(),
            password: credentials.password.clone(),
            scopes: every_scope(),
            groups: groups(),
        }],
    };
    Ok(Arc::new(Issuer::new(settings, key, clock.clone())))
}

/// A token that opens every door for a day.
pub(super) fn token(issuer: &Issuer, credentials: &Credentials) -> anyhow::Result<SecretString> {
    let claims = issuer.claims(PEOPLE, &credentials.user, &every_scope(), &groups());
    Ok(issuer.sign(&claims).context("the token cannot be signed")?.into())
}

pub(super) fn router(issuer: Arc<Issuer>) -> Router {
    issuer::router(issuer).merge(open(Arc::new(Always)))
}

fn every_scope() -> Vec<String> {
    scope::ALL.map(str::to_owned).to_vec()
}

fn groups() -> Vec<String> {
    ["runtimeAdmin", "runtimeOperator", "orchestrationsAdmin"].map(str::to_owned).to_vec()
}
