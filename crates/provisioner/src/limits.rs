//! How long each stage of an operation may take.

use std::time::Duration;

/// How long each stage may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageLimits {
    pub cluster_domain: Duration,
    pub cluster_creation: Duration,
    pub bindings_creation: Duration,
    pub installation_triggering: Duration,
    pub installation: Duration,
    pub agent_configuration: Duration,
    pub agent_connection: Duration,
    pub upgrade_triggering: Duration,
    pub shoot_refresh: Duration,
    pub shoot_upgrade: Duration,
    pub cluster_cleanup: Duration,
    pub uninstall_triggering: Duration,
    pub cluster_deletion: Duration,
    pub waiting_for_cluster_deletion: Duration,
    pub hibernation: Duration,
}

const fn mins(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

impl Default for StageLimits {
    fn default() -> Self {
        Self {
            cluster_domain: mins(10),
            cluster_creation: mins(120),
            bindings_creation: mins(5),
            installation_triggering: mins(20),
            installation: mins(60),
            agent_configuration: mins(15),
            agent_connection: mins(15),
            upgrade_triggering: mins(20),
            shoot_refresh: mins(5),
            shoot_upgrade: mins(90),
            cluster_cleanup: mins(20),
            uninstall_triggering: mins(5),
            cluster_deletion: mins(30),
            waiting_for_cluster_deletion: mins(240),
            hibernation: mins(60),
        }
    }
}

/// The longest that each operation may take. Callers that wait for an operation must wait longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LongestOperations {
    pub provisioning: Duration,
    pub upgrade: Duration,
    pub upgrade_shoot: Duration,
    pub deprovisioning: Duration,
    pub hibernation: Duration,
    pub reconnection: Duration,
}

impl StageLimits {
    /// The longest that provisioning may take.
    pub fn provisioning(&self) -> Duration {
        self.cluster_domain * 2
            + self.cluster_creation
            + self.bindings_creation
            + self.installation_triggering
            + self.installation
            + self.agent_configuration
            + self.agent_connection
    }

    /// The longest that an upgrade may take.
    pub fn upgrade(&self) -> Duration {
        self.upgrade_shoot() + self.upgrade_triggering + self.installation
    }

    /// The longest that other settings for a cluster may take.
    pub fn upgrade_shoot(&self) -> Duration {
        self.shoot_refresh * 2 + self.shoot_upgrade + self.bindings_creation
    }

    /// The longest that deprovisioning may take.
    pub fn deprovisioning(&self) -> Duration {
        self.cluster_cleanup
            + self.uninstall_triggering
            + self.cluster_deletion
            + self.waiting_for_cluster_deletion
    }

    /// The longest that falling asleep may take.
    pub fn hibernation(&self) -> Duration {
        self.shoot_refresh + self.hibernation
    }

    /// The longest that connecting anew may take.
    pub fn reconnection(&self) -> Duration {
        self.agent_configuration + self.agent_connection
    }

    /// The longest that each operation may take.
    pub fn longest(&self) -> LongestOperations {
        LongestOperations {
            provisioning: self.provisioning(),
            upgrade: self.upgrade(),
            upgrade_shoot: self.upgrade_shoot(),
            deprovisioning: self.deprovisioning(),
            hibernation: self.hibernation(),
            reconnection: self.reconnection(),
        }
    }
}
