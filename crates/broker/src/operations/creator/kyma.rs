//! Kyma as a part of what the provisioner is asked for: the older way, in which it installs Kyma itself.
//!
//! What a reader would get wrong: the runtime agent is in every order, whatever the release and the plan list. The provisioner
//! connects the runtime through it, and refuses an order without it.

use clients::{
    provisioner::{ConflictStrategy, Entry, Kyma, KymaComponent, Profile},
    releases::ListedComponent,
};

use super::Creator;
use crate::{Order, overrides::Value};

/// The component that connects a runtime with the Director, and its namespace.
const AGENT: (&str, &str) = ("compass-runtime-agent", "compass-system");

impl Creator {
    /// The Kyma that the provisioner installs, with every override.
    pub fn kyma(&self, order: &Order) -> Kyma {
        let component = |it: &ListedComponent| KymaComponent {
            component: it.name.clone(),
            namespace: it.namespace.clone(),
            configuration: self.overrides.of(&it.name).map(entry).collect(),
            source_url: it.url.clone(),
            conflict_strategy: None,
        };
        let (name, namespace) = AGENT;
        let mut components: Vec<_> = self.wanted().map(component).collect();
        if components.iter().all(|it| it.component != name) {
            let agent =
                ListedComponent { name: name.into(), namespace: namespace.into(), url: None };
            components.push(component(&agent));
        }
        Kyma {
            version: self.version.clone(),
            profile: Some(match order.resolved.profile {
                domain::plan::Profile::Evaluation => Profile::Evaluation,
                domain::plan::Profile::Production => Profile::Production,
            }),
            components,
            configuration: self.overrides.global().iter().map(entry).collect(),
            conflict_strategy: Some(ConflictStrategy::Replace),
        }
    }
}

fn entry((key, value): (&String, &Value)) -> Entry {
    Entry { key: key.clone(), value: value.text.clone().into(), secret: value.secret }
}
