//! The calls of EDP.

use clients::edp::{Metadata, Tenant};

use super::{Call, GONE_IS_FINE, TAKEN_IS_THERE, call};

pub(super) fn tenant() -> Tenant {
    Tenant::of_subaccount("9F1C")
}

pub(super) fn all() -> Vec<Call> {
    vec![
        call!(
            "edp create tenant",
            "POST /edp/namespaces/kcp/dataTenants",
            Some(r#"{"name":"9f1c","environment":"dev","secret":"OWYxY2Rldg=="}"#),
            (201, ""),
            TAKEN_IS_THERE,
            |place| async { place.edp().create_tenant(&tenant()).await }
        ),
        call!(
            "edp delete tenant",
            "DELETE /edp/namespaces/kcp/dataTenants/9f1c/dev",
            None,
            (204, ""),
            GONE_IS_FINE,
            |place| async { place.edp().delete_tenant(&tenant()).await }
        ),
        call!(
            "edp create metadata",
            "POST /edp/namespaces/kcp/dataTenants/9f1c/dev/metadata",
            Some(r#"{"key":"maasConsumerRegion","value":"cf-eu10"}"#),
            (201, ""),
            TAKEN_IS_THERE,
            |place| async {
                let entry = Metadata { key: "maasConsumerRegion".into(), value: "cf-eu10".into() };
                place.edp().create_metadata(&tenant(), &entry).await
            }
        ),
        call!(
            "edp list metadata",
            "GET /edp/namespaces/kcp/dataTenants/9f1c/dev/metadata",
            None,
            (200, r#"[{"dataTenant":{"name":"9f1c"},"key":"k","value":"v"}]"#),
            &[],
            |place| async { place.edp().metadata(&tenant()).await }
        ),
        call!(
            "edp delete metadata",
            "DELETE /edp/namespaces/kcp/dataTenants/9f1c/dev/metadata/maasConsumerRegion",
            None,
            (204, ""),
            GONE_IS_FINE,
            |place| async { place.edp().delete_metadata(&tenant(), "maasConsumerRegion").await }
        ),
    ]
}
