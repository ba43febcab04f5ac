//! What is installed in a cluster.

use async_graphql::InputObject;
use provisioner::{
    configuration::{ConflictStrategy, Entry, Profile},
    requests::{Component, Kyma},
};

use super::wrong::{InputError, elements};

/// A Kyma installation. Without components it is Kyma Lite; what is listed is added to that.
#[derive(InputObject)]
pub(super) struct KymaConfigInput {
    version: String,
    profile: Option<Profile>,
    components: Option<Vec<Option<ComponentConfigurationInput>>>,
    /// Overrides for all components.
    configuration: Option<Vec<Option<ConfigEntryInput>>>,
    conflict_strategy: Option<ConflictStrategy>,
}

#[derive(InputObject)]
struct ComponentConfigurationInput {
    component: String,
    namespace: String,
    configuration: Option<Vec<Option<ConfigEntryInput>>>,
    #[graphql(name = "sourceURL")]
    source_url: Option<String>,
    conflict_strategy: Option<ConflictStrategy>,
}

#[derive(InputObject)]
struct ConfigEntryInput {
    key: String,
    value: String,
    secret: Option<bool>,
}

impl KymaConfigInput {
    pub(super) fn request(self) -> Result<Kyma, InputError> {
        let components = elements("components", self.components)?.into_iter().enumerate();
        let components = components
            .map(|(index, input)| input.request().map_err(|wrong| wrong.at("components", index)));
        Ok(Kyma {
            version: self.version,
            profile: self.profile,
            components: components.collect::<Result<_, _>>()?,
            configuration: entries(self.configuration)?,
            conflict_strategy: self.conflict_strategy,
        })
    }
}

impl ComponentConfigurationInput {
    fn request(self) -> Result<Component, InputError> {
        Ok(Component {
            component: self.component,
            namespace: self.namespace,
            configuration: entries(self.configuration)?,
            source_url: self.source_url,
            conflict_strategy: self.conflict_strategy,
        })
    }
}

fn entries(inputs: Option<Vec<Option<ConfigEntryInput>>>) -> Result<Vec<Entry>, InputError> {
    let inputs = elements("configuration", inputs)?.into_iter();
    let entry = |ConfigEntryInput { key, value, secret }| {
        let secret = secret.unwrap_or_default();
        Entry { key, value, secret }
    };
    Ok(inputs.map(entry).collect())
}
