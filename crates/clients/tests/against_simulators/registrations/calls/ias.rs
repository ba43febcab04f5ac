//! The calls of identity authentication.

use clients::ias::{Attribute, KeptSecret, ServiceProvider};

use super::{Call, GONE_IS_FINE, TAKEN_IS_THERE, call};

pub(super) fn all() -> Vec<Call> {
    let mut calls = configuration();
    calls.extend([
        call!(
            "ias company",
            "GET /ias/service/company/global",
            None,
            (200, r#"{"service_providers":[],"identity_providers":[]}"#),
            &[],
            |place| async { place.ias().company().await }
        ),
        call!(
            "ias create",
            "POST /ias/service/sps",
            Some("sp_name=SKR+Grafana+%28instanceID%3A+0b1c%29&company_id=global"),
            (201, ""),
            TAKEN_IS_THERE,
            |place| async { place.ias().create_provider("SKR Grafana (instanceID: 0b1c)").await }
        ),
        call!(
            "ias new secret",
            "PUT /ias/service/sps",
            Some(
                r#"{"organization":"global","id":"sp","rest_api_client_secret":
                {"description":"SAP Kyma Runtime Secret","scopes":["ManageApp","ManageUsers","OAuth"]}}"#
            ),
            (200, r#"{"clientId":"c","clientSecret":"s"}"#),
            &[],
            |place| async { place.ias().new_secret("sp").await }
        ),
        call!(
            "ias delete secrets",
            "DELETE /ias/service/sps/clientSecret",
            Some(r#"{"clientId":"T1","clientSecretsIds":["s-1"]}"#),
            (204, ""),
            GONE_IS_FINE,
            |place| async {
                let provider = ServiceProvider {
                    id: "sp".into(),
                    display_name: String::new(),
                    user_for_rest: "T1".into(),
                    secrets: vec![KeptSecret { id: "s-1".into() }],
                    attributes: Vec::new(),
                };
                place.ias().delete_secrets(&provider).await
            }
        ),
        call!(
            "ias delete",
            "PUT /ias/service/sps/delete?sp_id=sp",
            None,
            (200, ""),
            GONE_IS_FINE,
            |place| async { place.ias().delete_provider("sp").await }
        ),
    ]);
    calls
}

fn configuration() -> Vec<Call> {
    vec![
        call!(
            "ias oidc",
            "PUT /ias/service/sps/sp",
            Some(
                r#"{"ssoType":"openIdConnect","sp_name":"grafana.d","openId_connect_configuration":
                {"redirect_uris":["https://grafana.d/x"]}}"#
            ),
            (200, ""),
            &[],
            |place| async {
                place.ias().set_oidc("sp", "grafana.d", &["https://grafana.d/x".into()]).await
            }
        ),
        call!(
            "ias saml",
            "PUT /ias/service/sps/sp",
            Some(
                r#"{"sp_name":"dex.d","acs_endpoints":[{"location":"https://dex.d/callback","isDefault":true,"index":0}]}"#
            ),
            (200, ""),
            &[],
            |place| async { place.ias().set_saml("sp", "dex.d", "https://dex.d/callback").await }
        ),
        call!(
            "ias attributes",
            "PUT /ias/service/sps/sp",
            Some(
                r#"{"assertion_attributes":[{"assertionAttribute":"first_name","userAttribute":"firstName"}]}"#
            ),
            (204, ""),
            &[],
            |place| async {
                let one = Attribute { assertion: "first_name".into(), user: "firstName".into() };
                place.ias().set_attributes("sp", &[one]).await
            }
        ),
        call!(
            "ias subject",
            "PUT /ias/service/sps/sp",
            Some(r#"{"name_id_attribute":"mail"}"#),
            (200, ""),
            &[],
            |place| async { place.ias().set_subject("sp", "mail").await }
        ),
        call!(
            "ias identity provider",
            "PUT /ias/service/sps",
            // The address of the identity provider begins with the service's own: compared by its end.
            Some(
                r#"{"organization":"global","id":"sp","default_auth_idp":"<systems>/ias/service/idp/idp-1"}"#
            ),
            (200, ""),
            &[],
            |place| async { place.ias().set_identity_provider("sp", "idp-1").await }
        ),
        call!(
            "ias access",
            "PUT /ias/service/sps/sp/rba",
            Some(
                r#"{"service_provider":{"rba_config":{"rba_rules":[{"action":"Allow","group":"g","group_type":"Cloud"}],
                "default_action":"Deny"}}}"#
            ),
            (200, ""),
            &[],
            |place| async { place.ias().set_access("sp", &["g"]).await }
        ),
    ]
}
