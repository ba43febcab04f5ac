//! Writes the `ConfigMap` with the issuers of the cluster's users, where the garden wants one.
//!
//! What a reader would get wrong: it comes before the Shoot names it, because Gardener refuses a Shoot whose `ConfigMap` is
//! not there. One that the Shoot names already is in force, so it is changed after the Shoot: by `Update_Shoot`, once Gardener
//! has accepted the rest.

use clients::{
    Error, Kind,
    gardener::{OPERATION_ANNOTATION, Shoot},
};
use engine::{Cx, Retry, Step, StepError, StepResult, done};
use serde_json::json;

use super::secs;
use crate::{
    operations::{OnRuntime, as_step_error, needed_shoot, note_all, note_warnings, shoot},
    shoots::{
        Dialect,
        authentication::{config_map_name, edited, is_named_by, issuer},
    },
};

/// How often a Shoot is read that changes between reading and writing.
const READS: usize = 5;

pub(in crate::operations) struct WriteAuthentication;

impl<O: OnRuntime> Step<O> for WriteAuthentication {
    const NAME: &'static str = "Write_Authentication";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let wanted = &cx.input.document.configuration.cluster;
        let live = shoot(cx).await?;
        let features = cx.env.gardener.features().await.map_err(as_step_error)?;
        let version = live.as_ref().and_then(|live| live.spec.kubernetes.as_ref());
        let version = version.and_then(|kubernetes| kubernetes.version.as_deref());
        let dialect = Dialect::of_change(&features, version, &wanted.kubernetes_version);
        if !dialect.structured_authentication {
            return done();
        }
        // What a Shoot was made with elsewhere is carried over, too.
        let Some(issuer) = issuer(wanted.oidc.as_ref(), live.as_ref()) else { return done() };
        let runtime = cx.input.target.runtime.to_string();
        let (gardener, name) = (&cx.env.gardener, config_map_name(&runtime));
        if live.is_some_and(|live| is_named_by(&live, &name)) {
            let there = gardener.config_map(&name, &runtime).await.map_err(as_step_error)?;
            if there.is_some() {
                return done();
            }
        }
        let contents = |there: Option<&_>| edited(there, &issuer);
        let written = gardener.edit_config_map(&name, &runtime, contents).await;
        note_all(cx, &written.map_err(as_step_error)?);
        done()
    }
}

/// Brings the issuer in the `ConfigMap` that an accepted Shoot names to the wanted one, and has the Shoot reconciled with it.
/// Answers with the Shoot as it is then.
pub(in crate::operations) async fn follow_up<O: OnRuntime>(
    cx: &mut Cx<'_, O>,
    accepted: Shoot,
) -> Result<Shoot, StepError> {
    let runtime = cx.input.target.runtime.to_string();
    let name = config_map_name(&runtime);
    let wanted = cx.input.document.configuration.cluster.oidc.as_ref();
    let Some(issuer) = issuer(wanted, Some(&accepted)).filter(|_| is_named_by(&accepted, &name))
    else {
        return Ok(accepted);
    };
    let contents = |there: Option<&_>| edited(there, &issuer);
    let there = cx.env.gardener.config_map(&name, &runtime).await.map_err(as_step_error)?;
    let differs = there.as_ref().is_none_or(|there| contents(Some(there)).differs_from(there));
    if !differs && !cx.data.issuer_changed {
        return Ok(accepted);
    }
    if differs {
        // A run that dies after the write still has the Shoot reconciled.
        cx.data.issuer_changed = true;
        cx.save().await?;
        let written = cx.env.gardener.edit_config_map(&name, &runtime, contents).await;
        note_all(cx, &written.map_err(as_step_error)?);
    }
    let changed = reconcile(cx, accepted).await?;
    note_warnings(cx, &changed);
    cx.data.issuer_changed = false;
    Ok(changed)
}

/// Has Gardener reconcile the Shoot. That it writes the state of the change that it has just been given holds nobody up.
async fn reconcile<O: OnRuntime>(cx: &Cx<'_, O>, mut read: Shoot) -> Result<Shoot, StepError> {
    for _ in 1..READS {
        match again(cx, &read).await {
            Err(error) if error.kind == Kind::Changed => read = needed_shoot(cx).await?,
            answer => return answer.map_err(as_step_error),
        }
    }
    again(cx, &read).await.map_err(as_step_error)
}

async fn again<O: OnRuntime>(cx: &Cx<'_, O>, read: &Shoot) -> Result<Shoot, Error> {
    // The word depends on the state that was read.
    let patch = json!({"metadata": {
        "resourceVersion": read.metadata.resource_version,
        "annotations": {OPERATION_ANNOTATION: read.next_try()},
    }});
    cx.env.gardener.merge(read.name(), &patch).await
}
