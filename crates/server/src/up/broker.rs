//! The broker of `kcp up`: the same service as in production, between the embedded database and the simulated
//! landscape, with the console beside it.

use std::sync::Arc;

use anyhow::Context;
use api::{Credentials as Platform, Verifier};
use axum::{Extension, Router, middleware::from_fn};
use base::Clock;
use console::{Person, Service as Shown};
use secrecy::SecretString;
use simulators::landscape::Landscape;
use uuid::Uuid;

use super::{
    Connection, Speed,
    folder::{Credentials, Folder, SEALING_KEY},
};
use crate::{
    Settings, broker::Service, keys, service_context::ServiceContext, systems::SystemSettings,
};

/// Starts it.
pub(super) async fn start(
    folder: &Folder,
    credentials: &Credentials,
    systems: &SystemSettings,
    (url, speed): (Option<SecretString>, Speed),
    settings: &Settings,
    clock: &Clock,
) -> anyhow::Result<Service> {
    let sealer = keys::read_or_make(&folder.file(SEALING_KEY))?;
    let url = match url {
        Some(url) => url,
        None => folder.database("kcp.db")?,
    };
    let place = ServiceContext { url, sealer, replica: Some(credentials.replica.clone()), speed };
    Service::start(settings, systems, place, clock).await.context("the broker cannot start")
}

/// Its routes, and the console: open to this machine, with the development identity.
pub(super) fn routes(
    broker: &Service,
    connection: &Connection,
    credentials: &Credentials,
    landscape: &Arc<Landscape>,
    verifier: &Arc<Verifier>,
) -> Router {
    let services = [
        ("broker", &connection.broker),
        ("provisioner", &connection.provisioner),
        ("landscape", &connection.landscape),
    ]
    .map(|(name, address)| Shown { name, address: address.clone() });
    let (issuer, signed) = (landscape.issuer().clone(), credentials.clone());
    let control = console::Landscape::new(connection.landscape.clone(), move || {
        super::landscape::token(&issuer, &signed).ok()
    });
    let pages = console::router(broker.console(Some(control), services.into()));
    let developer = Person::developer(Uuid::new_v4().to_string());
    let pages = pages
        .route_layer(Extension(developer))
        .merge(console::assets())
        .route_layer(from_fn(console::this_machine));
    let (user, password) = (credentials.user.clone(), credentials.password.clone());
    let known = vec![Platform { user, password, tenant: None }];
    broker.routes(verifier, known).merge(pages)
}
