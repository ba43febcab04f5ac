//! Refusals in the Director's words: a code and a name in the extensions of a GraphQL error.

use async_graphql::{Error, ErrorExtensions};
use uuid::Uuid;

use crate::store;

/// What is refused, and why. Has no `Display` on purpose: whatever has one turns into a GraphQL
/// error by itself, and then the code is missing.
#[derive(Debug)]
pub(super) enum Refusal {
    Internal(Uuid),
    NotFound(String),
    NotUnique(String),
    InvalidData { input: &'static str, field: String, problem: &'static str },
    InsufficientScopes { required: &'static str, actual: String },
    TenantRequired,
    TenantNotFound(String),
    Unauthorized(String),
}

impl Refusal {
    /// Code and name.
    pub(super) fn code(&self) -> (i32, &'static str) {
        match self {
            Self::Internal(_) => (10, "InternalError"),
            Self::NotFound(_) => (20, "NotFound"),
            Self::NotUnique(_) => (21, "NotUnique"),
            Self::InvalidData { .. } => (22, "InvalidData"),
            Self::InsufficientScopes { .. } => (23, "InsufficientScopes"),
            Self::TenantRequired => (24, "TenantRequired"),
            Self::TenantNotFound(_) => (25, "TenantNotFound"),
            Self::Unauthorized(_) => (26, "Unauthorized"),
        }
    }

    /// What callers read.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Internal(id) => format!("Internal Server Error [errorID={id}]"),
            Self::NotFound(id) => format!("Object not found [object=runtime; ID={id}]"),
            Self::NotUnique(name) => format!("Object is not unique [object=runtime; name={name}]"),
            Self::InvalidData { input, field, problem } => {
                format!("Invalid data {input} [{field}={problem}]")
            }
            Self::InsufficientScopes { required, actual } => {
                format!("insufficient scopes provided, required: [{required}], actual: [{actual}]")
            }
            Self::TenantRequired => "Tenant is required".into(),
            Self::TenantNotFound(tenant) => format!("Tenant not found [externalTenant={tenant}]"),
            Self::Unauthorized(reason) => format!("Unauthorized [reason={reason}]"),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let (code, name) = refusal.code();
        Error::new(refusal.message()).extend_with(|_, extensions| {
            extensions.set("error_code", code);
            extensions.set("error", name);
        })
    }
}

/// The cause is logged under the id; callers learn nothing else.
impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        let id = Uuid::new_v4();
        tracing::error!(%error, %id, "the director cannot keep a change");
        Self::Internal(id)
    }
}
