//! Descriptions of subaccounts.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::{Settings, named, null_is_none};
use crate::{
    error::{Error, Kind},
    gate::Gate,
    http::Http,
};

/// A client of the accounts service.
#[derive(Debug, Clone)]
pub struct Accounts {
    http: Http,
}

/// A subaccount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subaccount {
    /// Whether it takes part in betas.
    pub beta_enabled: bool,
    /// `USED_FOR_PRODUCTION`, `NOT_USED_FOR_PRODUCTION`, or something newer.
    pub used_for_production: String,
    /// When it was last changed.
    pub modified_at: Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(default, deserialize_with = "null_is_none")]
    beta_enabled: bool,
    #[serde(default, deserialize_with = "null_is_none")]
    used_for_production: String,
    #[serde(default, deserialize_with = "null_is_none")]
    modified_date: i64,
}

impl Accounts {
    /// The accounts service of `settings` behind `gate`; `tokens` is the gate of the issuer.
    pub fn through(gate: Arc<Gate>, tokens: Arc<Gate>, settings: &Settings) -> Result<Self, Error> {
        Ok(Self { http: settings.http(gate, tokens)? })
    }

    /// Asks for a subaccount that nobody has.
    pub async fn check(&self) -> Result<(), Error> {
        self.subaccount("00000000-0000-0000-0000-000000000000").await.map(|_| ())
    }

    /// A subaccount; `None` when the service does not know it, which an empty record means too.
    pub async fn subaccount(&self, id: &str) -> Result<Option<Subaccount>, Error> {
        let doing = format!("reading subaccount {id}");
        let name = named(&self.http, &doing, id)?;
        let request = self.http.get(&format!("/accounts/v1/technical/subaccounts/{name}"));
        let record: Record = match self.http.send_to("subaccount", &doing, request).await {
            Err(error) if error.kind == Kind::NotFound => return Ok(None),
            answer => answer?.json()?,
        };
        if record.modified_date == 0 && record.used_for_production.is_empty() {
            return Ok(None);
        }
        let modified_at = Timestamp::from_millisecond(record.modified_date).map_err(|_| {
            Error::new(self.http.component(), Kind::Malformed, &doing).saying("field modifiedDate")
        })?;
        let Record { beta_enabled, used_for_production, .. } = record;
        Ok(Some(Subaccount { beta_enabled, used_for_production, modified_at }))
    }
}
