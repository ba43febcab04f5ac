//! Makes sure that the account can be named as newer versions of Kubernetes want it: by a `CredentialsBinding`.

use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::{
    operations::{OnRuntime, as_step_error, note_all, shoot},
    shoots::Dialect,
};

pub(in crate::operations) struct BindCredentials;

impl<O: OnRuntime> Step<O> for BindCredentials {
    const NAME: &'static str = "Bind_Credentials";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let wanted = &cx.input.document.configuration.cluster;
        let live = shoot(cx).await?;
        let features = cx.env.gardener.features().await.map_err(as_step_error)?;
        let spec = live.as_ref().map(|live| &live.spec);
        let version = spec.and_then(|spec| spec.kubernetes.as_ref()?.version.as_deref());
        let dialect = Dialect::of_change(&features, version, &wanted.kubernetes_version);
        let named = spec.and_then(|spec| spec.credentials_binding_name.as_deref());
        if dialect.new_names && named.is_none_or(str::is_empty) {
            let name = spec.and_then(|spec| spec.secret_binding_name.as_deref());
            let name = name.unwrap_or(&wanted.target_secret);
            let made = cx.env.gardener.put_credentials_binding(name).await;
            note_all(cx, &made.map_err(as_step_error)?);
        }
        done()
    }
}
