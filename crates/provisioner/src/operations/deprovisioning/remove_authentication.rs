//! Removes the `ConfigMap` with the issuers of the cluster's users, once the Shoot that named it is gone.

use engine::{Cx, Retry, Step, StepResult, done};

use crate::{
    operations::{OnRuntime, calling, shared::secs},
    shoots::authentication::config_map_name,
};

pub(super) struct RemoveAuthentication;

impl<O: OnRuntime> Step<O> for RemoveAuthentication {
    const NAME: &'static str = "Remove_Authentication";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let runtime = cx.input.target.runtime.to_string();
        let gardener = &cx.env.gardener;
        gardener.remove_config_map(&config_map_name(&runtime), &runtime).await.map_err(calling)?;
        done()
    }
}
