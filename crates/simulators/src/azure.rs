//! Azure: tokens, resource groups, event hubs, and which zones have which machines.
//!
//! What a reader would get wrong: without any subscription added by an order, every subscription is known and
//! every client gets a token; with the first one added, only those.

mod access;
mod control;
mod error;
mod groups;
mod namespaces;
mod records;
mod skus;
mod tokens;

use std::{path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    routing::{get, post, put},
};
use base::Clock;

use crate::{
    issuer::Issuer,
    landscape::{MountedSystem, SystemContext},
    pace::Pace,
    store::{Error, Store},
};
use records::{Event, Records};

/// Where its paths begin, those of its token endpoints too.
pub const BASE: &str = "/azure";

/// How Azure behaves. Durations of things are those at the watchable speed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a namespace takes to be made.
    pub making: Duration,
    /// How long a group takes to be deleted.
    pub deleting: Duration,
    /// How long a token is good.
    pub token: Duration,
    /// How many things a page has.
    pub page: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            making: Duration::from_secs(4),
            deleting: Duration::from_secs(4),
            token: Duration::from_hours(1),
            page: 1_000,
        }
    }
}

/// A running Azure.
#[derive(Debug)]
pub struct Azure {
    settings: Settings,
    known: Store<Records>,
    issuer: Arc<Issuer>,
    clock: Clock,
    pace: Pace,
}

impl Azure {
    /// An Azure that keeps what it knows in `path`. The issuer only tells where it is reached: Azure has
    /// tokens of its own.
    pub fn open(
        settings: Settings,
        path: &Path,
        issuer: Arc<Issuer>,
        clock: Clock,
        pace: Pace,
    ) -> Result<Self, Error> {
        Ok(Self { settings, known: Store::open(path)?, issuer, clock, pace })
    }

    fn url(&self) -> String {
        format!("{}{BASE}", self.issuer.url())
    }

    fn page(&self) -> usize {
        self.known.read(|known| known.page).unwrap_or(self.settings.page).max(1)
    }

    /// Lets groups go whose time has come.
    fn settle(&self) -> Result<(), Error> {
        let (now, delay) = (self.clock.now(), self.pace.scaled(self.settings.deleting));
        self.known.settle(|known| {
            let over = known.groups.iter().filter(|(_, group)| {
                !group.stuck && group.deleting_since.is_some_and(|since| since + delay <= now)
            });
            over.map(|(key, _)| Event::GroupGone { key: key.clone() }).collect()
        })
    }
}

/// The Azure of a landscape.
pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let path = world.folder.join("azure.log");
    let (issuer, clock, pace) = (world.issuer.clone(), world.clock.clone(), world.pace.clone());
    let azure = Arc::new(Azure::open(Settings::default(), &path, issuer, clock, pace)?);
    Ok(MountedSystem::new(azure.clone(), router(azure)))
}

/// Azure's routes. Paths are the same in any case; the spellings in use are here.
pub fn router(azure: Arc<Azure>) -> Router {
    let mut routes = Router::new()
        .route("/{tenant}/oauth2/token", post(tokens::first))
        .route("/{tenant}/oauth2/v2.0/token", post(tokens::second))
        .route("/subscriptions/{subscription}/operationresults/{id}", get(groups::deletion))
        .route(
            "/subscriptions/{subscription}/providers/Microsoft.EventHub/operations/{id}",
            get(namespaces::operation),
        )
        .route("/subscriptions/{subscription}/providers/Microsoft.Compute/skus", get(skus::list));
    for groups in ["resourcegroups", "resourceGroups"] {
        let all = format!("/subscriptions/{{subscription}}/{groups}");
        let one = format!("{all}/{{group}}");
        let namespaces = format!("{one}/providers/Microsoft.EventHub/namespaces");
        let namespace = format!("{namespaces}/{{namespace}}");
        let keys = format!("{namespace}/AuthorizationRules/{{rule}}/listKeys");
        routes = routes
            .route(&all, get(groups::list))
            .route(&one, put(groups::put).get(groups::show).delete(groups::delete))
            .route(&namespaces, get(namespaces::list))
            .route(&namespace, put(namespaces::put).get(namespaces::show))
            .route(&keys, post(namespaces::keys));
    }
    Router::new().nest(BASE, routes.with_state(azure))
}
