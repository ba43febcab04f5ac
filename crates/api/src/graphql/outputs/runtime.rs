//! How a runtime is doing.

use async_graphql::SimpleObject;
use provisioner::status::{self, ConnectionState, Hibernation};

use super::{cluster::GardenerConfig, kyma::KymaConfig, operation::OperationStatus};

/// How a runtime is doing.
#[derive(SimpleObject)]
pub(in crate::graphql) struct RuntimeStatus {
    /// The newest operation.
    last_operation_status: Option<OperationStatus>,
    runtime_connection_status: Option<RuntimeConnectionStatus>,
    runtime_configuration: Option<RuntimeConfig>,
    hibernation_status: Option<Hibernation>,
}

#[derive(SimpleObject)]
struct RuntimeConnectionStatus {
    status: ConnectionState,
    errors: Option<Vec<Error>>,
}

#[derive(SimpleObject)]
struct Error {
    message: Option<String>,
}

#[derive(SimpleObject)]
struct RuntimeConfig {
    cluster_config: Option<GardenerConfig>,
    kyma_config: Option<KymaConfig>,
    /// The kubeconfig, once the cluster is there. Needs the scope provisioner:kubeconfig.
    kubeconfig: Option<String>,
}

impl From<status::RuntimeStatus> for RuntimeStatus {
    fn from(status: status::RuntimeStatus) -> Self {
        let configuration = status.configuration;
        Self {
            last_operation_status: status.last_operation.map(Into::into),
            runtime_connection_status: Some(status.connection.into()),
            runtime_configuration: Some(RuntimeConfig {
                cluster_config: Some(configuration.cluster.into()),
                kyma_config: configuration.kyma.map(Into::into),
                kubeconfig: status.kubeconfig,
            }),
            hibernation_status: Some(status.hibernation),
        }
    }
}

impl From<status::ConnectionStatus> for RuntimeConnectionStatus {
    fn from(status: status::ConnectionStatus) -> Self {
        let error = |message| Error { message: Some(message) };
        let errors: Vec<_> = status.errors.into_iter().map(error).collect();
        Self { status: status.state, errors: Some(errors).filter(|all| !all.is_empty()) }
    }
}
