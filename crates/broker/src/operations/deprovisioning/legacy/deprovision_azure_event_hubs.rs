//! Deletes the resource group with the instance's event hubs.
//!
//! What a reader would get wrong: whatever the plan, they stand in an Azure account of the global account.

use base::Failure;
use base64::{Engine, prelude::BASE64_STANDARD};
use clients::{
    azure::{Azure, Credentials, Progress, Settings},
    kubernetes::Resource,
};
use domain::plan::Kind as PlanKind;
use engine::{StepError, waiting};
use serde_json::Value;

use crate::operations::{
    deprovisioning::{Deprovisioning, as_transient, release_subscription::fits},
    prelude::*,
};

/// The tag that names the instance.
const TAG: &str = "InstanceID";

pub(super) struct DeprovisionAzureEventHubs;

impl Step<Deprovisioning> for DeprovisionAzureEventHubs {
    const NAME: &'static str = "Deprovision Azure Event Hubs";
    const CALLS: &'static [&'static str] = &["azure", "gardener"];
    const RETRY: Retry = Retry::every(secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let never = cx.input.order.plan_kind == PlanKind::Trial;
        if never || cx.data.details.event_hubs_deleted {
            return done();
        }
        let Some(azure) = azure(cx).await? else { return done() };
        let groups = azure.groups_tagged(TAG, cx.instance).await.map_err(as_transient)?;
        let group = match groups.as_slice() {
            [] => {
                cx.data.details.event_hubs_deleted = true;
                return done();
            }
            [group] => group,
            several => {
                let text = format!("{} resource groups say that they are ours", several.len());
                return Err(StepError::transient(Failure::new("azure", "several_groups", text)));
            }
        };
        let mut later = waiting(format!("resource group {} is being deleted", group.name));
        if !group.is_deleting()
            && let Progress::Running { retry_after: Some(after), .. } =
                azure.delete_group(&group.name).await.map_err(as_transient)?
        {
            later = later.at_latest(after);
        }
        later.into()
    }
}

/// The Azure account that the global account has; none is claimed for this.
async fn azure(cx: &Cx<'_, Deprovisioning>) -> Result<Option<Azure>, StepError> {
    let (env, order) = (cx.env, &cx.input.order);
    let Some(hubs) = &env.event_hubs else { return Ok(None) };
    let pool = env.gardener.pool(env.settings.account_bindings);
    let owned = pool.owned_by(order.paying_account()).await.map_err(as_transient)?;
    let Some(account) = owned.iter().find(|one| fits(cx, one, "azure")) else { return Ok(None) };
    let name = pool.name_for_shoot(account).unwrap_or_default();
    let secrets = Resource::core("Secret", "secrets");
    let secrets = hubs.garden.objects::<Value>(secrets, Some(env.gardener.namespace()));
    let Some(secret) = secrets.find(name).await.map_err(as_transient)? else { return Ok(None) };
    let credentials = credentials(&secret).ok_or_else(|| {
        let text = format!("the Secret of account {name} is not one of Azure");
        StepError::transient(Failure::new("gardener", "foreign_secret", text))
    })?;
    let settings = Settings { cloud: hubs.cloud.clone(), credentials };
    let azure = Azure::through(hubs.gate.clone(), hubs.tokens.clone(), &settings);
    azure.map(Some).map_err(as_transient)
}

fn credentials(secret: &Value) -> Option<Credentials> {
    let text = |key: &str| {
        let bytes = BASE64_STANDARD.decode(secret["data"][key].as_str()?).ok()?;
        String::from_utf8(bytes).ok()
    };
    Some(Credentials {
        subscription_id: text("subscriptionID")?,
        tenant_id: text("tenantID")?,
        client_id: text("clientID")?,
        client_secret: text("clientSecret")?.into(),
    })
}
