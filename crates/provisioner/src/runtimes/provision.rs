//! A new runtime: checked, registered in the Director, accepted.
//!
//! What a reader would get wrong: the Director's entry comes before the runtime's row, because its id is
//! the runtime's. The intent is what is left when we die in between: a repetition goes on with it, and a
//! chore cleans up after it.

use std::time::Duration;

use clients::{director::Registration, error::Kind};
use store::provisioner::{Intent, NewRuntime, NewRuntimeResult};
use tokio::time::timeout;
use uuid::Uuid;

use super::{
    Caller, Provisioner,
    access::uuid,
    begin::{TRIES, contended, order, started, used_key},
};
use crate::{
    Error, checking,
    configuration::{Configuration, DirectorEntry},
    document::Document,
    operations::{
        Input, Target, Versions,
        provisioning::{Provisioning, ProvisioningNoInstall},
    },
    requests,
    status::{OperationStatus, OperationType},
};

/// The label by which a registration is found again.
pub(crate) const INTENT_LABEL: &str = "kcp_intent";
/// How long a request waits for Gardener to say whether there is an account.
const PATIENCE: Duration = Duration::from_secs(3);

impl Provisioner {
    /// Makes a runtime.
    pub async fn provision(
        &self,
        caller: &Caller,
        request: requests::Provision,
    ) -> Result<OperationStatus, Error> {
        let asked = serde_json::to_vec(&request)
            .map_err(|error| Error::bad(format!("the request cannot be kept: {error}")))?;
        let given = request.runtime_id.clone();
        let configuration = checking::provision(request, &self.0.defaults)?;
        checking::shoot_name(&configuration.cluster.name, &self.0.env.rules.project)?;
        let tenant = caller.tenant()?;
        if let Some(kyma) = &configuration.kyma {
            self.check_release(&kyma.version).await?;
        }
        let given = match given {
            Some(id) => Some(self.registered(tenant, &id).await?),
            None => None,
        };
        let subaccount = caller.subaccount.as_deref().unwrap_or_default();
        let content = [subaccount.as_bytes(), b"\n", asked.as_slice()].concat();
        let key = caller.idempotency_key.clone();
        // Who repeats a request without a key after a lost answer gets the operation that it began, because no two
        // runtimes can be made of it.
        let key = key.unwrap_or_else(|| self.0.store.content_key(&content));
        let mut checked = false;
        for _ in 0..TRIES {
            let mut intent = self.0.store.begin_intent(tenant, Some(&key), &content).await?;
            if !intent.digest_matches {
                // Earlier versions left the subaccount out of the digest.
                intent = self.0.store.begin_intent(tenant, Some(&key), &asked).await?;
            }
            if !intent.digest_matches {
                return Err(used_key());
            }
            if let Some(operation) = intent.operation {
                if caller.idempotency_key.is_some() || self.lives(intent.runtime).await? {
                    return self.status_of(operation).await;
                }
                // The same request without a key after the runtime is gone: another runtime.
                self.0.store.forget_intent(intent.id, operation).await?;
                continue;
            }
            if !checked {
                self.check_binding(&configuration.cluster.target_secret, &intent).await?;
                checked = true;
            }
            if let Some(status) = self.carry_out(caller, &configuration, &intent, given).await? {
                return Ok(status);
            }
        }
        Err(contended(&configuration.cluster.name))
    }

    /// Whether a runtime is there, or on its way.
    async fn lives(&self, runtime: Option<Uuid>) -> Result<bool, Error> {
        let Some(runtime) = runtime else { return Ok(false) };
        let row = self.0.store.find(runtime).await?;
        Ok(row.is_some_and(|row| row.deleted_at.is_none()))
    }

    /// Whether there is such an account. Where Gardener does not say, it is left for the operation to find out.
    async fn check_binding(&self, name: &str, intent: &Intent) -> Result<(), Error> {
        let gardener = &self.0.env.gardener;
        match timeout(PATIENCE, gardener.account(name)).await {
            Ok(Ok(None)) => {
                if intent.new {
                    self.0.store.drop_intent(intent.id).await?;
                }
                Err(Error::bad(format!(
                    "clusterConfig.gardenerConfig.targetSecret: there is no SecretBinding or CredentialsBinding {name} in namespace {}",
                    gardener.namespace()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Whether there is such a release of Kyma.
    pub(super) async fn check_release(&self, version: &str) -> Result<(), Error> {
        match self.0.env.releases.find(version).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind == Kind::NotFound => {
                Err(Error::bad(format!("kymaConfig.version: Kyma Release {version} not found")))
            }
            Err(error) => Err(Error::from(error)),
        }
    }

    /// A runtime that the caller has registered.
    async fn registered(&self, tenant: &str, id: &str) -> Result<Uuid, Error> {
        let given = uuid(id, "runtime")
            .map_err(|_| Error::bad(format!("runtimeID: \"{id}\" is not a UUID")))?;
        let found = self.0.env.director.runtime(tenant, &given.to_string()).await;
        match found.map_err(registering)? {
            Some(_) => Ok(given),
            None => Err(Error::bad(format!(
                "runtimeID: Runtime {id} is not registered in Director for tenant {tenant}"
            ))),
        }
    }

    /// Registers and accepts. `None`: another request with the same key was faster, look again.
    async fn carry_out(
        &self,
        caller: &Caller,
        configuration: &Configuration,
        intent: &Intent,
        given: Option<Uuid>,
    ) -> Result<Option<OperationStatus>, Error> {
        let tenant = caller.tenant()?;
        let runtime = match (given, intent.runtime) {
            (Some(runtime), _) | (None, Some(runtime)) => runtime,
            (None, None) => match self.register(tenant, &configuration.entry, intent).await? {
                Some(runtime) => runtime,
                None => return Ok(None),
            },
        };
        let document = Document::new(configuration.clone());
        let id = caller.mark("provisionRuntime", runtime, &())?.id;
        let input = Input {
            target: Target {
                runtime,
                tenant: tenant.to_owned(),
                registered_tenant: None,
                subaccount: caller.subaccount.clone().unwrap_or_default(),
                shoot: configuration.cluster.name.clone(),
            },
            kyma: configuration.kyma.is_some(),
            known_as: match configuration.kyma {
                Some(_) => OperationType::Provision,
                None => OperationType::ProvisionNoInstall,
            },
            shoot: true,
            first_message: "Provisioning started".into(),
            requested: Versions::default(),
            digest: None,
            document,
        };
        let new = NewRuntime {
            id: runtime,
            tenant: tenant.to_owned(),
            subaccount: input.target.subaccount.clone(),
            shoot: input.target.shoot.clone(),
            document: input.document.bytes(),
        };
        let answer = started(id, runtime, &input);
        let order = if input.kyma {
            order::<Provisioning>(id, input)
        } else {
            order::<ProvisioningNoInstall>(id, input)
        }?;
        let refusal = match self.0.store.accept_new(&new, Some(intent.id), order).await? {
            NewRuntimeResult::Accepted => return Ok(Some(answer)),
            NewRuntimeResult::IntentGone => return Ok(None),
            NewRuntimeResult::NameTaken => Error::bad(format!(
                "clusterConfig.gardenerConfig.name: another runtime has the name {}",
                new.shoot
            )),
            NewRuntimeResult::IdTaken => {
                Error::bad(format!("runtimeID: Runtime {runtime} is in use already"))
            }
        };
        // Only what we have registered: what the caller brought is the caller's. What cannot be taken back now is left
        // with its intent to the chore.
        if given.is_some() || self.give_up(tenant, runtime).await {
            self.0.store.drop_intent(intent.id).await?;
        }
        Err(refusal)
    }

    /// Registers the runtime once, whatever became of earlier tries.
    async fn register(
        &self,
        tenant: &str,
        entry: &DirectorEntry,
        intent: &Intent,
    ) -> Result<Option<Uuid>, Error> {
        let registration = Registration {
            name: entry.name.clone(),
            description: entry.description.clone(),
            labels: entry.labels.clone(),
            condition: None,
        };
        let mark = intent.id.to_string();
        let director = &self.0.env.director;
        let made =
            director.register_once(tenant, &registration, (INTENT_LABEL, &mark), !intent.new).await;
        let id = match made {
            Ok(id) => id,
            Err(error) => {
                // Nothing was registered for sure: nothing is left to clean up. An earlier call may still be on its way.
                let unknown = [Kind::AnswerLost, Kind::Malformed, Kind::Unavailable];
                if intent.new && !unknown.contains(&error.kind) {
                    self.0.store.drop_intent(intent.id).await?;
                }
                return Err(registering(error));
            }
        };
        let runtime = Uuid::try_parse(&id).map_err(|_| {
            Error::internal(format!("Failed to register Runtime, \"{id}\" is not a UUID"))
        })?;
        match self.0.store.note_registered(intent.id, runtime).await {
            Ok(()) => Ok(Some(runtime)),
            Err(store::Error::Refused(_)) => {
                // Another request with the same key has registered one too.
                let orphan = self.0.store.note_orphan(tenant, runtime).await?;
                if self.give_up(tenant, runtime).await {
                    self.0.store.drop_intent(orphan).await?;
                }
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a registration back, and says whether that was done. When it fails, the chore does it.
    async fn give_up(&self, tenant: &str, runtime: Uuid) -> bool {
        let done = self.0.env.director.unregister(tenant, &runtime.to_string()).await;
        let Err(error) = done else { return true };
        let error = base::failure::chain(&error);
        tracing::warn!(runtime.id = %runtime, error, "a registration is left in the Director for now");
        false
    }
}

fn registering(error: clients::Error) -> Error {
    Error::from(error).while_doing("Failed to register Runtime")
}
