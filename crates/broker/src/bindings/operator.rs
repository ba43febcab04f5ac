//! Access of an operator to a runtime: a kubeconfig with a token that has all rights, for a while.
//!
//! What a reader would get wrong: it is a binding like others, so that nothing of it is left behind by a crash, and it goes with its
//! time or its instance. Platforms can neither make, read nor remove one, and it does not count among theirs.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use domain::plan::Kind as PlanKind;
use store::broker::Instance;
use uuid::Uuid;

use super::{BindingCredentials, Bindings, bind::BindingRequest};
use crate::{Order, instances::Error};

/// How the ids of such bindings begin.
pub(super) const PREFIX: &str = "kcp-operator-";

/// Whether only an operator's binding may have this id.
pub(super) fn is_reserved(id: &str) -> bool {
    id.starts_with(PREFIX)
}

/// The access that an operator wants to a runtime.
#[derive(Debug, Clone, Copy)]
pub struct OperatorAccess<'a> {
    /// The global account that the runtime belongs to.
    pub account: &'a str,
    /// The runtime.
    pub runtime: &'a str,
    /// Who wants it.
    pub person: &'a str,
    /// The run of a command that it is for alone, so that it can end with the run. Otherwise the person keeps it for its time.
    pub run: Option<&'a str>,
}

impl OperatorAccess<'_> {
    /// The binding. A wish has one id for half of its lifetime, so that half of it is left at least; one for a run has one id, by which
    /// it is ended. A runtime that was made again, and another lifetime, are other wishes: the binding of before would be of no use.
    fn id(&self, lifetime: Duration, now: i64) -> String {
        let Self { runtime, person, run, .. } = self;
        let half = i64::try_from(lifetime.as_secs() / 2).unwrap_or(i64::MAX).max(1);
        let wish = format!("{person}\n{runtime}\n{}", lifetime.as_secs());
        let (wish, period) = match run {
            Some(run) => (format!("{wish}\n{run}"), "run".to_owned()),
            None => (wish, (now / half).to_string()),
        };
        let name = hex::encode(digest(&SHA256, wish.as_bytes()));
        format!("{PREFIX}{}-{period}", name.get(..24).unwrap_or(&name))
    }
}

impl Bindings {
    /// A kubeconfig of a runtime for an operator. The same person gets the same one again until half of its time is over.
    pub async fn operator_kubeconfig(
        &self,
        wish: &OperatorAccess<'_>,
    ) -> Result<BindingCredentials, Error> {
        let lifetime = self.operators_lifetime()?;
        let OperatorAccess { account, runtime, .. } = wish;
        let missing = || {
            Error::NotFound(format!(
                "runtime {runtime} of the global account {account} does not exist"
            ))
        };
        let row = self.of_runtime(account, runtime).await?.ok_or_else(missing)?;
        let order: Order = serde_json::from_slice(&row.order)?;
        if order.plan_kind == PlanKind::OwnCluster {
            return Err(Error::NotFound(format!(
                "kubeconfig for instance {} does not exist: its cluster was brought along",
                row.id
            )));
        }
        let id = wish.id(lifetime, self.now().as_second());
        let wish = BindingRequest { id, lifetime, predecessor: None, most: u32::MAX };
        self.find_or_make(row, wish).await
    }

    /// Ends the access that a run had: its credentials are not accepted any more.
    pub async fn end_operator_access(&self, wish: &OperatorAccess<'_>) -> Result<(), Error> {
        let lifetime = self.operators_lifetime()?;
        let missing = || Error::NotFound(format!("runtime {} has no such access", wish.runtime));
        let row = self.of_runtime(wish.account, wish.runtime).await?.ok_or_else(missing)?;
        let id = wish.id(lifetime, self.now().as_second());
        let binding = self.store().find_binding(&row.id, &id).await?.ok_or_else(missing)?;
        self.end_binding(row, binding).await
    }

    fn operators_lifetime(&self) -> Result<Duration, Error> {
        self.broker().parts().offer.operator_access.ok_or_else(|| {
            Error::NotFound("kubeconfigs of operators are switched off: bindings.operators".into())
        })
    }

    /// The instance that a runtime of a global account belongs to.
    pub async fn instance_of(&self, account: &str, runtime: &str) -> Result<Option<String>, Error> {
        Ok(self.of_runtime(account, runtime).await?.map(|row| row.id))
    }

    async fn of_runtime(&self, account: &str, runtime: &str) -> Result<Option<Instance>, Error> {
        let Ok(id) = Uuid::parse_str(runtime) else { return Ok(None) };
        let row = self.store().find_by_runtime(id).await?;
        Ok(row.filter(|row| row.global_account == account && row.deleted_at.is_none()))
    }
}
