//! Bindings: credentials for a runtime, for a while.
//!
//! What a reader would get wrong: a bind is no operation of the engine. It takes seconds, and changes nothing of the instance, so that it
//! must not queue behind an update. What an operation would give it, that nothing is left behind by a crash, comes from the row that is
//! written before the runtime is called (`docs/decisions/0110`).

mod bind;
mod clean_up;
mod find;
mod kubeconfig;
mod making;
mod operator;
mod operator_secret;
mod parameters;
mod runtime;
mod unbind;

use std::{sync::Arc, time::Duration};

use clients::{kubernetes::Clusters, provisioner::Provisioner};
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::Value;
use store::{
    BrokerStore,
    broker::{Binding, Instance},
};

use crate::instances::{Broker, Caller, Error};

pub use find::{BindingSummary, LastBindingOperation};
pub use operator::OperatorAccess;

/// How long others leave a binding alone beyond the time that its maker may take: the maker takes back what it made, and a call of it
/// that is on its way arrives.
const GRACE: Duration = Duration::from_secs(60);
/// How long taking back or removing may take.
const REMOVING: Duration = Duration::from_secs(15);

/// The use cases. Clones are the same ones.
#[derive(Clone)]
pub struct Bindings(Arc<Inner>);

struct Inner {
    broker: Broker,
    reach: Option<RuntimeReach>,
    /// How long a bind may take.
    time: Duration,
}

/// How runtimes are reached.
pub struct RuntimeReach {
    /// The provisioner, which has their kubeconfigs.
    pub provisioner: Provisioner,
    /// Clients of the runtimes.
    pub clusters: Clusters,
}

/// Credentials that a platform asks for.
#[derive(Clone, Default)]
pub struct Bind {
    /// The instance.
    pub instance_id: String,
    /// The binding, as the platform calls it.
    pub binding_id: String,
    /// The service; empty when none was named.
    pub service_id: String,
    /// The plan; empty when none was named.
    pub plan_id: String,
    /// The parameters.
    pub parameters: Option<Value>,
    /// The binding that the new one is to replace.
    pub predecessor: Option<String>,
}

/// The end of a binding.
#[derive(Debug, Clone, Default)]
pub struct Unbind {
    /// The instance.
    pub instance_id: String,
    /// The binding.
    pub binding_id: String,
    /// The service; empty when none was named. Which one does not matter.
    pub service_id: String,
    /// The plan; empty when none was named. Which one does not matter.
    pub plan_id: String,
}

/// Credentials.
#[derive(Debug, Clone)]
pub struct BindingCredentials {
    /// The kubeconfig.
    pub kubeconfig: SecretString,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When a successor should be asked for.
    pub renew_before: Timestamp,
    /// For how long it was asked for.
    pub lifetime: Duration,
    /// Whether this request has made it.
    pub created: bool,
}

impl Bindings {
    /// The bindings of a broker's instances; a bind may take this `time`.
    pub fn new(broker: Broker, reach: RuntimeReach, time: Duration) -> Self {
        Self(Arc::new(Inner { broker, reach: Some(reach), time }))
    }

    /// Where no runtime can be reached. The catalog must not offer bindings then.
    pub fn without_runtimes(broker: Broker) -> Self {
        Self(Arc::new(Inner { broker, reach: None, time: Duration::ZERO }))
    }

    fn broker(&self) -> &Broker {
        &self.0.broker
    }

    fn store(&self) -> &BrokerStore {
        &self.broker().parts().store
    }

    fn now(&self) -> Timestamp {
        self.broker().parts().clock.now()
    }

    /// How long nobody else works on a binding that an attempt works on.
    fn hold(&self) -> Duration {
        self.0.time + REMOVING + GRACE
    }

    /// An instance that the caller may see, also when something of it is only left over.
    async fn instance(&self, caller: &Caller, id: &str) -> Result<Option<Instance>, Error> {
        let found = self.store().find(id).await?;
        Ok(found.filter(|row| caller.sees(&row.global_account)))
    }
}

/// Goes on when its caller hangs up. A binding that was taken and is not worked on would be nobody's until the hold is over.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.map_err(|error| Error::Internal(error.into()))?
}

/// Whether a binding can be used: it is there, has not expired, and its runtime is still the instance's.
fn is_usable(binding: &Binding, row: &Instance, now: Timestamp) -> bool {
    binding.credentials.is_some()
        && binding.expires_at > now
        && !is_of_another_runtime(binding, row)
}

/// Whether the runtime of a binding is not the instance's any more.
fn is_of_another_runtime(binding: &Binding, row: &Instance) -> bool {
    row.runtime_id != Some(binding.runtime) || row.deleted_at.is_some()
}

/// The credentials of a binding that can be used.
fn bound(binding: Binding, created: bool) -> Result<BindingCredentials, Error> {
    let credentials = binding.credentials.unwrap_or_default();
    let kubeconfig = String::from_utf8(credentials)
        .map_err(|_| Error::Internal("the credentials of a binding are not UTF-8".into()))?;
    Ok(BindingCredentials {
        kubeconfig: kubeconfig.into(),
        expires_at: binding.expires_at,
        renew_before: binding.expires_at - binding.lifetime / 5,
        lifetime: binding.lifetime,
        created,
    })
}
