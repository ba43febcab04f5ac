//! Removes the `ConfigMap` with the issuers of the cluster's users, once the Shoot that named it is gone.
//!
//! What a reader would get wrong: nothing here ends a removal. What cannot be removed is left, because the cluster is gone
//! and the `ConfigMap` opens nothing.

use clients::{
    Kind,
    gardener::{Features, Field},
};
use engine::{Cx, Retry, Step, StepError, StepResult, done};

use crate::{
    operations::{OnRuntime, as_step_error, shared::secs},
    shoots::{Dialect, authentication::config_map_name},
};

pub(super) struct RemoveAuthentication;

impl<O: OnRuntime> Step<O> for RemoveAuthentication {
    const NAME: &'static str = "Remove_Authentication";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let gardener = &cx.env.gardener;
        let features = gardener.features().await.map_err(left_over)?;
        if !features.has(Field::StructuredAuthentication) {
            return done();
        }
        let runtime = cx.input.target.runtime.to_string();
        match gardener.remove_config_map(&config_map_name(&runtime), &runtime).await {
            // An account that may not read ConfigMaps has made none.
            Err(error) if error.kind == Kind::Unauthorized && is_in_shoot(cx, &features) => {
                cx.note("the issuer was in the Shoot, and ConfigMaps cannot be read");
                done()
            }
            Err(error) => Err(left_over(error)),
            Ok(()) => done(),
        }
    }
}

/// Whether the issuer of the runtime's users stands in the Shoot itself, as far as its version tells.
fn is_in_shoot<O: OnRuntime>(cx: &Cx<'_, O>, features: &Features) -> bool {
    let version = &cx.input.document.configuration.cluster.kubernetes_version;
    !Dialect::of(features, version).structured_authentication
}

/// However final a failure is: the plan goes on without this step when its time is up.
fn left_over(error: clients::Error) -> StepError {
    match as_step_error(error) {
        StepError::Fatal(failure) => StepError::transient(failure),
        other => other,
    }
}
