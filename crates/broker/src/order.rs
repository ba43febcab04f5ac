//! An order, with its context. Stored sealed: it holds credentials.

use clients::btp::ManagerCredentials;
use domain::{
    parameters::{Provisioning, ResolvedOrder, Sensitive},
    plan::{Kind, Provider},
};
use serde::{Deserialize, Serialize};

/// The order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The instance, as the platform calls it.
    pub instance_id: String,
    /// The service.
    pub service_id: String,
    pub plan_id: String,
    /// The plan's name.
    pub plan_name: String,
    /// The kind of the plan.
    pub plan_kind: Kind,
    /// The region of the platform, from the path; may be empty.
    pub platform_region: String,
    /// The provider that the platform's region stands on.
    pub platform_provider: Option<Provider>,
    /// The context of the order.
    pub context: Context,
    /// The parameters of the request.
    pub parameters: Provisioning,
    /// The resolved order: every default filled in, the zones drawn.
    pub resolved: ResolvedOrder,
    /// The Shoot's name.
    pub shoot_name: String,
    /// The cluster's domain.
    pub shoot_domain: String,
    /// Where its owner manages the cluster.
    pub dashboard_url: String,
    /// The global account whose provider account pays, where the instance has moved to another one since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_account: Option<String>,
    /// How often values of the context were stored that no operation carries to the runtime.
    #[serde(default, skip_serializing_if = "ContextRevisions::is_unset")]
    pub context_revisions: ContextRevisions,
}

/// How often values of the context were stored beside or behind a suspension, of those that otherwise are stored by the end of a change.
/// They are newer than the values of a change that was accepted before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextRevisions {
    /// The credentials for the BTP operator.
    pub sm_operator_credentials: u32,
    /// The licence.
    pub license_type: u32,
}

impl ContextRevisions {
    /// After these values were stored.
    pub(crate) fn after(self, stored: &ContextChange) -> Self {
        Self {
            sm_operator_credentials: self.sm_operator_credentials
                + u32::from(stored.sm_operator_credentials.is_some()),
            license_type: self.license_type + u32::from(stored.license_type.is_some()),
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out a reference to the field"
    )]
    fn is_unset(&self) -> bool {
        *self == Self::default()
    }
}

impl Order {
    /// The global account whose provider account pays.
    pub fn paying_account(&self) -> &str {
        self.subscription_account.as_deref().unwrap_or(&self.context.globalaccount_id)
    }
}

/// The context of the order, in the platform's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The platform's tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// The subaccount.
    pub subaccount_id: String,
    /// The global account: the tenant of everything below.
    pub globalaccount_id: String,
    /// Credentials for the BTP operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sm_operator_credentials: Option<OperatorCredentials>,
    /// Whether the subaccount is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// The person, in lower case.
    pub user_id: String,
    /// How it is paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commercial_model: Option<String>,
    /// Under which licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license_type: Option<String>,
    /// Where the order comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The platform's region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// Credentials for the BTP operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorCredentials {
    /// The client's id.
    pub clientid: String,
    /// The client's secret.
    pub clientsecret: Sensitive,
    /// The Service Manager.
    pub sm_url: String,
    /// Where tokens come from.
    pub url: String,
    /// The application.
    #[serde(default)]
    pub xsappname: String,
}

impl OperatorCredentials {
    /// What the Secret in the runtime has, where the Service Manager knows the cluster by this id.
    pub(crate) fn for_cluster(&self, id: &str) -> ManagerCredentials {
        ManagerCredentials {
            client_id: self.clientid.clone().into(),
            client_secret: self.clientsecret.expose().into(),
            service_manager_url: self.sm_url.clone(),
            token_url: self.url.clone(),
            cluster_id: id.to_owned(),
        }
    }
}

/// What a change says about the context. What it does not say stays. Who ordered never changes: not the person, nor the
/// subaccount.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextChange {
    /// The global account that the subaccount belongs to now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub globalaccount_id: Option<String>,
    /// Credentials for the BTP operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sm_operator_credentials: Option<OperatorCredentials>,
    /// Whether the subaccount is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// How it is paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commercial_model: Option<String>,
    /// Under which licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license_type: Option<String>,
    /// Where the order comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The platform's region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

impl ContextChange {
    /// Whether the runtime has to change with it.
    pub fn reaches_runtime(&self) -> bool {
        self.sm_operator_credentials.is_some() || self.license_type.is_some()
    }

    /// The part that does not depend on the runtime. It is stored when the change is accepted, so that the end of the change does not
    /// replace what was said since.
    pub fn at_once(&self) -> Self {
        Self { sm_operator_credentials: None, license_type: None, ..self.clone() }
    }

    /// The part that the runtime has to change with: it is stored when the change succeeds.
    pub fn later(&self) -> Self {
        Self {
            sm_operator_credentials: self.sm_operator_credentials.clone(),
            license_type: self.license_type.clone(),
            ..Self::default()
        }
    }

    /// The context after the change.
    pub fn applied_to(&self, context: &Context) -> Context {
        fn or<T: Clone>(said: Option<&T>, stored: Option<&T>) -> Option<T> {
            said.or(stored).cloned()
        }
        let account = self.globalaccount_id.clone();
        Context {
            globalaccount_id: account.unwrap_or_else(|| context.globalaccount_id.clone()),
            sm_operator_credentials: or(
                self.sm_operator_credentials.as_ref(),
                context.sm_operator_credentials.as_ref(),
            ),
            active: or(self.active.as_ref(), context.active.as_ref()),
            commercial_model: or(self.commercial_model.as_ref(), context.commercial_model.as_ref()),
            license_type: or(self.license_type.as_ref(), context.license_type.as_ref()),
            origin: or(self.origin.as_ref(), context.origin.as_ref()),
            platform: or(self.platform.as_ref(), context.platform.as_ref()),
            region: or(self.region.as_ref(), context.region.as_ref()),
            ..context.clone()
        }
    }
}
