//! Steps that stand in several plans.

pub(super) mod bind_credentials;
pub(super) mod configure_agent;
pub(super) mod create_bindings;
pub(super) mod fetch_kubeconfig;
pub(super) mod mark_connected;
pub(super) mod update_shoot;
pub(super) mod wait_for_agent;
pub(super) mod wait_for_installation;
pub(super) mod wait_for_new_version;
pub(super) mod wait_for_shoot;
pub(super) mod write_authentication;

use std::time::Duration;

use base::Failure;
use clients::runtime::Installation;
use engine::StepError;

/// Seconds.
pub(super) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The report of the Kyma installer, as a failure.
pub(super) fn installer_failure(installation: &Installation) -> StepError {
    let names: Vec<&str> = installation.failed.iter().map(|(name, _)| name.as_str()).collect();
    let said: Vec<String> =
        installation.failed.iter().map(|(name, log)| format!("{name}: {log}")).collect();
    let reason = if names.is_empty() {
        "err_check_kyma_installation_state".into()
    } else {
        names.join(", ")
    };
    let text = format!(
        "Installation error occurred: {}{}{}",
        installation.description,
        if said.is_empty() { "" } else { ": " },
        said.join("; ")
    );
    StepError::transient(Failure::new("kyma installer", reason, text))
}
