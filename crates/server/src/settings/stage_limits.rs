//! How long the stages of the provisioner's operations may take.

use std::time::Duration;

use confique::Config;
use provisioner::limits::StageLimits;

use super::values::friendly;

/// How long the stages of operations may take.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct StageLimitSettings {
    /// Until the cluster has a domain.
    #[config(env = "KCP_PROVISIONER_LIMIT_CLUSTER_DOMAIN", default = "10m", deserialize_with = friendly)]
    pub cluster_domain: Duration,
    /// Until the cluster is made.
    #[config(env = "KCP_PROVISIONER_LIMIT_CLUSTER_CREATION", default = "2h", deserialize_with = friendly)]
    pub cluster_creation: Duration,
    /// Until operators and administrators are let in.
    #[config(env = "KCP_PROVISIONER_LIMIT_BINDINGS_CREATION", default = "5m", deserialize_with = friendly)]
    pub bindings_creation: Duration,
    /// Until the installation of Kyma has begun.
    #[config(env = "KCP_PROVISIONER_LIMIT_INSTALLATION_TRIGGERING", default = "20m", deserialize_with = friendly)]
    pub installation_triggering: Duration,
    /// Until Kyma is installed.
    #[config(env = "KCP_PROVISIONER_LIMIT_INSTALLATION", default = "1h", deserialize_with = friendly)]
    pub installation: Duration,
    /// Until the agent has its token.
    #[config(env = "KCP_PROVISIONER_LIMIT_AGENT_CONFIGURATION", default = "15m", deserialize_with = friendly)]
    pub agent_configuration: Duration,
    /// Until the agent has connected.
    #[config(env = "KCP_PROVISIONER_LIMIT_AGENT_CONNECTION", default = "15m", deserialize_with = friendly)]
    pub agent_connection: Duration,
    /// Until an upgrade of Kyma has begun.
    #[config(env = "KCP_PROVISIONER_LIMIT_UPGRADE_TRIGGERING", default = "20m", deserialize_with = friendly)]
    pub upgrade_triggering: Duration,
    /// Until Gardener has seen a change.
    #[config(env = "KCP_PROVISIONER_LIMIT_SHOOT_REFRESH", default = "5m", deserialize_with = friendly)]
    pub shoot_refresh: Duration,
    /// Until Gardener is done with a change.
    #[config(env = "KCP_PROVISIONER_LIMIT_SHOOT_UPGRADE", default = "90m", deserialize_with = friendly)]
    pub shoot_upgrade: Duration,
    /// Until what brokers made in a cluster is removed.
    #[config(env = "KCP_PROVISIONER_LIMIT_CLUSTER_CLEANUP", default = "20m", deserialize_with = friendly)]
    pub cluster_cleanup: Duration,
    /// Until the removal of Kyma has begun.
    #[config(env = "KCP_PROVISIONER_LIMIT_UNINSTALL_TRIGGERING", default = "5m", deserialize_with = friendly)]
    pub uninstall_triggering: Duration,
    /// Until Gardener has begun to delete.
    #[config(env = "KCP_PROVISIONER_LIMIT_CLUSTER_DELETION", default = "30m", deserialize_with = friendly)]
    pub cluster_deletion: Duration,
    /// Until the cluster is gone.
    #[config(env = "KCP_PROVISIONER_LIMIT_WAITING_FOR_CLUSTER_DELETION", default = "4h", deserialize_with = friendly)]
    pub waiting_for_cluster_deletion: Duration,
    /// Until the cluster sleeps.
    #[config(env = "KCP_PROVISIONER_LIMIT_HIBERNATION", default = "1h", deserialize_with = friendly)]
    pub hibernation: Duration,
}

impl StageLimitSettings {
    /// As the plans take them.
    pub fn limits(&self) -> StageLimits {
        let Self {
            cluster_domain,
            cluster_creation,
            bindings_creation,
            installation_triggering,
            installation,
            agent_configuration,
            agent_connection,
            upgrade_triggering,
            shoot_refresh,
            shoot_upgrade,
            cluster_cleanup,
            uninstall_triggering,
            cluster_deletion,
            waiting_for_cluster_deletion,
            hibernation,
        } = *self;
        StageLimits {
            cluster_domain,
            cluster_creation,
            bindings_creation,
            installation_triggering,
            installation,
            agent_configuration,
            agent_connection,
            upgrade_triggering,
            shoot_refresh,
            shoot_upgrade,
            cluster_cleanup,
            uninstall_triggering,
            cluster_deletion,
            waiting_for_cluster_deletion,
            hibernation,
        }
    }
}
