//! Entitlements of subaccounts.

use std::sync::Arc;

use base::Clock;
use serde::Deserialize;
use tokio::time::timeout;

use super::{Patience, Settings, named, patience::RemainingPatience};
use crate::{
    error::{Error, Kind},
    gate::Gate,
    http::Http,
};

/// A client of the entitlements service.
#[derive(Debug, Clone)]
pub struct Entitlements {
    http: Http,
    clock: Clock,
}

#[derive(Debug, Deserialize)]
struct Entitlement {
    amount: f64,
}

impl Entitlements {
    /// The entitlements service of `settings` behind `gate`; `tokens` is the gate of the issuer.
    pub fn through(gate: Arc<Gate>, tokens: Arc<Gate>, settings: &Settings) -> Result<Self, Error> {
        let clock = gate.clock().clone();
        Ok(Self { http: settings.http(gate, tokens)?, clock })
    }

    /// Asks for the entitlement of a subaccount that nobody has.
    pub async fn check(&self) -> Result<(), Error> {
        self.amount("aws", "00000000-0000-0000-0000-000000000000").await.map(|_| ())
    }

    /// How many instances of a service plan a subaccount may have in all; `None`: there is no such
    /// subaccount. Fractions are cut, what is below zero is zero.
    pub async fn amount(&self, plan: &str, subaccount: &str) -> Result<Option<u64>, Error> {
        let doing = format!("asking how many instances of {plan} subaccount {subaccount} may have");
        let plan = named(&self.http, &doing, plan)?;
        let subaccount = named(&self.http, &doing, subaccount)?;
        let path = format!(
            "/entitlements/v1/services/kymaruntime/plans/{plan}/subaccounts/{subaccount}/entitlements"
        );
        let answer = match self.http.send_to("entitlement", &doing, self.http.get(&path)).await {
            Err(error) if error.kind == Kind::NotFound => return Ok(None),
            answer => answer?,
        };
        Ok(Some(whole(answer.json::<Entitlement>()?.amount)))
    }

    /// Like [`Entitlements::amount`], asked again within `patience`: a caller waits for the answer.
    pub async fn amount_within(
        &self,
        plan: &str,
        subaccount: &str,
        patience: Patience,
    ) -> Result<Option<u64>, Error> {
        let asking = async {
            let mut left = RemainingPatience::of(patience, &self.clock);
            loop {
                match self.amount(plan, subaccount).await {
                    Err(error) => left.spend(error).await?,
                    answer => return answer,
                }
            }
        };
        timeout(patience.total, asking).await.unwrap_or_else(|_| {
            let doing = "asking for an entitlement";
            Err(Error::new(self.http.component(), Kind::Unavailable, doing).saying("out of time"))
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast cuts fractions and stops at the ends, which is what is wanted"
)]
fn whole(amount: f64) -> u64 {
    amount as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_cut_to_whole_ones_that_are_not_below_zero() {
        let table = [(2e9, 2_000_000_000), (1.9, 1), (0.0, 0), (-3.0, 0), (1e300, u64::MAX)];

        for (amount, instances) in table {
            assert_eq!(whole(amount), instances);
        }
    }
}
