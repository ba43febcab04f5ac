//! What runtimes are called, for lists of operations that know only their instances.

use std::collections::HashMap;

use broker::{
    instances::Error,
    runtimes::{Detail, LARGEST_PAGE, Runtime, RuntimesQuery, StateWord},
};

use crate::{
    Console,
    access::{Person, RUNTIMES_READ},
};

/// The name of a runtime: its owner's, or its Shoot's.
pub(crate) fn of(runtime: &Runtime) -> String {
    let named = runtime.parameters.as_ref().map(|parameters| parameters.name.as_str());
    match named.filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None if !runtime.shoot_name.is_empty() => runtime.shoot_name.clone(),
        None => short(&runtime.instance_id),
    }
}

/// An instance that has no name any more, or a job.
pub(crate) fn short(instance: &str) -> String {
    if let Some(job) = instance.strip_prefix("job/") {
        return job.replace('/', ", ");
    }
    instance.chars().take(8).collect()
}

/// The runtime of an instance, in whatever state it is.
pub(crate) async fn find(
    console: &Console,
    person: &Person,
    instance: &str,
) -> Result<Option<Runtime>, Error> {
    let there = RuntimesQuery {
        instances: vec![instance.to_owned()],
        states: vec![StateWord::All],
        ..RuntimesQuery::default()
    };
    let broker = &console.parts().broker;
    let found = broker.runtimes(&person.caller(), &there).await?;
    if let Some(runtime) = found.data.into_iter().next() {
        return Ok(Some(runtime));
    }
    let gone = "deprovisioned".parse().map_or_else(|()| vec![], |word| vec![word]);
    let gone = RuntimesQuery { states: gone, ..there };
    Ok(broker.runtimes(&person.caller(), &gone).await?.data.into_iter().next())
}

/// The names of these instances; removed ones have those of their Shoots.
pub(crate) async fn by_instance(
    console: &Console,
    person: &Person,
    instances: impl IntoIterator<Item = &str>,
) -> HashMap<String, String> {
    if !person.may(RUNTIMES_READ) {
        return HashMap::new();
    }
    // Runs of jobs have no runtime.
    let all = instances.into_iter().filter(|it| !it.contains('/'));
    let mut instances: Vec<String> = all.map(str::to_owned).collect();
    instances.sort_unstable();
    instances.dedup();
    let mut names = HashMap::new();
    add(console, person, &instances, StateWord::All, &mut names).await;
    instances.retain(|it| !names.contains_key(it));
    if let Ok(removed) = "deprovisioned".parse() {
        add(console, person, &instances, removed, &mut names).await;
    }
    names
}

/// Adds the names of those of the instances that are in a state.
async fn add(
    console: &Console,
    person: &Person,
    instances: &[String],
    state: StateWord,
    names: &mut HashMap<String, String>,
) {
    for some in instances.chunks(LARGEST_PAGE as usize) {
        let ask = RuntimesQuery {
            instances: some.to_vec(),
            states: vec![state],
            detail: Detail::Last,
            ..RuntimesQuery::default()
        };
        // A list without names is better than none.
        let Ok(page) = console.parts().broker.runtimes(&person.caller(), &ask).await else { break };
        names.extend(page.data.into_iter().map(|runtime| {
            let name = of(&runtime);
            (runtime.instance_id, name)
        }));
    }
}
