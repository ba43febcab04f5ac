//! Polls and removals of any shape: none of them changes anything.

use axum::body::Body;
use proptest::prelude::*;

use super::run;
use crate::real::Real;

#[test]
fn a_question_or_removal_of_any_shape_changes_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let real = runtime.block_on(Real::start());
    let methods = prop::sample::select(vec!["GET", "DELETE", "PATCH", "PUT", "POST", "OPTIONS"]);
    let segment = prop_oneof![
        Just("v2".to_owned()),
        Just("catalog".to_owned()),
        Just("service_instances".to_owned()),
        Just("service_bindings".to_owned()),
        Just("last_operation".to_owned()),
        "[a-zA-Z0-9%._~-]{0,12}",
        "(%[0-9a-f]{2}){1,6}",
    ];
    let query =
        "(service_id|plan_id|operation|accepts_incomplete|[a-z%&=]{1,6})=[a-zA-Z0-9%._-]{0,8}";
    let queries = prop::collection::vec(query, 0..4);
    let strategy = (methods, prop::collection::vec(segment, 1..6), queries);

    run(2_000, &strategy, |(method, segments, queries)| {
        let path = format!("/oauth/{}?{}", segments.join("/"), queries.join("&"));
        let Ok(uri) = path.parse::<axum::http::Uri>() else { return Ok(()) };
        let request = real.service.request(method, &uri.to_string());
        let reply = runtime.block_on(real.service.send(request.body(Body::empty()).unwrap()));
        prop_assert!(reply.status.as_u16() < 500, "{method} {path}: {}", reply.text);
        if reply.status.is_client_error() && reply.status.as_u16() != 410 {
            prop_assert!(!reply.description().is_empty(), "{method} {path}: {}", reply.text);
        }
        Ok(())
    });

    assert_eq!(runtime.block_on(real.operations()), 0);
}
