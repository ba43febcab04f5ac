//! What an order of any shape is drawn from: a template, and what spoils it.

use proptest::prelude::*;
use serde_json::Value;

/// A plan, a good order of it, and what can be spoiled in that order.
#[derive(Debug, Clone)]
pub(super) struct OrderTemplate {
    pub(super) order: Value,
    /// Fields by their pointers.
    pub(super) fields: Vec<String>,
    /// The required fields.
    pub(super) needed: Vec<String>,
}

/// A defect of a good order.
#[derive(Debug, Clone)]
pub(super) enum OrderDefect {
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

pub(super) fn any_spoiling(
    sold: Vec<OrderTemplate>,
) -> impl Strategy<Value = (OrderTemplate, OrderDefect)> {
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
