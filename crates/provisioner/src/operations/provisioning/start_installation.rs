//! Starts the installation of Kyma, unless it was started.

use clients::runtime::InstallState;
use engine::{Cx, Retry, Step, StepResult, done};

use crate::{
    installing,
    operations::{OnRuntime, as_step_error, on_runtime_error, runtime, shared::secs},
};

pub(super) struct StartInstallation;

impl<O: OnRuntime> Step<O> for StartInstallation {
    const NAME: &'static str = "Start_Installation";
    const CALLS: &'static [&'static str] = &["gardener", "runtime", "kyma releases"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let Some(kyma) = &cx.input.document.configuration.kyma else { return done() };
        let runtime = runtime(cx).await?;
        let found = match runtime.installation().await {
            Ok(found) => found,
            Err(error) => return Err(on_runtime_error(cx, error)),
        };
        // An earlier run of ours started it. Applying the release again would take its components back.
        if found.state != InstallState::Missing && found.started_by == cx.root.to_string() {
            return done();
        }
        let release = cx.env.releases.find(&kyma.version).await.map_err(as_step_error)?;
        match runtime.install(&release, &installing::install(kyma), &cx.root.to_string()).await {
            Ok(()) => done(),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}
