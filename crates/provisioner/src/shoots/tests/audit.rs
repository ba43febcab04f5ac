//! The audit log of a cluster.

use crate::shoots::{AuditTenants, audit_tenant};

fn tenants() -> AuditTenants {
    let landscapes = [("cf.eu10".to_owned(), "e4a1".to_owned())];
    [("aws".to_owned(), landscapes.into())].into()
}

#[test]
fn the_seed_says_whose_it_is() {
    let tenants = tenants();

    let tenant =
        audit_tenant(&tenants, "aws", "Auditlog landscape https://api.cf.eu10.example is there");

    assert_eq!(tenant, Some("e4a1"));
}

#[test]
fn the_first_landscape_counts() {
    let tenants = tenants();

    assert_eq!(audit_tenant(&tenants, "aws", "cf.eu10, then cf.us20"), Some("e4a1"));
    assert_eq!(audit_tenant(&tenants, "aws", "cf.us20, then cf.eu10"), None);
    assert_eq!(audit_tenant(&tenants, "aws", "cf. and cf.eu10"), Some("e4a1"));
}

#[test]
fn what_is_not_known_has_no_tenant() {
    let tenants = tenants();

    assert_eq!(audit_tenant(&tenants, "gcp", "cf.eu10"), None);
    assert_eq!(audit_tenant(&tenants, "aws", "cf.eu10x"), None);
    assert_eq!(audit_tenant(&tenants, "aws", ""), None);
}
