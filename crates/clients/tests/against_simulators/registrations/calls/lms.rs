//! The calls of LMS.

use super::{Call, GONE_IS_FINE, call};

pub(super) fn all() -> Vec<Call> {
    const CERTIFICATE: (u16, &str) =
        (200, r#"{"cert":"-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"}"#);
    vec![
        call!(
            "lms create",
            "POST /lms/tenants",
            Some(
                r#"{"name":"ga1","region":"eu","samlGroups":["skr-logging-viewer"],"clusterType":"single-node",
                "datacenter":"all","environment":"dev","project":"kyma","samlTenant":"saml","costcenter":0,
                "globalAccountID":"ga-1"}"#
            ),
            (201, r#"{"id":"t-1"}"#),
            &[],
            |place| async { place.lms().create_tenant("ga-1", "eu").await }
        ),
        call!(
            "lms status",
            "GET /lms/tenants/t-1/status",
            None,
            (
                200,
                r#"{"kibanaDNSResolves":true,"elasticsearchDNSResolves":false,"kibanaState":"x"}"#
            ),
            &[],
            |place| async { place.lms().readiness("t-1").await }
        ),
        call!(
            "lms tenant",
            "GET /lms/tenants/t-1",
            None,
            (200, r#"{"id":"t-1","dns":"d"}"#),
            &[],
            |place| async { place.lms().tenant("t-1").await }
        ),
        call!(
            "lms request certificate",
            "POST /lms/tenants/t-1/certs",
            Some(r#"{"certId":0,"csr":"CSR"}"#),
            (202, r#"{"callbackUrl":"https://lms.example.com/certificates/1"}"#),
            &[],
            |place| async { place.lms().request_certificate("t-1", "CSR").await }
        ),
        call!(
            "lms signed certificate",
            "GET /lms/certificates/1?a=b",
            None,
            CERTIFICATE,
            GONE_IS_FINE,
            |place| async {
                let callback = place.systems.join("/lms/certificates/1?a=b").unwrap();
                place.lms().signed_certificate(&callback).await
            }
        ),
        call!(
            "lms authority",
            "GET /lms/tenants/t-1/certs/ca",
            None,
            CERTIFICATE,
            GONE_IS_FINE,
            |place| async { place.lms().authority("t-1").await }
        ),
    ]
}
