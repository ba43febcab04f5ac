//! From a Kyma configuration to the input of its installer.

use clients::runtime::{Install, Module, Override, Scope};

use crate::configuration::{ConflictStrategy, Entry, Kyma, Profile};

/// The input of the installer.
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
    // The strategy for all components is for their common overrides; a component without one merges.
    let own = kyma.components.iter().map(|component| {
        scope(Some(&component.component), &component.configuration, component.conflict_strategy)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Component;

    #[test]
    fn a_component_without_a_conflict_strategy_does_not_take_that_of_all() {
        let entry = Entry { key: "k".into(), value: "v".into(), secret: false };
        let component = |name: &str, conflict_strategy| Component {
            component: name.into(),
            namespace: "kyma-system".into(),
            configuration: vec![entry.clone()],
            source_url: None,
            conflict_strategy,
        };
        let kyma = Kyma {
            version: "2.10.0".into(),
            profile: None,
            components: vec![
                component("silent", None),
                component("merging", Some(ConflictStrategy::Merge)),
            ],
            configuration: vec![entry.clone()],
            conflict_strategy: Some(ConflictStrategy::Replace),
        };

        let told = install(&kyma);

        let scopes: Vec<_> =
            told.scopes.iter().map(|scope| (scope.strategy, scope.replace)).collect();
        assert_eq!(scopes, [("Replace", true), ("", false), ("Merge", false)]);
    }
}
