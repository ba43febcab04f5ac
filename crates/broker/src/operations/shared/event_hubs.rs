//! Azure, with the credentials of the global account's own subscription.

use clients::{
    Kind,
    azure::{Azure, Credentials, Settings},
    gardener::AccountNeed,
    kubernetes::Resource,
};
use engine::StepError;

use super::{System, missing_data, require_client};
use crate::{Order, operations::env::Env, overrides::objects::Secret};

const SECRETS: Resource = Resource::core("Secret", "secrets");

/// The subscription of an order's global account; whatever the plan, events go through Azure.
pub(in crate::operations) async fn azure(env: &Env, order: &Order) -> Result<Azure, StepError> {
    let hubs = require_client(env.event_hubs.as_ref(), System::EventHubs)?;
    let pool = env.gardener.pool(env.settings.account_bindings);
    let wanted = AccountNeed { hyperscaler: "azure", eu_access: order.resolved.eu_access };
    let binding = pool.claim(order.paying_account(), wanted).await;
    let binding = binding.map_err(|error| match error.kind {
        Kind::NotFound => StepError::transient(error.failure()),
        _ => error.into(),
    })?;
    let name = pool.name_for_shoot(&binding).unwrap_or_default();
    let secrets = hubs.garden.objects::<Secret>(SECRETS, Some(env.gardener.namespace()));
    let texts = secrets.get(name).await?;
    let texts = texts.texts()?;
    let value = |key: &str| {
        let found = texts.iter().find(|(name, _)| *name == key).map(|(_, text)| text.clone());
        found.ok_or_else(|| missing_data("the account's Secret lacks something"))
    };
    let credentials = Credentials {
        subscription_id: value("subscriptionID")?,
        tenant_id: value("tenantID")?,
        client_id: value("clientID")?,
        client_secret: value("clientSecret")?.into(),
    };
    let settings = Settings { cloud: hubs.cloud.clone(), credentials };
    Ok(Azure::through(hubs.gate.clone(), hubs.tokens.clone(), &settings)?)
}
