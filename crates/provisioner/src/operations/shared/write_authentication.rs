//! Writes the `ConfigMap` with the issuers of the cluster's users, where the garden wants one.
//!
//! What a reader would get wrong: it comes before the Shoot names it. Gardener refuses a Shoot whose `ConfigMap` is not
//! there, and reads it again whenever it reconciles the Shoot.

use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::{
    operations::{OnRuntime, calling, shoot},
    shoots::{
        Dialect,
        authentication::{config_map_data, config_map_name, of_shoot},
    },
};

pub(in crate::operations) struct WriteAuthentication;

impl<O: OnRuntime> Step<O> for WriteAuthentication {
    const NAME: &'static str = "Write_Authentication";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let wanted = &cx.input.document.configuration.cluster;
        let live = shoot(cx).await?;
        let features = cx.env.gardener.features().await.map_err(calling)?;
        let version = live.as_ref().and_then(|live| live.spec.kubernetes.as_ref());
        let version = version.and_then(|kubernetes| kubernetes.version.as_deref());
        let dialect = Dialect::of_change(&features, version, &wanted.kubernetes_version);
        if !dialect.structured_authentication {
            return done();
        }
        // What a Shoot was made with elsewhere is carried over, too.
        let issuer = wanted.oidc.clone().or_else(|| live.as_ref().and_then(of_shoot));
        if let Some(issuer) = issuer {
            let runtime = cx.input.target.runtime.to_string();
            let (name, data) = (config_map_name(&runtime), config_map_data(&[issuer]));
            let gardener = &cx.env.gardener;
            gardener.put_config_map(&name, &runtime, &data).await.map_err(calling)?;
        }
        done()
    }
}
