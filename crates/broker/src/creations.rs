//! Things that `AvS` and LMS make and cannot be asked for afterwards: every call is written down before it leaves, and stays so
//! until its result is stored with the operation, or until an operator settles it.
//!
//! What a reader would get wrong: an id that has arrived is not lost with the lease. When it cannot be stored with the operation, it is
//! written beside it, however long the database is away, and the next run of the step takes it from there.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::{Clock, failure::chain};
use clients::{Error, Kind};
use engine::{OperationId, StepError};
use store::{
    BrokerStore,
    broker::{Creation, NewCreation},
};
use uuid::Uuid;

/// How soon an answer that could not be stored is tried to be stored again, and how often.
const PAUSE: Duration = Duration::from_secs(1);
const TRIES: usize = 3_600;

/// An object that is about to be created, and its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCreation<'a> {
    /// The system that makes it.
    pub system: &'static str,
    /// Its name in that system.
    pub name: &'a str,
    /// For which instance.
    pub instance: &'a str,
    /// By which operation.
    pub operation: OperationId,
}

/// The calls that have been written down. Clones are the same ones.
#[derive(Clone)]
pub struct Creations(Arc<Inner>);

struct Inner {
    store: BrokerStore,
    clock: Clock,
    /// Answers that this process has and the database not yet.
    unwritten: Mutex<Vec<(Uuid, UnwrittenAnswer)>>,
}

#[derive(Clone, PartialEq, Eq)]
struct UnwrittenAnswer {
    system: &'static str,
    name: String,
    operation: OperationId,
    answer: String,
}

/// The id of something that was made. Dropped before [`CreatedObject::stored`] is called, it is written beside the operation.
#[must_use = "it is to be stored with the operation"]
pub struct CreatedObject {
    /// The call, to be named in the commit that stores the id.
    pub call: Uuid,
    pub id: String,
    unstored: Option<(Creations, UnwrittenAnswer)>,
}

impl CreatedObject {
    /// The operation has the id.
    pub fn stored(mut self) {
        if let Some((creations, _)) = self.unstored.take() {
            creations.unwritten().retain(|(call, _)| *call != self.call);
        }
    }
}

impl Drop for CreatedObject {
    fn drop(&mut self) {
        if let Some((creations, arrived)) = self.unstored.take() {
            creations.write_later(self.call, arrived);
        }
    }
}

impl Creations {
    /// Writes them down in `store`.
    pub fn new(store: BrokerStore, clock: Clock) -> Self {
        Self(Arc::new(Inner { store, clock, unwritten: Mutex::default() }))
    }

    /// The broker's rows, beside which they are written.
    pub(crate) fn store(&self) -> &BrokerStore {
        &self.0.store
    }

    /// Makes something, unless an earlier run has made it and could not store its id.
    pub async fn create<F>(
        &self,
        thing: PlannedCreation<'_>,
        call: F,
    ) -> Result<CreatedObject, StepError>
    where
        F: Future<Output = Result<String, Error>> + Send,
    {
        if let Some(found) = self.arrived(thing).await? {
            return Ok(found);
        }
        let PlannedCreation { system, name, instance, operation } = thing;
        let new = NewCreation { system, name, instance, operation };
        let id = self.0.store.begin_creation(new).await.map_err(|error| internal(&error))?;
        match call.await {
            Ok(answer) => Ok(self.created(id, thing, answer)),
            Err(error) => {
                if !may_be_made(&error) {
                    self.forget(id).await;
                }
                Err(error.into())
            }
        }
    }

    /// The recorded calls for an instance whose results were never stored with an operation.
    pub async fn of(&self, instance: &str) -> Result<Vec<Creation>, store::Error> {
        self.0.store.creations_of(instance).await
    }

    /// Forgets a call that made nothing, or whose thing is gone. Should it not be forgotten, too much is listed.
    pub async fn forget(&self, call: Uuid) {
        if let Err(error) = self.0.store.forget_creation(call).await {
            tracing::warn!(error = chain(&error), %call, "store: a call stays listed as unconfirmed");
        }
    }

    fn created(&self, call: Uuid, thing: PlannedCreation<'_>, id: String) -> CreatedObject {
        let PlannedCreation { system, operation, .. } = thing;
        let name = thing.name.to_owned();
        let arrived = UnwrittenAnswer { system, name, operation, answer: id.clone() };
        CreatedObject { call, id, unstored: Some((self.clone(), arrived)) }
    }

    /// The response to an earlier run of the operation.
    async fn arrived(
        &self,
        thing: PlannedCreation<'_>,
    ) -> Result<Option<CreatedObject>, StepError> {
        let here = self.unwritten().iter().find(|(_, it)| is_of(it, thing)).cloned();
        if let Some((call, arrived)) = here {
            return Ok(Some(self.created(call, thing, arrived.answer)));
        }
        let written = self.0.store.creations_of(thing.instance).await;
        let written = written.map_err(|error| internal(&error))?;
        let fits = |it: &Creation| {
            it.system == thing.system && it.name == thing.name && it.operation == thing.operation
        };
        let found = written.into_iter().filter(fits).find_map(|it| Some((it.id, it.answer?)));
        Ok(found.map(|(call, answer)| self.created(call, thing, answer)))
    }

    fn write_later(&self, call: Uuid, arrived: UnwrittenAnswer) {
        let mut unwritten = self.unwritten();
        if unwritten.iter().any(|(known, _)| *known == call) {
            return;
        }
        unwritten.push((call, arrived.clone()));
        drop(unwritten);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let creations = self.clone();
        runtime.spawn(async move {
            for _ in 0..TRIES {
                match creations.0.store.answer_creation(call, &arrived.answer).await {
                    Ok(()) => break,
                    Err(error) => {
                        let (system, id) = (arrived.system, &arrived.answer);
                        tracing::warn!(
                            error = chain(&error),
                            system,
                            id,
                            "store: an id cannot be written yet"
                        );
                        creations.0.clock.sleep(PAUSE).await;
                    }
                }
            }
            creations.unwritten().retain(|(known, _)| *known != call);
        });
    }

    fn unwritten(&self) -> std::sync::MutexGuard<'_, Vec<(Uuid, UnwrittenAnswer)>> {
        self.0.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_of(arrived: &UnwrittenAnswer, thing: PlannedCreation<'_>) -> bool {
    arrived.system == thing.system
        && arrived.name == thing.name
        && arrived.operation == thing.operation
}

/// Whether a call that failed may have made something all the same: its answer was lost or made no sense, or a gateway said that it
/// did not get one.
fn may_be_made(error: &Error) -> bool {
    match error.kind {
        Kind::AnswerLost | Kind::Malformed => true,
        // Without a connection nothing was sent.
        Kind::Unavailable => error.source.is_none(),
        _ => false,
    }
}

fn internal(error: &store::Error) -> StepError {
    StepError::internal(error)
}

#[cfg(test)]
mod tests;
