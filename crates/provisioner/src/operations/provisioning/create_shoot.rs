//! Creates the Shoot, and stores its uid, by which it is recognised from now on.

use clients::{Kind, gardener::BindingKind};
use engine::{Cx, Retry, Step, StepResult, done};
use store::provisioner::RuntimeChange;

use crate::{
    operations::{OnRuntime, as_step_error, note_warnings, shared::secs},
    shoots::{self, Owner},
};

pub(super) struct CreateShoot;

impl<O: OnRuntime> Step<O> for CreateShoot {
    const NAME: &'static str = "Create_Shoot";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let target = &cx.input.target;
        let owner = Owner {
            tenant: &target.tenant,
            subaccount: &target.subaccount,
            runtime_id: &target.runtime.to_string(),
            operation_id: &cx.root.to_string(),
        };
        let features = cx.env.gardener.features().await.map_err(as_step_error)?;
        let wanted = &cx.input.document.configuration;
        let mut shoot = shoots::build(wanted, &owner, &cx.env.rules, &features);
        if let Some(name) = shoot.spec.secret_binding_name.clone() {
            let account = match cx.env.gardener.account(&name).await {
                // Accounts may be named without the right to read them; Gardener then checks the name.
                Err(error) if error.kind == Kind::Unauthorized => None,
                account => account.map_err(as_step_error)?,
            };
            if account == Some(BindingKind::Credentials) {
                shoot.spec.secret_binding_name = None;
                shoot.spec.credentials_binding_name = Some(name);
            }
        }
        let made = cx.env.gardener.create(&shoot).await.map_err(as_step_error)?;
        note_warnings(cx, &made);
        let shoot_uid = made.metadata.uid;
        cx.change(&RuntimeChange { shoot_uid, ..RuntimeChange::default() })?;
        done()
    }
}
