//! Orders, as the broker accepts them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use broker::{
    Context, Order,
    catalog::{Catalog, Offer, Orderer, Request, names},
    order::OperatorCredentials,
};
use serde_json::{Value, json};
use store::broker::NewInstance;

use crate::outside::local;

/// One order: its caller, plan and names.
pub(crate) struct OrderSpec<'a> {
    pub(crate) plan: &'a str,
    pub(crate) region: &'a str,
    pub(crate) parameters: Value,
    /// Makes everything about it its own.
    pub(crate) mark: String,
    /// The global account, unless it is its own too.
    pub(crate) account: Option<&'a str>,
}

impl OrderSpec<'_> {
    /// A cluster on AWS.
    pub(crate) fn aws(mark: &str) -> Self {
        OrderSpec {
            plan: "aws",
            region: "cf-eu10",
            parameters: json!({"name": "Demo", "region": "eu-central-1"}),
            mark: mark.into(),
            account: None,
        }
    }

    /// The global account.
    pub(crate) fn account(&self) -> String {
        self.account.map_or_else(|| format!("ga-{}", self.mark), str::to_owned)
    }

    /// The order, resolved.
    pub(crate) fn order(&self, catalog: &Catalog) -> Order {
        let (account, mark) = (self.account(), &self.mark);
        let plan = catalog.plan_named(self.plan).unwrap();
        let place = catalog.place(Some(self.region));
        let offer = Offer {
            plans: vec![self.plan.to_owned()],
            additional_parameters: true,
            customer_networks: local(),
            ..Offer::default()
        };
        let request =
            Request { place: &place, global_account: &account, parameters: Some(&self.parameters) };
        let accepted = catalog.check_provision(&offer, plan, &request).unwrap();
        let orderer = Orderer { user_id: "jo@example.test", license_type: None };
        let resolved = catalog.resolve(plan, &place, &accepted.parameters, &orderer, [7; 16]);
        let shoot = accepted.parameters.shoot_name.clone().unwrap_or_else(|| format!("c-{mark}"));
        Order {
            instance_id: format!("instance-{mark}"),
            service_id: catalog.service_id().into(),
            plan_id: plan.id().into(),
            plan_name: plan.name().into(),
            plan_kind: plan.kind(),
            platform_region: self.region.into(),
            platform_provider: place.provider,
            context: Context {
                subaccount_id: format!("SA-{mark}"),
                globalaccount_id: account,
                user_id: "jo@example.test".into(),
                sm_operator_credentials: Some(OperatorCredentials {
                    clientid: "operator".into(),
                    clientsecret: "hush-hush".to_owned().into(),
                    sm_url: "https://sm.example.test".into(),
                    url: "https://token.example.test".into(),
                    xsappname: String::new(),
                }),
                ..Context::default()
            },
            shoot_domain: names::shoot_domain(&shoot, "kyma.example.test"),
            shoot_name: shoot,
            dashboard_url: "https://dashboard.example.test".into(),
            subscription_account: None,
            context_revisions: broker::ContextRevisions::default(),
            parameters: accepted.parameters,
            resolved: resolved.unwrap(),
        }
    }
}

/// A cluster that is brought along.
pub(crate) fn own_cluster(mark: &str, shoot: &str, kubeconfig: &str) -> OrderSpec<'static> {
    OrderSpec {
        plan: "own_cluster",
        region: "cf-eu10",
        parameters: json!({
            "name": "Mine", "kubeconfig": BASE64_STANDARD.encode(kubeconfig), "shootName": shoot,
            "shootDomain": format!("{shoot}.example.test"),
        }),
        mark: mark.into(),
        account: None,
    }
}

/// The row of an order's instance.
pub(crate) fn row(order: &Order) -> NewInstance {
    NewInstance {
        id: order.instance_id.clone(),
        global_account: order.context.globalaccount_id.clone(),
        subaccount: order.context.subaccount_id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        plan_name: order.plan_name.clone(),
        provider: String::new(),
        region: String::new(),
        platform_region: order.platform_region.clone(),
        shoot_name: order.shoot_name.clone(),
        dashboard_url: order.dashboard_url.clone(),
        order: serde_json::to_vec(order).unwrap(),
        details: None,
    }
}
