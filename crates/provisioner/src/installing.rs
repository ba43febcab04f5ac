//! From a Kyma configuration to what its installer is told.

use clients::runtime::{Install, Module, Override, Scope};

use crate::configuration::{ConflictStrategy, Entry, Kyma, Profile};

/// What the installer is told.
pub(crate) fn install(kyma: &Kyma) -> Install {
    let profile = kyma.profile.map(|profile| match profile {
        Profile::Evaluation => "evaluation",
        Profile::Production => "production",
    });
    let modules = kyma.components.iter().map(|component| Module {
        name: component.component.clone(),
        namespace: component.namespace.clone(),
        source_url: component.source_url.clone(),
    });
    let global = scope(None, &kyma.configuration, kyma.conflict_strategy);
    let own = kyma.components.iter().map(|component| {
        let strategy = component.conflict_strategy.or(kyma.conflict_strategy);
        scope(Some(&component.component), &component.configuration, strategy)
    });
    let scopes = std::iter::once(global).chain(own).filter(|scope| !scope.overrides.is_empty());
    Install { profile, modules: modules.collect(), scopes: scopes.collect() }
}

fn scope(component: Option<&str>, entries: &[Entry], strategy: Option<ConflictStrategy>) -> Scope {
    let overrides = entries.iter().map(|entry| Override {
        key: entry.key.clone(),
        value: entry.value.clone(),
        secret: entry.secret,
    });
    Scope {
        component: component.map(str::to_owned),
        overrides: overrides.collect(),
        replace: strategy == Some(ConflictStrategy::Replace),
        strategy: match strategy {
            Some(ConflictStrategy::Merge) => "Merge",
            Some(ConflictStrategy::Replace) => "Replace",
            None => "",
        },
    }
}
