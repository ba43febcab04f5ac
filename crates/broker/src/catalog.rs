//! Plans, their schemas, regions and machine types: what can be ordered, and what an order means.
//!
//! All of it is data (`config/catalog`), read once at the start and checked whole; the code knows kinds of plans, never
//! their names. Nothing here waits, calls or stores anything.

mod accounts;
mod bounds;
mod check;
mod data;
mod error;
mod files;
mod kubeconfig;
pub mod names;
mod nearest;
mod offer;
mod oidc;
mod plan;
mod platform_region;
mod print;
mod provision;
mod refusal;
mod resolve;
mod schema;
mod services;
mod update;
mod validate;

pub use accounts::Account;
pub use data::{Counting, Defaults, PlanLimits};
pub use error::{CatalogError, Finding};
pub use files::Files;
pub use offer::{BindingOffer, Offer};
pub use plan::Plan;
pub use platform_region::PlatformRegion;
pub use provision::{CheckedOrder, Request};
pub use refusal::{Refusal, Rule};
pub use resolve::Orderer;
pub use update::Change;

use data::{EuAccess, Providers, Regions, Service};

/// Everything that can be ordered.
#[derive(Debug, Clone)]
pub struct Catalog {
    service: Service,
    plans: Vec<Plan>,
    providers: Providers,
    regions: Regions,
    eu_access: EuAccess,
    defaults: Defaults,
}

impl Catalog {
    /// Reads and checks a catalog; an error names file, line and rule.
    pub fn load(files: &Files) -> Result<Self, CatalogError> {
        let plans: data::Plans = files.parse(files::PLANS)?;
        let catalog = Self {
            service: files.parse(files::SERVICE)?,
            plans: plans.plans.into_iter().map(Plan::new).collect(),
            providers: files.parse(files::PROVIDERS)?,
            regions: files.parse(files::REGIONS)?,
            eu_access: files.parse(files::EU_ACCESS)?,
            defaults: files.parse(files::DEFAULTS)?,
        };
        check::all(&catalog, Some(files))?;
        Ok(catalog)
    }

    /// The catalog that the program brings along.
    pub fn embedded() -> Result<Self, CatalogError> {
        Self::load(&Files::embedded())
    }

    /// The same catalog with other defaults, as the settings may have it.
    pub fn adjusted(mut self, adjust: impl FnOnce(&mut Defaults)) -> Result<Self, CatalogError> {
        adjust(&mut self.defaults);
        check::all(&self, None)?;
        Ok(self)
    }

    /// The id of the service that all plans belong to.
    pub fn service_id(&self) -> &str {
        &self.service.id
    }

    /// The name of the service that all plans belong to.
    pub fn service_name(&self) -> &str {
        &self.service.name
    }

    /// All plans, offered or not.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// The plan with this id, offered or not.
    pub fn plan(&self, id: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.id() == id)
    }

    /// The plan with this name, offered or not.
    pub fn plan_named(&self, name: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.name() == name)
    }

    /// Defaults of every cluster.
    pub fn defaults(&self) -> &Defaults {
        &self.defaults
    }
}
