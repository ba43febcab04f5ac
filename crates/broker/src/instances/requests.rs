//! Requests of platforms. They have no `Debug`: they may hold credentials.

use serde_json::Value;

use super::Error;

/// The caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The only global account that it may speak for; none when it may speak for any.
    pub tenant: Option<String>,
    /// Whether it acts for every tenant by right (`tenants:any`), and not only for want of a tenant.
    pub any_tenant: bool,
    /// On whose behalf the platform asks, in the platform's words; kept with the operation.
    pub originating_identity: Option<String>,
    /// The program that asks.
    pub user_agent: Option<String>,
}

impl Caller {
    /// Whether something of this global account is there for the caller.
    pub(crate) fn sees(&self, global_account: &str) -> bool {
        self.tenant.as_deref().is_none_or(|own| own == global_account)
    }
}

/// An order.
#[derive(Clone, Default)]
pub struct Provision {
    /// The instance, as the platform calls it.
    pub instance_id: String,
    /// The platform's region, from the address.
    pub region: Option<String>,
    /// The service; empty when none was named.
    pub service_id: String,
    /// The plan; empty when none was named.
    pub plan_id: String,
    /// The context of the order.
    pub context: Option<Value>,
    /// The ordered parameters.
    pub parameters: Option<Value>,
    /// The version of the maintenance that the platform believes in.
    pub maintenance_version: Option<String>,
    /// Whether the platform can wait.
    pub accepts_incomplete: bool,
}

/// A change of an instance.
#[derive(Clone, Default)]
pub struct Update {
    /// The instance, as the platform calls it.
    pub instance_id: String,
    /// The service; empty when none was named.
    pub service_id: String,
    /// The plan; empty when it stays.
    pub plan_id: String,
    /// The current context of the instance.
    pub context: Option<Value>,
    /// The parameters that change; none when they all stay.
    pub parameters: Option<Value>,
    /// The version of the maintenance that the platform believes in.
    pub maintenance_version: Option<String>,
    /// Whether the platform can wait.
    pub accepts_incomplete: bool,
}

/// The end of an instance.
#[derive(Debug, Clone, Default)]
pub struct Deprovision {
    /// The instance, as the platform calls it.
    pub instance_id: String,
    /// The service; empty when none was named. Which one does not matter.
    pub service_id: String,
    /// The plan; empty when none was named. Which one does not matter.
    pub plan_id: String,
    /// Whether the platform can wait.
    pub accepts_incomplete: bool,
}

/// The longest name that is stored.
const LONGEST_NAME: usize = 255;

/// Whether both databases can keep a name, and find it again.
pub(crate) fn storable(field: &str, name: &str) -> Result<(), Error> {
    let problem = if name.is_empty() {
        "is empty"
    } else if name.len() > LONGEST_NAME {
        "is longer than 255 bytes"
    } else if name.chars().any(char::is_control) {
        "has control characters"
    } else {
        return Ok(());
    };
    Err(Error::Bad(format!("{field} {problem}")))
}

/// Whether a name can be the value of a label: what it stands for is marked with it in clusters and in the pool of accounts.
pub(super) fn label(field: &str, name: &str) -> Result<(), Error> {
    storable(field, name)?;
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    if bytes.len() <= 63
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().copied().all(inner)
    {
        return Ok(());
    }
    let text = "must have at most 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends";
    Err(Error::Bad(format!("{field} {text}")))
}

/// Whether a request names its service and its plan.
pub(crate) fn require_plan(service_id: &str, plan_id: &str) -> Result<(), Error> {
    if service_id.is_empty() {
        return Err(Error::Bad("service_id missing".into()));
    }
    if plan_id.is_empty() {
        return Err(Error::Bad("plan_id missing".into()));
    }
    Ok(())
}
