//! Amazon EC2: volumes that a runtime left behind, and the zones that have a machine type.
//!
//! What a reader would get wrong: every call is a POST with a signed form, also those that only look; and
//! most refusals come with status 400, so the code in the answer decides what they mean.

mod calls;
mod cleanup;
mod sign;
mod volumes;
mod xml;
mod zones;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use base::Clock;
use secrecy::SecretString;
use url::Url;

pub use self::{cleanup::Market, volumes::Volume};
use crate::{
    error::{Component, Error, Kind},
    gate::Gate,
    http::Http,
};

/// Amazon in errors and numbers.
pub const COMPONENT: Component = Component("aws");

/// AWS credentials: the keys of a pool's Secret.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The key's id.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: SecretString,
    /// The one address of all regions; Amazon's own addresses if there is none.
    pub endpoint: Option<Url>,
}

/// A client of one account.
#[derive(Debug, Clone)]
pub struct Aws {
    settings: Settings,
    gate: Arc<Gate>,
    clock: Clock,
    /// By region; they keep connections.
    regions: Arc<Mutex<HashMap<String, (Http, Url)>>>,
}

impl Aws {
    /// The account of `settings` behind `gate`.
    pub fn through(gate: Arc<Gate>, settings: Settings) -> Self {
        let clock = gate.clock().clone();
        Self { settings, gate, clock, regions: Arc::default() }
    }

    /// The client of a region, and its address.
    fn region(&self, region: &str) -> Result<(Http, Url), Error> {
        let mut known = self.regions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(region) {
            return Ok(found.clone());
        }
        let own = self.settings.endpoint.clone();
        let url = own.map_or_else(|| amazon(self.gate.component(), region), Ok)?;
        let made = (Http::through(self.gate.clone(), url.clone())?, url);
        known.insert(region.to_owned(), made.clone());
        Ok(made)
    }

    /// Asks for the regions.
    pub async fn check(&self) -> Result<(), Error> {
        self.regions("eu-central-1").await.map(|_| ())
    }
}

/// Amazon's own address of a region.
fn amazon(component: Component, region: &str) -> Result<Url, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    let url = Url::parse(&format!("https://ec2.{region}.{domain}/")).ok();
    // A region that holds more than a name would send our signature to a foreign host.
    url.filter(|_| !region.is_empty() && region.chars().all(plain)).ok_or_else(|| {
        Error::new(component, Kind::Refused { status: 400 }, "preparing a call")
            .saying("this is no region")
    })
}
