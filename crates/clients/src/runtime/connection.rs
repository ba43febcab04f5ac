//! Whether the runtime's agent has connected to the Director.

use serde::Deserialize;

use super::Runtime;
use crate::{
    error::{Error, Kind},
    kubernetes::Resource,
};

const CONNECTIONS: Resource = Resource {
    group: "compass.kyma-project.io",
    version: "v1alpha1",
    kind: "CompassConnection",
    plural: "compassconnections",
};
const NAME: &str = "compass-connection";

/// How the agent is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// There is no agent yet, or it has not begun.
    Missing,
    /// It is at it; the state in its own words.
    Pending(String),
    /// It has connected. What failed after that is the agent's business.
    Connected,
    /// It could not connect and needs to be configured again.
    Failed,
}

#[derive(Deserialize)]
struct Object {
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    connection_state: String,
}

impl Runtime {
    /// How the agent is doing. As long as its kind is not there, it is missing.
    pub async fn connection(&self) -> Result<Connection, Error> {
        let connections = self.cluster.objects::<Object>(CONNECTIONS, None);
        let state = match connections.get(NAME).await {
            Err(error) if error.kind == Kind::NotFound => return Ok(Connection::Missing),
            object => object?.status.map(|status| status.connection_state),
        };
        Ok(match state.unwrap_or_default().as_str() {
            "" => Connection::Missing,
            "Synchronized" | "SynchronizationFailed" | "MetadataUpdateFailed" => {
                Connection::Connected
            }
            "ConnectionFailed" => Connection::Failed,
            other => Connection::Pending(other.into()),
        })
    }
}
