//! Amazon EC2 as its Query API shows it: one address, signed forms in, XML out.
//!
//! What a reader would get wrong: the region is not in the address but in what the request is signed for.
//! Without any account added by an order every key is known; with the first one added, only those.

mod access;
mod answers;
mod control;
mod records;

use std::{path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
    routing::post,
};
use base::Clock;
use url::form_urlencoded;

use crate::{
    issuer::Issuer,
    landscape::{MountedSystem, SystemContext},
    pace::Pace,
    store::{Error, Store},
};
use answers::Refusal;
use records::{Event, Records};

/// Where its paths begin.
pub const BASE: &str = "/aws";

/// How EC2 behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a volume takes to be deleted, at the watchable speed.
    pub deleting: Duration,
    /// How many things a page has at most.
    pub page: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { deleting: Duration::from_secs(2), page: 1_000 }
    }
}

/// A running EC2.
#[derive(Debug)]
pub struct Aws {
    settings: Settings,
    known: Store<Records>,
    clock: Clock,
    pace: Pace,
}

impl Aws {
    /// An EC2 that keeps what it knows in `path`. It has keys of its own and needs no issuer.
    pub fn open(
        settings: Settings,
        path: &Path,
        _: Arc<Issuer>,
        clock: Clock,
        pace: Pace,
    ) -> Result<Self, Error> {
        Ok(Self { settings, known: Store::open(path)?, clock, pace })
    }

    /// Lets volumes go whose time has come.
    fn settle(&self) -> Result<(), Error> {
        let (now, delay) = (self.clock.now(), self.pace.scaled(self.settings.deleting));
        self.known.settle(|known| {
            let over = known.volumes.iter().filter(|(_, volume)| {
                volume.deleting_since.is_some_and(|since| since + delay <= now)
            });
            over.map(|(id, _)| Event::VolumeGone { id: id.clone() }).collect()
        })
    }
}

/// The EC2 of a landscape.
pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let path = world.folder.join("aws.log");
    let (issuer, clock, pace) = (world.issuer.clone(), world.clock.clone(), world.pace.clone());
    let aws = Arc::new(Aws::open(Settings::default(), &path, issuer, clock, pace)?);
    Ok(MountedSystem::new(aws.clone(), router(aws)))
}

/// EC2's one route.
pub fn router(aws: Arc<Aws>) -> Router {
    Router::new().route("/aws", post(call)).route("/aws/", post(call)).with_state(aws)
}

async fn call(State(aws): State<Arc<Aws>>, headers: HeaderMap, body: Bytes) -> Response {
    let fields: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    aws.answer(&headers, &fields).unwrap_or_else(Refusal::into_response)
}
