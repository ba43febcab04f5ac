//! Kyma as a part of what the provisioner is asked for: the older way, in which it installs Kyma itself.

use clients::provisioner::{ConflictStrategy, Entry, Kyma, KymaComponent, Profile};

use super::Creator;
use crate::{Order, overrides::Value};

impl Creator {
    /// The Kyma that the provisioner installs, with every override.
    pub fn kyma(&self, order: &Order) -> Kyma {
        let component = |it: &clients::releases::ListedComponent| KymaComponent {
            component: it.name.clone(),
            namespace: it.namespace.clone(),
            configuration: self.overrides.of(&it.name).map(entry).collect(),
            source_url: it.url.clone(),
            conflict_strategy: None,
        };
        Kyma {
            version: self.version.clone(),
            profile: Some(match order.resolved.profile {
                domain::plan::Profile::Evaluation => Profile::Evaluation,
                domain::plan::Profile::Production => Profile::Production,
            }),
            components: self.wanted().map(component).collect(),
            configuration: self.overrides.global().iter().map(entry).collect(),
            conflict_strategy: Some(ConflictStrategy::Replace),
        }
    }
}

fn entry((key, value): (&String, &Value)) -> Entry {
    Entry { key: key.clone(), value: value.text.clone().into(), secret: value.secret }
}
