//! Why no request can be made of what was collected.

use base::Failure;
use engine::StepError;

/// Why no request can be made. Trying again does not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreatorError {
    /// The order brings its cluster: there is none to make.
    #[error("the order brings its own cluster, so none can be ordered")]
    NoCluster,
    /// Something is not known that must be.
    #[error("{0} is not known")]
    Missing(&'static str),
    /// A zone's name is not one of its provider's.
    #[error("\"{0}\" is not the name of a zone")]
    Zone(String),
    /// A zone has no networks where the provider asks for them.
    #[error("zone {0} has no networks")]
    Networks(String),
    /// The operator for the Service Manager would start without something it needs.
    #[error("the component btp-operator has no {0}")]
    Operator(&'static str),
}

impl From<CreatorError> for StepError {
    fn from(error: CreatorError) -> Self {
        Self::fatal(Failure::new("broker", "invalid_operation_data", error.to_string()))
    }
}
