//! What is to be installed: Kyma Lite, Kyma Lite with more, or exactly what the caller lists.
//!
//! What a reader would get wrong: a list with the runtime agent in it is complete, as older clients send it. A
//! list without it is an addition to Kyma Lite.

use std::collections::BTreeSet;

use super::{Defaults, must};
use crate::{
    Error,
    configuration::{Component, Entry, Kyma},
    requests,
};

/// The phrase for provisioning in errors.
pub(super) const PROVISIONING: &str = "Runtime provisioning";

/// What is to be installed; `starting` says for what: "Runtime provisioning" or "Runtime upgrade".
pub fn kyma(request: requests::Kyma, defaults: &Defaults, starting: &str) -> Result<Kyma, Error> {
    check(&request).map_err(|error| {
        let part = if starting == PROVISIONING { "Kyma config " } else { "" };
        let message =
            format!("{part}validation error while starting {starting}, error: {}", error.message);
        Error { message, ..error }
    })?;
    Ok(Kyma {
        version: request.version,
        profile: request.profile,
        components: complete(request.components, &defaults.kyma_lite),
        configuration: request.configuration,
        conflict_strategy: request.conflict_strategy,
    })
}

/// Components that are installed by default.
pub(super) fn lite() -> Vec<Component> {
    [("cluster-essentials", "kyma-system"), ("istio", "istio-system")]
        .into_iter()
        .map(|(name, namespace)| plain(name, namespace))
        .chain([agent()])
        .collect()
}

fn agent() -> Component {
    plain(Kyma::AGENT, "compass-system")
}

fn plain(name: &str, namespace: &str) -> Component {
    Component {
        component: name.into(),
        namespace: namespace.into(),
        configuration: vec![],
        source_url: None,
        conflict_strategy: None,
    }
}

/// In the order of the list; what is in Kyma Lite too is installed as the caller says, at its place there.
fn complete(listed: Vec<Component>, lite: &[Component]) -> Vec<Component> {
    if contains(&listed, Kyma::AGENT) {
        return listed;
    }
    let mut components = lite.to_vec();
    for module in listed {
        match components.iter_mut().find(|other| other.component == module.component) {
            Some(same) => *same = module,
            None => components.push(module),
        }
    }
    if !contains(&components, Kyma::AGENT) {
        components.push(agent());
    }
    components
}

fn contains(components: &[Component], name: &str) -> bool {
    components.iter().any(|component| component.component == name)
}

fn check(request: &requests::Kyma) -> Result<(), Error> {
    must(!request.version.is_empty(), "kymaConfig.version", "must not be empty")?;
    entries(&request.configuration, "kymaConfig.configuration")?;
    let mut seen = BTreeSet::new();
    for (index, module) in request.components.iter().enumerate() {
        let at = format!("kymaConfig.components[{index}]");
        let name = &module.component;
        must(!name.is_empty(), format_args!("{at}.component"), "must not be empty")?;
        must(!module.namespace.is_empty(), format_args!("{at}.namespace"), "must not be empty")?;
        must(
            seen.insert(name),
            format_args!("{at}.component"),
            format_args!("{name:?} is there twice"),
        )?;
        entries(&module.configuration, &format!("{at}.configuration"))?;
    }
    Ok(())
}

fn entries(entries: &[Entry], at: &str) -> Result<(), Error> {
    let empty = entries.iter().position(|entry| entry.key.is_empty());
    match empty {
        Some(index) => must(false, format_args!("{at}[{index}].key"), "must not be empty"),
        None => Ok(()),
    }
}
