//! Access of an operator to a runtime: a kubeconfig with a token that has all rights, for a while.
//!
//! What a reader would get wrong: it is a binding like others, so that nothing of it is left behind by a crash, and it goes with its
//! time or its instance. Platforms can neither make, read nor remove one, and it does not count among theirs.

use aws_lc_rs::digest::{SHA256, digest};
use domain::plan::Kind as PlanKind;
use store::broker::Instance;
use uuid::Uuid;

use super::{Bindings, Bound, bind::Wish};
use crate::{Order, instances::Error};

/// How the ids of such bindings begin.
pub(super) const PREFIX: &str = "kcp-operator-";

/// Whether only an operator's binding may have this id.
pub(super) fn is_reserved(id: &str) -> bool {
    id.starts_with(PREFIX)
}

impl Bindings {
    /// A kubeconfig of a runtime for an operator, whose name is `person`. The same person gets the same one again until half of its time
    /// is over.
    pub async fn operator_kubeconfig(
        &self,
        account: &str,
        runtime: &str,
        person: &str,
    ) -> Result<Bound, Error> {
        let lifetime = self.broker().parts().offer.operator_access.ok_or_else(|| {
            Error::NotFound("kubeconfigs of operators are switched off: bindings.operators".into())
        })?;
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
        // A wish has one id for half of its lifetime, so that half of it is left at least. A runtime that was made again, and another
        // lifetime, are other wishes: the binding of before would be of no use.
        let half = i64::try_from(lifetime.as_secs() / 2).unwrap_or(i64::MAX).max(1);
        let period = self.now().as_second() / half;
        let wish = format!("{person}\n{runtime}\n{}", lifetime.as_secs());
        let name = hex::encode(digest(&SHA256, wish.as_bytes()));
        let id = format!("{PREFIX}{}-{period}", name.get(..24).unwrap_or(&name));
        let wish = Wish { id: &id, lifetime, predecessor: None, most: u32::MAX };
        self.find_or_make(row, wish).await
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
