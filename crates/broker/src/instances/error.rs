//! Why a use case refused or failed, and what the platform can do about it.

use engine::StorageError;
use store::error::Trouble;

use crate::catalog::Refusal;

/// A request that is not carried out. Nothing was changed, except where nobody can say.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something in the request is missing or wrong.
    #[error("{0}")]
    Bad(String),
    /// The catalog does not allow it.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The catalog does not allow these values in a change.
    #[error("{0}")]
    Unprocessable(Refusal),
    /// The instance cannot be changed in this way as it is now.
    #[error("{0}")]
    Unchangeable(String),
    /// The instance cannot have this plan, and repeating the request does not help.
    #[error("{0}")]
    PlanUnchangeable(String),
    /// There are enough instances already.
    #[error("{0}")]
    Limit(String),
    /// There is no provider account that could pay for it.
    #[error("no {0}")]
    Exhausted(String),
    /// It takes long, and the platform cannot wait.
    #[error("This service plan requires client support for asynchronous service operations.")]
    AsyncRequired,
    /// Another operation of the instance is in the way.
    #[error(
        "The Service Broker does not support concurrent requests that mutate the same resource."
    )]
    Busy,
    /// The platform believes in a maintenance that the catalog does not publish.
    #[error("maintenance_info was passed, but the broker catalog contains no maintenance_info")]
    MaintenanceInfo,
    /// The id is or was another instance's.
    #[error("{0}")]
    Taken(&'static str),
    /// There is no such thing, or none for this caller.
    #[error("{0}")]
    NotFound(String),
    /// There is nothing to remove.
    #[error("the instance does not exist")]
    Gone,
    /// The caller may not speak for this global account.
    #[error("the credentials are for another global account than context.globalaccount_id")]
    Foreign,
    /// Instances of this kind cannot be bound.
    #[error("binding is not supported: {0}")]
    NotBindable(String),
    /// The instance's runtime, or the way to it, is not there right now.
    #[error("the runtime of instance {instance} is not available, try again later")]
    Runtime {
        /// The instance.
        instance: String,
        /// The cause, for operators.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store is not there right now, or did not say whether it wrote.
    #[error("the database is not available, try again later")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Something is wrong here.
    #[error("something is wrong in the broker")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn runtime(
        instance: &str,
        source: Box<dyn std::error::Error + Send + Sync>,
    ) -> Self {
        Self::Runtime { instance: instance.to_owned(), source }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error.trouble() {
            Trouble::Broken | Trouble::Passing => Self::Unavailable(error.into()),
            Trouble::Data | Trouble::Misfit => Self::Internal(error.into()),
        }
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Unavailable(_) | StorageError::Unknown(_) => {
                Self::Unavailable(error.into())
            }
            StorageError::Refused(_) => Self::Internal(error.into()),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.into())
    }
}
