//! The audit log of a cluster: known only once Gardener has chosen the seed.

use std::collections::BTreeMap;

/// Names the tenant of the audit log; Gardener's extension reads it.
pub const AUDIT_TENANT_ANNOTATION: &str = "custom.shoot.sapcloud.io/subaccountId";

/// Tenants of the audit log, by the seed's provider and then by landscape (`cf.eu10`).
pub type AuditTenants = BTreeMap<String, BTreeMap<String, String>>;

/// The annotation's value for a Shoot: from its seed's provider and from the message of the seed's condition
/// `AuditlogServiceAvailability`. Nothing when either says nothing that we know.
pub fn audit_tenant<'a>(
    tenants: &'a AuditTenants,
    seed_provider: &str,
    message: &str,
) -> Option<&'a str> {
    let landscape = landscape(message)?;
    tenants.get(seed_provider)?.get(landscape).map(String::as_str)
}

/// The first landscape that a text names: `cf.` and then lower-case letters and digits.
fn landscape(message: &str) -> Option<&str> {
    message.match_indices("cf.").find_map(|(start, mark)| {
        let code = &message[start + mark.len()..];
        let length = code
            .find(|letter: char| !letter.is_ascii_lowercase() && !letter.is_ascii_digit())
            .unwrap_or(code.len());
        (length > 0).then(|| &message[start..start + mark.len() + length])
    })
}
