//! Waits until Kyma is installed.

use base::Failure;
use clients::runtime::InstallState;
use engine::{Cx, Retry, Step, StepError, StepResult, done, wait};

use super::{installer_failure, secs};
use crate::operations::{OnRuntime, on_runtime_error, runtime};

pub(in crate::operations) struct WaitForInstallation;

impl<O: OnRuntime> Step<O> for WaitForInstallation {
    const NAME: &'static str = "Wait_For_Installation";
    const CALLS: &'static [&'static str] = &["gardener", "runtime"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(30)).backing_off(secs(5), secs(30));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let runtime = runtime(cx).await?;
        let installation = match runtime.installation().await {
            Ok(installation) => installation,
            Err(error) => return Err(on_runtime_error(cx, error)),
        };
        let wanted = cx.input.document.configuration.kyma.as_ref();
        let other = |version: &str| {
            !version.is_empty() && wanted.is_some_and(|kyma| kyma.version != version)
        };
        match installation.state {
            // The installer of an older release may still be reporting.
            InstallState::Installed if other(&installation.version) => {
                wait("the installer has not begun with the new version")
            }
            InstallState::Installed => done(),
            InstallState::Error => Err(installer_failure(&installation)),
            InstallState::Idle => wait("the installer has not begun"),
            InstallState::Missing => {
                let text = "installation not yet started";
                Err(StepError::transient(Failure::new("kyma installer", "NoInstallation", text)))
            }
            InstallState::InProgress | InstallState::Other(_) => {
                wait(format!("Installation in progress: {}", installation.description))
            }
        }
    }
}
