//! The Mothership Reconciler: brings Kyma into a runtime and keeps it there, by configuration.
//!
//! What a reader would get wrong: applying is safe to repeat. The same payload gets the version it
//! had, so an answer that was lost costs nothing but another round of reconciling.

mod clusters;
mod operators;
mod payload;
mod state;

use std::sync::Arc;

use url::Url;

pub use self::{
    operators::{Reconciliation, ReconciliationFilter},
    payload::{Cluster, Kyma, KymaComponent, Metadata, RuntimeInput, Setting},
    state::{Change, FailingComponent, State, Status},
};
use crate::{
    error::{Component, Error, Kind},
    gate::Gate,
    http::{Http, segment},
};

/// The Reconciler in errors and numbers.
pub const COMPONENT: Component = Component("reconciler");

/// Where the Reconciler is. It asks for no credentials: only the control plane reaches it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its address.
    pub url: Url,
}

/// A client of the Reconciler.
#[derive(Debug, Clone)]
pub struct Reconciler {
    http: Http,
}

impl Reconciler {
    /// The Reconciler at the base of `http`.
    pub fn new(http: Http) -> Self {
        Self { http }
    }

    /// The Reconciler of `settings`, behind `gate`.
    pub fn through(gate: Arc<Gate>, settings: &Settings) -> Result<Self, Error> {
        Ok(Self::new(Http::through(gate, settings.url.clone())?))
    }

    /// Asks whether it is ready.
    pub async fn check(&self) -> Result<(), Error> {
        let request = self.http.get("/health/ready");
        self.http.send_to("ready", "asking whether it is ready", request).await.map(|_| ())
    }

    /// The path of a cluster, or the refusal of a name that is none.
    fn cluster(&self, doing: &str, runtime: &str, rest: &str) -> Result<String, Error> {
        let name = segment(runtime).ok_or_else(|| {
            let refused = Kind::Refused { status: 400 };
            Error::new(self.http.component(), refused, doing).saying("this is no runtime's id")
        })?;
        Ok(format!("/v1/clusters/{name}{rest}"))
    }
}
