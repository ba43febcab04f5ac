//! Starts the installation of another version of Kyma, once the one before is done.

use base::Failure;
use clients::runtime::InstallState;
use engine::{Cx, Retry, Step, StepError, StepResult, done, wait};

use super::Upgrade;
use crate::{
    installing,
    operations::{as_step_error, on_runtime_error, runtime, shared::secs},
};

pub(super) struct StartUpgrade;

impl Step<Upgrade> for StartUpgrade {
    const NAME: &'static str = "Start_Upgrade";
    const CALLS: &'static [&'static str] = &["gardener", "runtime", "kyma releases"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(5), secs(30)).backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, Upgrade>) -> StepResult {
        let Some(kyma) = &cx.input.document.configuration.kyma else { return done() };
        let runtime = runtime(cx).await?;
        let found = match runtime.installation().await {
            Ok(found) => found,
            Err(error) => return Err(on_runtime_error(cx, error)),
        };
        match found.state {
            InstallState::Missing => {
                let text =
                    "error: Installation CR not found in the cluster, cannot trigger upgrade";
                let failure = Failure::new("kyma installer", "NoInstallation", text);
                return Err(StepError::fatal(failure));
            }
            // An earlier run of ours started it.
            _ if found.started_by == cx.root.to_string() => return done(),
            InstallState::InProgress => {
                return wait("another installation is in progress");
            }
            _ => {}
        }
        let release = cx.env.releases.find(&kyma.version).await.map_err(as_step_error)?;
        let started = match runtime.remove_installer().await {
            Ok(()) => {
                runtime.install(&release, &installing::install(kyma), &cx.root.to_string()).await
            }
            Err(error) => Err(error),
        };
        match started {
            Ok(()) => done(),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}
