//! Why a request is not done, in the words that clients of the GraphQL API read.
//!
//! What a reader would get wrong: the code decides whether the broker tries again. 400 to 499 is final
//! for it, everything else is temporary.

use base::failure::chain;
use clients::error::{Error as ClientError, Kind};

/// Component and reason of everything that is our own.
pub const COMPONENT: &str = "provisioner";
/// The reason when there is no better one.
pub const INTERNAL: &str = "err_provisioner_internal";
/// The component of the database.
pub const DATABASE: &str = "db - provisioner";

/// A numeric code, as clients read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The caller must ask for something else.
    BadRequest,
    /// The caller may not.
    Forbidden,
    /// Our fault.
    Internal,
    /// Another system reports a failure.
    External,
    /// Another system does not let us.
    BadGateway,
    /// The database failed.
    Database,
    /// There is no such thing.
    NotFound,
}

impl Code {
    /// The number.
    pub fn number(self) -> i32 {
        match self {
            Self::BadRequest => 400,
            Self::Forbidden => 403,
            Self::Internal => 500,
            Self::External => 501,
            Self::BadGateway => 502,
            Self::Database => 1,
            Self::NotFound => 2,
        }
    }
}

/// Why a request is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// For people.
    pub message: String,
    /// For machines.
    pub code: Code,
    /// A stable word for it.
    pub reason: String,
    /// The component that failed.
    pub component: String,
}

impl Error {
    /// The caller must ask for something else.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::own(Code::BadRequest, message)
    }

    /// The caller may not.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::own(Code::Forbidden, message)
    }

    /// Our fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::own(Code::Internal, message)
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: Code::NotFound,
            reason: "err_db_not_found".into(),
            component: DATABASE.into(),
        }
    }

    /// The database failed.
    pub fn database(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: Code::Database,
            reason: "err_db_internal".into(),
            component: DATABASE.into(),
        }
    }

    fn own(code: Code, message: impl Into<String>) -> Self {
        let (reason, component) = (INTERNAL.into(), COMPONENT.into());
        Self { message: message.into(), code, reason, component }
    }

    /// The same with what was being tried in front.
    #[must_use]
    pub fn while_doing(mut self, doing: &str) -> Self {
        self.message = format!("{doing}, {}", self.message);
        self
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        tracing::error!(error = chain(&error), "database request failed");
        Self::database("database request failed")
    }
}

impl From<engine::StorageError> for Error {
    fn from(error: engine::StorageError) -> Self {
        tracing::error!(error = chain(&error), "database request failed");
        Self::database("database request failed")
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        let code = match error.kind {
            Kind::Refused { status: 400..500 }
            | Kind::NotFound
            | Kind::AlreadyExists
            | Kind::Conflict => Code::BadRequest,
            Kind::Unauthorized => Code::BadGateway,
            _ => Code::Internal,
        };
        // Addresses and the words of our libraries are for operators.
        if error.source.is_some() {
            tracing::warn!(system = %error.component, error = chain(&error), "call failed");
        }
        let component = component(error.component.0);
        let reason = error.reason.as_deref().unwrap_or_else(|| error.kind.code()).to_owned();
        Self { message: error.to_string(), code, reason, component: component.into() }
    }
}

/// The name under which clients of the reference know a system.
pub fn component(system: &str) -> &str {
    match system {
        "director" => "compass director",
        "issuer" => "mps oauth2",
        "gardener" => "k8s client - gardener",
        "runtime" => "k8s client - cluster",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc};

    use clients::Component;

    use super::*;

    #[test]
    fn the_cause_of_a_failed_connection_is_not_told() {
        let cause = io::Error::other("connecting to 10.1.2.3:443: connection refused");
        let failed = ClientError {
            source: Some(Arc::new(cause)),
            ..ClientError::new(Component::DIRECTOR, Kind::Unavailable, "registering a runtime")
        };

        // The text of a runtime's connection status, too.
        let text = failed.to_string();
        let told = Error::from(failed);

        assert_eq!(text, "director: registering a runtime: unavailable");
        assert_eq!((told.message, told.reason), (text, "unavailable".to_owned()));
    }
}
