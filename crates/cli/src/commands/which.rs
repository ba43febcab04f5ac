//! Which runtime or operation a command is about: by id, by a part of it, or by name.
//!
//! What a reader would get wrong: only what fits one thing alone is taken. A whole id is never looked for among names.

use anyhow::{Context as _, bail};
use domain::OperationId;
use serde_json::Value;
use uuid::Uuid;

use crate::{client::Client, view::Runtime};

/// Shorter parts of ids fit too much.
const SHORTEST: usize = 4;
/// How many operations are looked through for a part of an id.
const OPERATIONS: u32 = 500;

/// The instance of this id, or of the only runtime of this name, Shoot or beginning of an id, in whatever state it is.
pub(crate) async fn instance(client: &Client, which: &str) -> anyhow::Result<String> {
    Ok(runtime(client, which).await?.instance_id)
}

/// The same with all that is known about the runtime.
pub(crate) async fn runtime(client: &Client, which: &str) -> anyhow::Result<Runtime> {
    match only(which, fitting(client, which).await?)? {
        Some(found) => Ok(found),
        None => bail!("there is no instance, and no runtime of the name or Shoot \"{which}\""),
    }
}

/// All runtimes that are meant by this.
pub(crate) async fn fitting(client: &Client, which: &str) -> anyhow::Result<Vec<Runtime>> {
    let state = || ("state", "all".to_owned());
    let detail = || ("op_detail", "last".to_owned());
    let by_id = [state(), detail(), ("instance_id", which.to_owned())];
    let found = client.runtimes_seen(&by_id).await?;
    if found.len() == 1 {
        return Ok(found);
    }
    let all = client.runtimes_seen(&[state(), detail()]).await?;
    let (named, mut rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|it| it.name() == which || it.shoot_name == which);
    if !named.is_empty() {
        return Ok(named);
    }
    rest.retain(|it| which.len() >= SHORTEST && it.instance_id.starts_with(which));
    Ok(rest)
}

/// Whether this is the runtime's whole name, and not the beginning of its id.
pub(crate) fn is_called(runtime: &Runtime, which: &str) -> bool {
    runtime.name() == which || runtime.shoot_name == which || runtime.instance_id == which
}

/// The one that fits, if there is one; several are an error that names them.
pub(crate) fn only(which: &str, mut found: Vec<Runtime>) -> anyhow::Result<Option<Runtime>> {
    if found.len() > 1 {
        let ids: Vec<&str> = found.iter().map(|it| it.instance_id.as_str()).collect();
        bail!("several runtimes are called \"{which}\": say which, {}", ids.join(", "));
    }
    Ok(found.pop())
}

/// The operation of this id, or the only one whose id begins or ends so, or the newest of the runtime of this name.
pub(crate) async fn operation(client: &Client, which: &str) -> anyhow::Result<OperationId> {
    if let Ok(id) = Uuid::parse_str(which) {
        return id.to_string().parse().context("it is no operation");
    }
    let newest = client.list(&[("limit", OPERATIONS.to_string())]).await?;
    let part = |id: &&str| id.starts_with(which) || id.ends_with(which);
    let parts: Vec<&str> = ids(&newest).filter(|_| which.len() >= SHORTEST).filter(part).collect();
    match parts.as_slice() {
        [one] => {
            // A runtime of this very name may be meant.
            let found = if client.has_runtimes() {
                fitting(client, which).await.unwrap_or_default()
            } else {
                Vec::new()
            };
            if found.iter().any(|it| is_called(it, which)) {
                bail!("\"{which}\" is a runtime and a part of operation {one}: say the whole id");
            }
            return one.parse().context("the broker listed an operation without an id");
        }
        [] => {}
        several => bail!("several operations fit \"{which}\": say which, {}", several.join(", ")),
    }
    let found = if client.has_runtimes() { fitting(client, which).await? } else { Vec::new() };
    let Some(runtime) = only(which, found)? else {
        bail!("there is no operation \"{which}\", and no runtime of this name or Shoot");
    };
    let query = [("instance", runtime.instance_id.clone()), ("limit", "1".to_owned())];
    let of_runtime = client.list(&query).await?;
    let first = ids(&of_runtime).next();
    first.with_context(|| format!("\"{which}\" has no operation"))?.parse().context("no id")
}

fn ids(page: &Value) -> impl Iterator<Item = &str> {
    page["operations"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_str())
}
