//! The resource group with the event hubs, which the legacy plan makes in an Azure account of the global account.

use std::collections::BTreeMap;

use broker::{Order, operations::env::Env};
use clients::{
    CallLimits, Component, Gate,
    azure::{self, Azure, Credentials, Settings, name_for},
    gardener::{AccountNeed, BindingKind},
};
use serde_json::json;

use crate::landscape::Landscape;

impl Landscape {
    /// Claims the account, and makes the group in it. Gives the account's name.
    pub(crate) async fn furnish_event_hubs(&self, env: &Env, order: &Order) -> (String, Azure) {
        let pool = env.gardener.pool(BindingKind::Secret);
        let wanted = AccountNeed { hyperscaler: "azure", eu_access: false };
        let claimed = pool.claim(&order.context.globalaccount_id, wanted).await.unwrap();
        let account = pool.name_for_shoot(&claimed).unwrap().to_owned();
        let credentials = Credentials {
            subscription_id: format!("subscription-of-{account}"),
            tenant_id: "landscape".into(),
            client_id: format!("client-of-{account}"),
            client_secret: format!("secret-of-{account}").into(),
        };
        let with = json!({
            "subscription": credentials.subscription_id, "tenant": credentials.tenant_id,
            "client": credentials.client_id, "secret": format!("secret-of-{account}"),
        });
        self.running.landscape.order("azure", "add-subscription", &with).unwrap();
        let cloud = env.event_hubs.as_ref().unwrap().cloud.clone();
        let gate = |component| Gate::new(component, CallLimits::DEFAULT, self.clock.clone());
        let settings = Settings { cloud, credentials };
        let made = Azure::through(gate(azure::COMPONENT), gate(Component::ISSUER), &settings);
        let tags = BTreeMap::from([("InstanceID".to_owned(), order.instance_id.clone())]);
        let azure = made.unwrap();
        azure.put_group(&name_for(&order.instance_id), "westeurope", &tags).await.unwrap();
        (account, azure)
    }
}
