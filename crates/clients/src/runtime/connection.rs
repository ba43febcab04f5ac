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

/// All that an agent tells about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// In its own words: `Synchronized`, `ConnectionFailed` …; empty before it has begun.
    pub state: String,
    /// When it connected last.
    pub established: Option<String>,
    /// What went wrong.
    pub errors: Vec<String>,
}

#[derive(Deserialize)]
struct Object {
    status: Option<Status>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    connection_state: String,
    #[serde(rename = "connectionStatus")]
    connecting: Part,
    #[serde(rename = "synchronizationStatus")]
    synchronizing: Part,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    established: Option<String>,
    error: Option<String>,
}

impl Report {
    /// The connection that its state means.
    pub fn connection(&self) -> Connection {
        match self.state.as_str() {
            "" => Connection::Missing,
            "Synchronized" | "SynchronizationFailed" | "MetadataUpdateFailed" => {
                Connection::Connected
            }
            "ConnectionFailed" => Connection::Failed,
            other => Connection::Pending(other.into()),
        }
    }
}

impl Runtime {
    /// The agent's own report. It is missing as long as its kind does not exist.
    pub async fn agent(&self) -> Result<Report, Error> {
        let connections = self.cluster.objects::<Object>(CONNECTIONS, None);
        let status = match connections.get(NAME).await {
            Err(error) if error.kind == Kind::NotFound => Status::default(),
            object => object?.status.unwrap_or_default(),
        };
        let errors = [status.connecting.error, status.synchronizing.error];
        Ok(Report {
            state: status.connection_state,
            established: status.connecting.established,
            errors: errors.into_iter().flatten().filter(|error| !error.is_empty()).collect(),
        })
    }

    /// How the agent is doing.
    pub async fn connection(&self) -> Result<Connection, Error> {
        Ok(self.agent().await?.connection())
    }

    /// Makes the agent forget its connection; it begins anew with what its Secret says.
    pub async fn forget_connection(&self) -> Result<(), Error> {
        let connections = self.cluster.objects::<Object>(CONNECTIONS, None);
        match connections.delete(NAME, None).await {
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            deleted => deleted.map(|_| ()),
        }
    }
}
