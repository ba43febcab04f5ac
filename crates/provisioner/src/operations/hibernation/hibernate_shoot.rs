//! Tells Gardener to let the cluster sleep.

use engine::{Cx, Retry, Step, StepResult, done};

use super::Hibernation;
use crate::operations::{as_step_error, needed_shoot, note_warnings, shared::secs};

pub(super) struct HibernateShoot;

impl Step<Hibernation> for HibernateShoot {
    const NAME: &'static str = "Hibernate_Shoot";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, Hibernation>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        let asked = shoot.spec.hibernation.as_ref().and_then(|hibernation| hibernation.enabled);
        if asked != Some(true) {
            let changed =
                cx.env.gardener.hibernate(shoot.name(), true).await.map_err(as_step_error)?;
            note_warnings(cx, &changed);
        }
        done()
    }
}
