//! The calls of `AvS`.

use clients::avs::{NewEvaluation, Scope, Status, Tag};

use super::{super::test_systems::RUNTIME, Call, GONE_IS_FINE, call};

fn tag() -> Tag {
    Tag { content: "c-1a2b3c4".into(), tag_class_id: 251, tag_class_name: String::new() }
}

pub(super) fn all() -> Vec<Call> {
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
