//! Requests of any shape, made from the published document and schemas: refused with a word about what is wrong, or accepted; never an error of ours, and never
//! something stored for one that was refused.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use base64::{Engine, prelude::BASE64_STANDARD};
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Value, json};

use crate::{
    document::DOCUMENT,
    real::{Real, order},
};

/// A plan, a good order of it, and what can be spoiled in that order.
#[derive(Debug, Clone)]
struct OrderTemplate {
    order: Value,
    /// Fields by their pointers.
    fields: Vec<String>,
    /// The required fields.
    needed: Vec<String>,
}

/// A defect of a good order.
#[derive(Debug, Clone)]
enum OrderDefect {
    /// The body is these bytes.
    Bytes(Vec<u8>),
    /// The body is this.
    Body(Value),
    /// A field has this value instead.
    Field(String, Value),
    /// It is gone.
    Without(String),
    /// The version that the platform speaks.
    Version(String),
}

/// Parameters that are understood and not published.
const UNPUBLISHED: [&str; 11] = [
    "maxSurge",
    "maxUnavailable",
    "purpose",
    "volumeSizeGb",
    "zones",
    "targetSecret",
    "components",
    "kymaVersion",
    "administrators",
    "kubeconfig",
    "oidc",
];
const KUBECONFIG: &str = "{current-context: a, clusters: [{name: a, cluster: {server: https://a.test}}],\
                          contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}]}";

/// The plans, as catalog and document publish them.
async fn sold(real: &Real) -> Vec<OrderTemplate> {
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let schemas = &document["components"]["schemas"];
    let catalog = real.service.call("GET", "/oauth/cf-eu10/v2/catalog").await.json();
    let plans = catalog["services"][0]["plans"].as_array().unwrap().clone();
    plans.iter().map(|plan| plan_sold(schemas, plan)).collect()
}

fn plan_sold(schemas: &Value, plan: &Value) -> OrderTemplate {
    let published = &plan["schemas"]["service_instance"]["create"]["parameters"];
    let parts =
        [("", &schemas["Order"]), ("/context", &schemas["Context"]), ("/parameters", published)];
    let names = |part: &Value| -> Vec<String> {
        let properties = part["properties"].as_object().unwrap();
        properties.keys().filter(|name| !name.ends_with("_guid")).cloned().collect()
    };
    let needed = |part: &Value| -> Vec<String> {
        let required = part["required"].as_array().unwrap();
        required.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let below = |at: &str, names: Vec<String>| -> Vec<String> {
        names.iter().map(|name| format!("{at}/{name}")).collect()
    };
    let mut order = order();
    order["plan_id"] = plan["id"].clone();
    if plan["name"] == "own_cluster" {
        order["parameters"] = json!({
            "name": "dev", "kubeconfig": BASE64_STANDARD.encode(KUBECONFIG),
            "shootName": "shoot", "shootDomain": "shoot.test",
        });
    }
    let mut fields: Vec<String> =
        parts.iter().flat_map(|(at, part)| below(at, names(part))).collect();
    fields.extend(UNPUBLISHED.map(|name| format!("/parameters/{name}")));
    let needed = parts.iter().flat_map(|(at, part)| below(at, needed(part))).collect();
    OrderTemplate { order, fields, needed }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-2_i64..100).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z0-9\\x00-]{0,12}".prop_map(Value::from),
        (0_usize..600).prop_map(|length| Value::from("x".repeat(length))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z_]{1,12}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_spoiling(sold: Vec<OrderTemplate>) -> impl Strategy<Value = (OrderTemplate, OrderDefect)> {
    prop::sample::select(sold).prop_flat_map(|sold| {
        let fields = prop::sample::select(sold.fields.clone());
        let needed = prop::sample::select(sold.needed.clone());
        let spoiled = prop_oneof![
            1 => prop::collection::vec(any::<u8>(), 0..200).prop_map(OrderDefect::Bytes),
            1 => any_value().prop_map(OrderDefect::Body),
            8 => (fields, any_value()).prop_map(|(field, value)| OrderDefect::Field(field, value)),
            1 => needed.prop_map(OrderDefect::Without),
            1 => "[ -~]{0,8}".prop_map(OrderDefect::Version),
        ];
        (Just(sold), spoiled)
    })
}

/// The order with one thing spoiled. Every order is of an account of its own, because some have limits.
fn body(sold: &OrderTemplate, number: usize, spoiled: &OrderDefect) -> Vec<u8> {
    let parent = |pointer: &str| {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        (parent.to_owned(), name.to_owned())
    };
    let mut good = sold.order.clone();
    good["context"]["globalaccount_id"] = json!(format!("ga-{number}"));
    match spoiled {
        OrderDefect::Bytes(bytes) => return bytes.clone(),
        OrderDefect::Body(body) => return body.to_string().into_bytes(),
        OrderDefect::Field(pointer, value) => {
            let (parent, name) = parent(pointer);
            good.pointer_mut(&parent).unwrap()[name] = value.clone();
        }
        OrderDefect::Without(pointer) => {
            let (parent, name) = parent(pointer);
            good.pointer_mut(&parent).unwrap().as_object_mut().unwrap().remove(&name);
        }
        OrderDefect::Version(_) => {}
    }
    good.to_string().into_bytes()
}

/// The words of which one stands in every refusal of this spoiling. Some fields have had other names in texts that
/// clients know.
fn words(spoiled: &OrderDefect) -> Vec<&str> {
    let field = match spoiled {
        OrderDefect::Bytes(_) | OrderDefect::Body(_) => return vec!["body", "missing"],
        OrderDefect::Version(_) => return vec!["x-broker-api-version"],
        OrderDefect::Field(field, _) | OrderDefect::Without(field) => field.as_str(),
    };
    match field {
        "/service_id" => vec!["service_id", "service-id"],
        "/plan_id" => vec!["plan_id", "plan-id"],
        "/context/globalaccount_id" => vec!["globalaccount_id", "global accountid"],
        "/context/subaccount_id" => vec!["subaccount_id", "subaccountid"],
        "/context/user_id" => vec!["user_id", "userid"],
        // What they hold may be wrong too.
        "/context" => vec!["context"],
        "/parameters" => vec!["parameters"],
        "/parameters/oidc" => vec!["oidc", "clientid", "issuerurl", "signingalgs"],
        field => vec![field.rsplit('/').next().unwrap()],
    }
}

async fn refused_or_accepted(
    real: &Real,
    number: usize,
    (sold, spoiled): &(OrderTemplate, OrderDefect),
) -> Result<bool, TestCaseError> {
    let path = format!("/oauth/cf-eu10/v2/service_instances/i-{number}?accepts_incomplete=true");
    let mut request = real.service.request("PUT", &path);
    if let OrderDefect::Version(version) = spoiled {
        request.headers_mut().unwrap().insert("x-broker-api-version", version.parse().unwrap());
    }
    let reply =
        real.service.send(request.body(Body::from(body(sold, number, spoiled))).unwrap()).await;
    let status = reply.status.as_u16();
    if status == 202 {
        return Ok(true);
    }
    let description = reply.description().to_lowercase();
    prop_assert!([400, 412, 422].contains(&status), "{status}: {}", reply.text);
    let named = words(spoiled).iter().any(|word| description.contains(&word.to_lowercase()));
    prop_assert!(named, "{spoiled:?} is answered with {description}");
    Ok(false)
}

fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    if let Err(error) = runner.run(strategy, test) {
        panic!("{error}");
    }
}

#[test]
fn an_order_of_any_shape_is_refused_by_name_or_stored_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let real = runtime.block_on(Real::start());
    let (sent, accepted) = (AtomicUsize::new(0), AtomicUsize::new(0));

    let sold = runtime.block_on(sold(&real));

    run(4_000, &any_spoiling(sold), |spoiled| {
        let number = sent.fetch_add(1, Ordering::Relaxed);
        if runtime.block_on(refused_or_accepted(&real, number, &spoiled))? {
            accepted.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });

    let accepted = accepted.into_inner();
    let refused = sent.into_inner() - accepted;
    assert!(refused > 2_000, "{refused} were refused, {accepted} were good after all");
    assert_eq!(runtime.block_on(real.operations()), accepted);
}

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

#[test]
fn the_orders_that_are_spoiled_are_good() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let real = runtime.block_on(Real::start());
    let plans = runtime.block_on(sold(&real));

    for (number, plan) in plans.iter().cloned().enumerate() {
        let unspoiled = (plan, OrderDefect::Field("/an_extension".into(), json!(1)));
        let accepted = runtime.block_on(refused_or_accepted(&real, number, &unspoiled));
        assert!(accepted.unwrap(), "{unspoiled:?}");
    }

    assert_eq!(runtime.block_on(real.operations()), plans.len());
}
