//! The query: what is wrong with it is said by name. A name that is not known is refused: a client that misspells a filter
//! must not take the whole fleet for what was filtered.

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};
use broker::runtimes::{Detail, LARGEST_PAGE, RuntimesQuery, StateWord};

use crate::error::ErrorText;

/// Parameters of newer clients that are accepted and ignored.
const IGNORED: [&str; 4] = ["gardener_config", "runtime_config", "bindings", "actions"];

/// The runtimes that the query asks for.
pub(super) struct RuntimesParams(pub(super) RuntimesQuery);

impl<S: Send + Sync> FromRequestParts<S> for RuntimesParams {
    type Rejection = ErrorText;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorText> {
        let Query(fields) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ErrorText::query("the query cannot be read"))?;
        ask(fields).map(Self).map_err(ErrorText::query)
    }
}

/// The runtimes that these parameters ask for.
pub(super) fn ask(fields: Vec<(String, String)>) -> Result<RuntimesQuery, String> {
    let (mut ask, mut paged) = (RuntimesQuery::default(), PagingFields::default());
    for (name, value) in fields {
        read(&mut ask, &mut paged, &name, value)?;
    }
    Ok(ask)
}

/// Which of the two that may be there once have been there.
#[derive(Default)]
struct PagingFields {
    page: bool,
    size: bool,
}

fn read(
    ask: &mut RuntimesQuery,
    paged: &mut PagingFields,
    name: &str,
    value: String,
) -> Result<(), String> {
    match name {
        "page" => ask.page = page(&mut paged.page, &value)?,
        "page_size" => ask.page_size = page_size(&mut paged.size, &value)?,
        "account" => ask.accounts.push(value),
        "subaccount" => ask.subaccounts.push(value),
        "instance_id" => ask.instances.push(value),
        "region" => ask.regions.push(value),
        "plan" => ask.plans.push(value),
        "runtime_id" => ask.runtimes.push(value),
        "shoot" => ask.shoots.push(value),
        "state" => ask.states.push(state(&value)?),
        "op_detail" => match value.as_str() {
            "all" => ask.detail = Detail::All,
            "last" => ask.detail = Detail::Last,
            other => return Err(format!("op_detail \"{other}\" is neither all nor last")),
        },
        "expired" => ask.expired = flag("expired", &value)?,
        "kyma_config" => ask.kyma_config = flag("kyma_config", &value)?,
        "cluster_config" => ask.cluster_config = flag("cluster_config", &value)?,
        other if IGNORED.contains(&other) => {}
        other => return Err(format!("\"{other}\" is not known here")),
    }
    Ok(())
}

fn page(before: &mut bool, value: &str) -> Result<u32, String> {
    match number("page", before, value)? {
        0 => Err("page cannot be smaller than 1".into()),
        page => Ok(page),
    }
}

fn page_size(before: &mut bool, value: &str) -> Result<u32, String> {
    match number("pageSize", before, value)? {
        0 => Err("pageSize cannot be smaller than 1".into()),
        size if size > LARGEST_PAGE => {
            Err(format!("pageSize is bigger than maxPage({LARGEST_PAGE})"))
        }
        size => Ok(size),
    }
}

/// A whole number that is given once; what is below zero is as good as zero.
fn number(name: &str, before: &mut bool, value: &str) -> Result<u32, String> {
    if std::mem::replace(before, true) {
        return Err(format!("{name} has to be one parameter"));
    }
    let number: i64 = value.parse().map_err(|_| format!("{name} has to be an integer"))?;
    Ok(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        other => Err(format!("{name} \"{other}\" is neither true nor false")),
    }
}

fn state(value: &str) -> Result<StateWord, String> {
    value
        .parse()
        .map_err(|()| format!("state \"{value}\" is none of: {}", StateWord::words().join(", ")))
}
