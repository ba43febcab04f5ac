//! Which runtime or operation a command is about: by id, by a part of it, or by name.
//!
//! What a reader would get wrong: only what fits one thing alone is taken, and a change that is not asked about takes no part of an id. A
//! whole id is looked for among operations first, then among runtimes.

use anyhow::{Context as _, bail};
use clients::Kind;
use domain::OperationId;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    call_error::{CallError, NotFound},
    client::Client,
    confirm::Confirmation,
    view::Runtime,
};

/// Shorter parts of ids fit too much.
const SHORTEST: usize = 4;
/// How many operations are looked through for a part of an id.
const OPERATIONS: u32 = 500;
/// How many ids an address takes.
const IN_ADDRESS: usize = 50;

/// How much of an id is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdMatch {
    /// All of it: nobody looks at what was found.
    Whole,
    /// A part that fits one thing alone.
    Part,
}

impl IdMatch {
    /// For a change: a part is enough where a question names what was found, and for a dry run.
    pub(crate) const fn of_change(confirmation: &Confirmation, is_dry_run: bool) -> Self {
        if confirmation.is_given() && !is_dry_run { Self::Whole } else { Self::Part }
    }
}

/// The instance of this id, or of the only runtime of this name, Shoot, runtime id or beginning of an id, in whatever state it is.
pub(crate) async fn instance(
    client: &Client,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<String> {
    Ok(runtime(client, which, enough).await?.instance_id)
}

/// The same with all that is known about the runtime.
pub(crate) async fn runtime(
    client: &Client,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<Runtime> {
    let Some(found) = only(which, fitting(client, which).await?)? else {
        let text = format!("no instance or runtime \"{which}\" found by id, name or Shoot");
        return Err(NotFound::new(text).listed_by("runtimes -S all").into());
    };
    check_whole(&found, which, enough)?;
    Ok(found)
}

/// Refuses a part of an id where it is not enough.
pub(crate) fn check_whole(found: &Runtime, which: &str, enough: IdMatch) -> anyhow::Result<()> {
    if enough == IdMatch::Whole && !is_called(found, which) {
        let is_of_runtime = begins(&found.id, which);
        let id = if is_of_runtime { &found.id } else { &found.instance_id };
        bail!("with --yes, give the whole id or name: \"{which}\" is the beginning of {id}");
    }
    Ok(())
}

/// All runtimes that are meant by this. Brokers find whole ids and Shoots; for a name or a part of an id all runtimes are read,
/// and those that fit are kept.
pub(crate) async fn fitting(client: &Client, which: &str) -> anyhow::Result<Vec<Runtime>> {
    let state = || ("state", "all".to_owned());
    let detail = || ("op_detail", "last".to_owned());
    let is_id = Uuid::parse_str(which).is_ok();
    let other = if is_id { Some("runtime_id") } else { is_shoot(which).then_some("shoot") };
    for field in ["instance_id"].into_iter().chain(other) {
        let by_id = [state(), detail(), (field, which.to_owned())];
        let mut found = client.runtimes_seen(&by_id).await?;
        found.retain(|it| [&it.instance_id, &it.id, &it.shoot_name].iter().any(|id| *id == which));
        if !found.is_empty() {
            return Ok(found);
        }
    }
    if is_id {
        return Ok(Vec::new());
    }
    let is_named = |it: &Runtime| it.name() == which || it.shoot_name == which;
    let fits =
        |it: &Runtime| is_named(it) || begins(&it.instance_id, which) || begins(&it.id, which);
    let all = client.runtimes_fitting(&[state(), detail()], fits).await?;
    let (named, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(is_named);
    Ok(if named.is_empty() { rest } else { named })
}

/// Whether this has the form of the names that Shoots get: `c-308c6c3`.
fn is_shoot(which: &str) -> bool {
    which.strip_prefix("c-").is_some_and(|rest| {
        rest.len() == 7 && rest.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    })
}

/// Whether an id begins with this part, which is long enough to say something.
pub(crate) fn begins(id: &str, part: &str) -> bool {
    part.len() >= SHORTEST && id.starts_with(part)
}

/// The id of the only runtime that is meant; a whole id need not be known to the broker.
pub(crate) async fn runtime_id(
    client: &Client,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<String> {
    if Uuid::parse_str(which).is_ok() {
        let ids = all_ids(client, &[which.to_owned()], &RUNTIME_ID).await;
        // Services beside the broker work without it.
        let id = ids.ok().and_then(|ids| ids.into_iter().next());
        return Ok(id.unwrap_or_else(|| which.to_owned()));
    }
    let found = runtime(client, which, enough).await?;
    if found.id.is_empty() {
        bail!("the {} has no runtime id yet", found.called());
    }
    Ok(found.id)
}

/// One of the two ids of a runtime.
pub(crate) struct IdField {
    of: fn(&Runtime) -> &str,
    /// The filter for the other one.
    other: &'static str,
    of_other: fn(&Runtime) -> &str,
}

/// The id of its instance.
pub(crate) const INSTANCE_ID: IdField =
    IdField { of: |it| &it.instance_id, other: "runtime_id", of_other: |it| &it.id };
/// Its own id.
pub(crate) const RUNTIME_ID: IdField =
    IdField { of: |it| &it.id, other: "instance_id", of_other: |it| &it.instance_id };

/// Names, parts of ids and ids of the other sort as whole ids, for filters: all that fit count. Words that fit nothing are left to the
/// broker.
pub(crate) async fn all_ids(
    client: &Client,
    words: &[String],
    field: &IdField,
) -> anyhow::Result<Vec<String>> {
    let is_whole = |word: &&String| Uuid::parse_str(word).is_ok();
    let whole: Vec<&String> = words.iter().filter(is_whole).collect();
    let mut others = Vec::new();
    for some in whole.chunks(IN_ADDRESS) {
        let named = some.iter().map(|word| (field.other, (*word).clone()));
        let all = [("state", "all".to_owned()), ("op_detail", "last".to_owned())];
        others
            .extend(client.runtimes_seen(&all.into_iter().chain(named).collect::<Vec<_>>()).await?);
    }
    let mut ids = Vec::new();
    for word in words {
        let fitting = if is_whole(&word) { Vec::new() } else { fitting(client, word).await? };
        let of_other = others.iter().filter(|it| (field.of_other)(it) == word);
        let found = fitting.iter().chain(of_other).map(field.of);
        let found = found.filter(|id| !id.is_empty()).map(str::to_owned);
        let found: Vec<String> = found.collect();
        ids.extend(if found.is_empty() { vec![word.clone()] } else { found });
    }
    Ok(ids)
}

/// Whether this is the runtime's whole name, and not the beginning of its id.
pub(crate) fn is_called(runtime: &Runtime, which: &str) -> bool {
    [runtime.name(), &runtime.shoot_name, &runtime.instance_id, &runtime.id].contains(&which)
}

/// The one that fits, if there is one; several are an error that names them.
pub(crate) fn only(which: &str, mut found: Vec<Runtime>) -> anyhow::Result<Option<Runtime>> {
    if found.len() > 1 {
        let ids: Vec<&str> = found.iter().map(|it| it.instance_id.as_str()).collect();
        bail!("several runtimes are called \"{which}\": choose one of {}", ids.join(", "));
    }
    Ok(found.pop())
}

/// The operation of this id, or the only one whose id begins or ends so, or the newest of the runtime of this name.
pub(crate) async fn operation(
    client: &Client,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<OperationId> {
    if let Ok(id) = Uuid::parse_str(which) {
        let operation = id.to_string().parse().context("invalid operation id")?;
        // Platforms choose the ids of instances: they may look like those of operations.
        return match client.find(&operation).await {
            Err(error) if kind(&error) == Some(Kind::NotFound) => {
                match newest_of(client, which, enough).await {
                    // Callers who may not list runtimes, too, get to know that there is no such operation.
                    Err(refused) if is_refusal(&refused) => Err(error),
                    found => found?.ok_or(error),
                }
            }
            // What else is wrong is reported by the command itself.
            _ => Ok(operation),
        };
    }
    let newest = client.list(&[("limit", OPERATIONS.to_string())]).await?;
    let part = |id: &&str| id.starts_with(which) || id.ends_with(which);
    let parts: Vec<&str> = ids(&newest).filter(|_| which.len() >= SHORTEST).filter(part).collect();
    match parts.as_slice() {
        [one] => {
            if is_name(client, which).await? {
                bail!("\"{which}\" is a runtime and a part of operation {one}: give the whole id");
            }
            if enough == IdMatch::Whole {
                bail!("with --yes, give the whole id: \"{which}\" is a part of operation {one}");
            }
            return one.parse().context("the broker listed an operation without an id");
        }
        [] => {}
        several => {
            bail!("several operations fit \"{which}\": choose one of {}", several.join(", "))
        }
    }
    match newest_of(client, which, enough).await? {
        Some(operation) => Ok(operation),
        None => {
            let text =
                format!("no operation \"{which}\", and no runtime of this name or Shoot, found");
            Err(NotFound::new(text)
                .listed_by(if client.has_runtimes() {
                    "operations"
                } else {
                    "operations --provisioner"
                })
                .into())
        }
    }
}

/// The newest operation of the only runtime that fits. None where nothing fits.
async fn newest_of(
    client: &Client,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<Option<OperationId>> {
    let Some(worked_on) = worked_on(client, which, enough).await? else { return Ok(None) };
    let query = [("instance", worked_on), ("limit", "1".to_owned())];
    let of_runtime = client.list(&query).await?;
    let first = ids(&of_runtime).next();
    let first = first.with_context(|| format!("\"{which}\" has no operation"))?;
    Ok(Some(first.parse().context("no id")?))
}

/// What operations of the only runtime that fits work on: at the broker its instance, at the provisioner the runtime itself. None where
/// nothing fits; who may ask the provisioner alone names nothing.
pub(crate) async fn worked_on(
    client: &Client,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<Option<String>> {
    let Some(broker) = client.broker() else { return Ok(None) };
    let of_broker = client.has_runtimes();
    let found = match fitting(broker, which).await {
        Err(error) if !of_broker && kind(&error) == Some(Kind::Unauthorized) => return Ok(None),
        found => found?,
    };
    let Some(runtime) = only(which, found)? else { return Ok(None) };
    check_whole(&runtime, which, enough)?;
    if of_broker {
        return Ok(Some(runtime.instance_id));
    }
    if runtime.id.is_empty() {
        bail!("the {} has no runtime id yet", runtime.called());
    }
    Ok(Some(runtime.id))
}

/// Whether a runtime has this very name or id. Who may not list runtimes names none, and the provisioner is asked without the broker, too.
async fn is_name(client: &Client, which: &str) -> anyhow::Result<bool> {
    let Some(broker) = client.broker() else { return Ok(false) };
    match fitting(broker, which).await {
        Err(error) if !client.has_runtimes() || kind(&error) == Some(Kind::Unauthorized) => {
            Ok(false)
        }
        found => Ok(found?.iter().any(|it| is_called(it, which))),
    }
}

/// Whether this caller, or this broker, cannot do a call at all.
fn is_refusal(error: &anyhow::Error) -> bool {
    matches!(kind(error), Some(Kind::Unauthorized | Kind::NotFound | Kind::Refused { .. }))
}

/// The kind of a failed call.
pub(crate) fn kind(error: &anyhow::Error) -> Option<Kind> {
    error.downcast_ref::<CallError>().map(|failed| failed.error.kind)
}

/// The one of these ids that is meant: itself, or the only one that begins or ends so.
pub(crate) fn one_of<'a>(
    what: &str,
    which: &str,
    ids: &[&'a str],
    enough: IdMatch,
) -> anyhow::Result<&'a str> {
    if let Some(id) = ids.iter().find(|id| **id == which) {
        return Ok(*id);
    }
    let part = |id: &&&str| id.starts_with(which) || id.ends_with(which);
    let found: Vec<&str> =
        ids.iter().filter(|_| which.len() >= SHORTEST).filter(part).copied().collect();
    match found.as_slice() {
        [one] if enough == IdMatch::Whole => {
            bail!("with --yes, give the whole id: \"{which}\" is a part of {what} {one}")
        }
        [one] => Ok(*one),
        [] => Err(NotFound::new(format!("there is no {what} \"{which}\"")).into()),
        several => bail!("several fit {what} \"{which}\": choose one of {}", several.join(", ")),
    }
}

/// The binding that is meant, by its id or a part of it.
pub(crate) async fn binding(
    client: &Client,
    instance: &str,
    which: &str,
    enough: IdMatch,
) -> anyhow::Result<String> {
    let all = client.bindings(instance).await?;
    let ids: Vec<&str> = all.iter().filter_map(|it| it["id"].as_str()).collect();
    let found = one_of("binding", which, &ids, enough).map_err(|error| {
        match error.downcast::<NotFound>() {
            Ok(missing) => missing.listed_by(format!("bindings {instance}")).into(),
            Err(other) => other,
        }
    });
    found.map(str::to_owned)
}

/// What questions call an instance: its runtime's name, where it can be looked up.
pub(crate) async fn called(client: &Client, instance: &str) -> String {
    let looked_up = client.has_runtimes();
    let named = if looked_up { runtime(client, instance, IdMatch::Whole).await.ok() } else { None };
    named.map_or_else(|| format!("instance {instance}"), |runtime| runtime.called())
}

fn ids(page: &Value) -> impl Iterator<Item = &str> {
    page["operations"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_str())
}

#[cfg(test)]
mod tests {
    use super::{
        IdMatch::{Part, Whole},
        *,
    };

    #[test]
    fn an_id_is_meant_by_itself_or_by_a_part_that_fits_it_alone() {
        let ids = ["b-1", "b-12345", "c-12345"];
        let found =
            |which, enough| one_of("binding", which, &ids, enough).map_err(|e| e.to_string());

        assert_eq!(found("b-1", Whole), Ok("b-1"));
        assert_eq!(found("b-12", Part), Ok("b-12345"));
        assert_eq!(
            found("b-12", Whole).unwrap_err(),
            "with --yes, give the whole id: \"b-12\" is a part of binding b-12345"
        );
        assert_eq!(found("x-12345", Part).unwrap_err(), "there is no binding \"x-12345\"");
        // Too short to be a part.
        assert_eq!(found("c-1", Part).unwrap_err(), "there is no binding \"c-1\"");
        assert_eq!(
            found("12345", Part).unwrap_err(),
            "several fit binding \"12345\": choose one of b-12345, c-12345"
        );
    }
}
