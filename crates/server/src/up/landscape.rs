//! The simulated outside world: one landscape in the data folder, with everybody it knows.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context;
use api::{router::open, scope};
use axum::Router;
use base::Clock;
use secrecy::SecretString;
use simulators::{
    director,
    issuer::{self, Client, Grant, Issuer, ONE_DAY, SigningKey, User},
    landscape::{self, Landscape, SCOPES},
    pace,
};

use super::{
    Speed,
    folder::{Credentials, Folder},
};
use crate::{Settings, readiness::Always};

/// The public client under which people log in.
const PEOPLE: &str = "kcp";
/// The client under which the broker speaks to the provisioner.
const BROKER: &str = "kcp-broker";
/// The client under which the provisioner speaks to the Director.
const PROVISIONER: &str = "kcp-provisioner";
/// Dice that fall alike at every first start.
const SEED: u64 = 1;

/// Opens the landscape that will answer at `address`.
pub(super) fn landscape(
    folder: &Folder,
    credentials: &Credentials,
    settings: &Settings,
    address: SocketAddr,
    speed: Speed,
    clock: &Clock,
) -> anyhow::Result<Arc<Landscape>> {
    let key = SigningKey::from_file_or_create(&folder.file("issuer-key.pem"))
        .context("the issuer has no key")?;
    let settings = landscape::Settings {
        issuer: issuer_settings(credentials, settings, address),
        key,
        director: director::Settings { seed: SEED, ..director::Settings::default() },
        speed: match speed {
            Speed::Times(factor) => pace::Speed::Times(factor),
            Speed::Max => pace::Speed::MAX,
        },
        seed: SEED,
    };
    let landscape = Landscape::open(settings, &folder.file("landscape"), clock.clone())
        .context("the landscape cannot be opened")?;
    Ok(Arc::new(landscape))
}

fn issuer_settings(
    credentials: &Credentials,
    settings: &Settings,
    address: SocketAddr,
) -> issuer::Settings {
    let machine = |id: &str| Client {
        id: id.into(),
        secret: Some(credentials.client_secret.clone()),
        grants: vec![Grant::ClientCredentials],
        scopes: every_scope(),
    };
    issuer::Settings {
        url: format!("http://{address}"),
        audience: vec![settings.access.audience.clone()],
        lifetime: ONE_DAY,
        clients: vec![
            Client {
                id: PEOPLE.into(),
                secret: None,
                grants: vec![
                    Grant::Password,
                    Grant::AuthorizationCode,
                    Grant::Device,
                    Grant::Refresh,
                ],
                scopes: every_scope(),
            },
            machine(BROKER),
            machine(PROVISIONER),
        ],
        users: vec![User {
            name: credentials.user.clone(),
            password: credentials.password.clone(),
            scopes: every_scope(),
            groups: groups(),
        }],
    }
}

/// A token that opens every door for a day.
pub(super) fn token(issuer: &Issuer, credentials: &Credentials) -> anyhow::Result<SecretString> {
    let claims = issuer.claims(PEOPLE, &credentials.user, &every_scope(), &groups());
    Ok(issuer.sign(&claims).context("the token cannot be signed")?.into())
}

pub(super) fn router(landscape: &Arc<Landscape>) -> Router {
    landscape::router(landscape).merge(open(Arc::new(Always)))
}

fn every_scope() -> Vec<String> {
    scope::ALL.into_iter().chain(SCOPES).map(str::to_owned).collect()
}

fn groups() -> Vec<String> {
    ["runtimeAdmin", "runtimeOperator", "orchestrationsAdmin"].map(str::to_owned).to_vec()
}
