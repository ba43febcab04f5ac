//! A catalog with everything offered, and short ways to order from it.

use broker::catalog::{
    Catalog, CheckedOrder, Files, Offer, Orderer, Plan, PlatformRegion, Refusal, Request,
};
use domain::parameters::{Cluster, Provisioning, ResolvedOrder};
use serde_json::Value;

/// The only global account that is invited to EU access.
pub(crate) const INVITED: &str = "ga-invited";
/// Every plan by its name.
pub(crate) const PLANS: [&str; 9] =
    ["azure", "azure_lite", "aws", "gcp", "openstack", "trial", "free", "own_cluster", "preview"];
/// A kubeconfig that leads somewhere.
pub(crate) const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
current-context: dev
clusters: [{name: dev, cluster: {server: https://api.dev.test}}]
contexts: [{name: dev, context: {cluster: dev, user: jo}}]
users: [{name: jo, user: {token: abc}}]
";

pub(crate) struct Shop {
    pub(crate) catalog: Catalog,
    pub(crate) offer: Offer,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let files = Files::embedded();
        let eu = files.text("eu-access.yaml").unwrap();
        let eu = eu.replace("whitelist: []", &format!("whitelist: [{INVITED}]"));
        let offer = Offer {
            plans: PLANS.map(str::to_owned).to_vec(),
            additional_parameters: true,
            ..Offer::default()
        };
        Self { catalog: Catalog::load(&files.with("eu-access.yaml", eu)).unwrap(), offer }
    }

    /// One that ignores what it does not know.
    pub(crate) fn open() -> Self {
        let shop = Self::new();
        Self { offer: Offer { closed: false, ..shop.offer.clone() }, ..shop }
    }

    pub(crate) fn plan(&self, name: &str) -> &Plan {
        self.catalog.plan_named(name).unwrap()
    }

    pub(crate) fn place(&self, region: &str) -> PlatformRegion {
        self.catalog.place(Some(region))
    }

    pub(crate) fn order(
        &self,
        plan: &str,
        region: &str,
        parameters: &Value,
    ) -> Result<CheckedOrder, Refusal> {
        let place = self.place(region);
        let request =
            Request { place: &place, global_account: INVITED, parameters: Some(parameters) };
        self.catalog.check_provision(&self.offer, self.plan(plan), &request)
    }

    pub(crate) fn resolve(
        &self,
        plan: &str,
        region: &str,
        parameters: &Provisioning,
    ) -> ResolvedOrder {
        let orderer = Orderer { user_id: "Jo@Example.test", license_type: None };
        let place = self.place(region);
        self.catalog.resolve(self.plan(plan), &place, parameters, &orderer, [7; 16]).unwrap()
    }

    /// The cluster that an order leads to.
    pub(crate) fn cluster(&self, plan: &str, region: &str, parameters: &Value) -> Cluster {
        let accepted = self.order(plan, region, parameters).unwrap();
        self.resolve(plan, region, &accepted.parameters).cluster.unwrap()
    }
}
