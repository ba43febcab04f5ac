//! Tells Gardener where the audit log of the cluster goes.

use clients::gardener::Shoot;
use engine::{Applies, Condition, Cx, Retry, Step, StepResult, done};
use serde_json::json;

use crate::{
    operations::{OnRuntime, as_step_error, needed_shoot, note_warnings, shared::secs},
    shoots::{AUDIT_TENANT_ANNOTATION, audit_tenant},
};

/// The seed's condition whose message names the landscape of the audit log.
const CONDITION: &str = "AuditlogServiceAvailability";

pub(super) struct SetAuditTenant;

/// Whether anybody said where audit logs go.
pub(super) const fn is_configured<O: OnRuntime>() -> Condition<O> {
    Condition::new("an audit log is configured", |cx| {
        Applies::when(!cx.env.audit_tenants.is_empty(), "no audit log is configured")
    })
}

impl<O: OnRuntime> Step<O> for SetAuditTenant {
    const NAME: &'static str = "Set_Audit_Tenant";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20)).failing_for(secs(300));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot: Shoot = needed_shoot(cx).await?;
        let Some(name) = shoot.spec.seed_name.as_deref() else { return done() };
        let Some(seed) = cx.env.gardener.seed(name).await.map_err(as_step_error)? else {
            return done();
        };
        let provider = seed["spec"]["provider"]["type"].as_str().unwrap_or_default();
        let conditions = seed["status"]["conditions"].as_array();
        let condition = conditions.into_iter().flatten().find(|one| one["type"] == CONDITION);
        let message = condition.and_then(|one| one["message"].as_str()).unwrap_or_default();
        let tenant = audit_tenant(&cx.env.audit_tenants, provider, message);
        if tenant.is_some() && shoot.annotation(AUDIT_TENANT_ANNOTATION) != tenant {
            let patch = json!({"metadata": {"annotations": {AUDIT_TENANT_ANNOTATION: tenant}}});
            let changed = cx.env.gardener.merge(shoot.name(), &patch).await;
            note_warnings(cx, &changed.map_err(as_step_error)?);
        }
        done()
    }
}
