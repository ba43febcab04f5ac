//! Every call of the five clients: how it is made, what it must look like on the wire, what is answered.

mod ias;

use clients::{
    Error,
    avs::{NewEvaluation, Scope, Status, Tag},
    edp::{Metadata, Tenant},
    spc::{Event, EventType},
};
use futures::future::BoxFuture;

use super::test_systems::{RUNTIME, TestSystems};

/// One call.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) make: fn(TestSystems) -> BoxFuture<'static, Result<(), Error>>,
    /// Method and path, with the query if there is one.
    pub(crate) asked: &'static str,
    /// JSON, or a form.
    pub(crate) body: Option<&'static str>,
    pub(crate) answer: (u16, &'static str),
    /// Statuses that are not what they usually are.
    pub(crate) special: &'static [(u16, Special)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// Nothing is wrong.
    Fine,
    /// The thing is there already.
    Exists,
}

const GONE_IS_FINE: &[(u16, Special)] = &[(404, Special::Fine)];
const TAKEN_IS_THERE: &[(u16, Special)] = &[(409, Special::Exists)];

macro_rules! call {
    ($name:literal, $asked:literal, $body:expr, $answer:expr, $special:expr, |$place:ident| $make:expr) => {
        Call {
            name: $name,
            make: |$place| Box::pin(async move { $make.await.map(drop) }),
            asked: $asked,
            body: $body,
            answer: $answer,
            special: $special,
        }
    };
}

use call;

pub(crate) fn all() -> Vec<Call> {
    [avs(), edp(), ias::all(), lms(), spc()].into_iter().flatten().collect()
}

fn tag() -> Tag {
    Tag { content: "c-1a2b3c4".into(), tag_class_id: 251, tag_class_name: String::new() }
}

fn avs() -> Vec<Call> {
    vec![
        call!(
            "avs create",
            "POST /avs/api/v2/evaluationmetadata",
            Some(
                r#"{"definition_type":"BASIC","name":"K8S-AWS-Kyma-int-0b1c-demo",
                "description":"{\"instanceName\":\"demo\",\"globalAccountID\":\"ga-1\",\"subAccountID\":\"SA-1\",\"instanceID\":\"0b1c\",\"shootName\":\"c-1a2b3c4\"}",
                "service":"svc","url":"","check_type":"","interval":60,"tester_access_id":40,"timeout":30000,
                "read_only":false,"content_check":"error","content_check_type":"NOT_CONTAINS","threshold":"30000",
                "group_id":41,"visibility":"PUBLIC","parent_id":77,"tags":null}"#
            ),
            (201, r#"{"id":910001,"status":"ACTIVE","threshold":30000}"#),
            &[],
            |place| async {
                let wanted = NewEvaluation::of(&place.avs_settings(), &RUNTIME, Scope::Internal);
                place.avs().create(&wanted).await
            }
        ),
        call!(
            "avs get",
            "GET /avs/api/v2/evaluationmetadata/7",
            None,
            (200, r#"{"id":7,"status":"ACTIVE","tags":null}"#),
            &[],
            |place| async { place.avs().get(7).await }
        ),
        call!(
            "avs tag",
            "POST /avs/api/v2/evaluationmetadata/7/tag",
            Some(r#"{"content":"c-1a2b3c4","tag_class_id":251,"tag_class_name":""}"#),
            (200, r#"{"id":7}"#),
            &[],
            |place| async { place.avs().add_tag(7, &tag()).await }
        ),
        call!(
            "avs status",
            "PUT /avs/api/v2/evaluationmetadata/7/lifecycle",
            Some(r#""MAINTENANCE""#),
            (200, r#"{"id":7,"status":"MAINTENANCE"}"#),
            &[],
            |place| async { place.avs().set_status(7, Status::Maintenance).await }
        ),
        call!(
            "avs unlink",
            "DELETE /avs/api/v2/evaluationmetadata/77/child/7",
            None,
            (200, ""),
            GONE_IS_FINE,
            |place| async { place.avs().unlink(77, 7).await }
        ),
        call!(
            "avs delete",
            "DELETE /avs/api/v2/evaluationmetadata/7",
            None,
            (200, ""),
            GONE_IS_FINE,
            |place| async { place.avs().delete(7).await }
        ),
    ]
}

fn tenant() -> Tenant {
    Tenant::of_subaccount("9F1C")
}

fn edp() -> Vec<Call> {
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

fn lms() -> Vec<Call> {
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

fn event() -> Event {
    let tenant = clients::spc::Tenant::begun("i-1", "2023-04-01T22:00:00Z".parse().unwrap());
    Event { orchestration_id: "o-1".into(), event_type: EventType::Kyma, tenants: vec![tenant] }
}

fn spc() -> Vec<Call> {
    vec![
        call!(
            "spc create",
            "POST /spc/createMaintenanceEvent",
            Some(
                r#"{"orchestrationId":"o-1","eventType":"1","tenants":[{"instanceId":"i-1",
                "startDateTime":"2023-04-01 22:00:00","eventState":"1"}]}"#
            ),
            (200, ""),
            &[(409, Special::Fine)],
            |place| async { place.spc().create(&event()).await }
        ),
        call!(
            "spc update",
            "PATCH /spc/updateMaintenanceEvent",
            Some(
                r#"{"orchestrationId":"o-1","tenants":[{"instanceId":"i-1",
                "startDateTime":"2023-04-01 22:00:00","eventState":"1"}]}"#
            ),
            (204, ""),
            &[],
            |place| async { place.spc().update(&event()).await }
        ),
        call!(
            "spc cancel",
            "PATCH /spc/cancelMaintenanceEvent",
            Some(r#"{"orchestrationId":"o-1"}"#),
            (200, ""),
            GONE_IS_FINE,
            |place| async { place.spc().cancel("o-1").await }
        ),
    ]
}
