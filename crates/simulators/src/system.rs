//! The interface of simulated systems for the control API.

use serde::Serialize;
use serde_json::Value;

/// One thing that a system keeps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Object {
    /// Its kind.
    pub kind: &'static str,
    pub id: String,
    /// All of it, without secrets.
    pub value: Value,
}

/// An order that a system does not follow.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// It does not know the order.
    #[error("this system does not know the order \"{0}\"")]
    Unknown(String),
    /// The order lacks something, or has something wrong.
    #[error("{0}")]
    Invalid(String),
    /// It could not be carried out.
    #[error("{0}")]
    Failed(String),
}

/// A simulated system as its operator sees it.
pub trait System: Send + Sync {
    /// Its name, as the ledger and the trouble use it.
    fn name(&self) -> &'static str;
    /// Its purpose, in a sentence.
    fn purpose(&self) -> &'static str;
    /// Where its paths begin.
    fn base(&self) -> &'static str;
    /// The orders it knows.
    fn orders(&self) -> &'static [&'static str] {
        &[]
    }
    /// The last change that its log had when it was opened; the ledger may lack it.
    fn last_change(&self) -> Option<crate::store::Change> {
        None
    }
    /// Everything it keeps.
    fn objects(&self) -> Vec<Object>;
    /// Takes one thing away; says whether there was one.
    fn delete(&self, kind: &str, id: &str) -> Result<bool, crate::store::Error>;
    /// Forgets everything.
    fn reset(&self) -> Result<(), crate::store::Error>;
    /// Follows an order.
    fn order(&self, name: &str, with: &Value) -> Result<(), OrderError> {
        let _ = with;
        Err(OrderError::Unknown(name.into()))
    }
}
