//! The payload for the Reconciler. No `Debug` of it prints a secret.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// A cluster and the Kyma that it shall have.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// The runtime's id.
    #[serde(rename = "runtimeID")]
    pub runtime_id: String,
    /// Its name for people.
    pub runtime_input: RuntimeInput,
    /// The Kyma it shall have.
    pub kyma_config: Kyma,
    /// Its owner and its location.
    pub metadata: Metadata,
    /// How the Reconciler gets in.
    #[serde(serialize_with = "exposed")]
    pub kubeconfig: SecretString,
}

impl Cluster {
    /// `text` without what nobody may read of this payload. Of the kubeconfig every longer word is
    /// cut: an error about it may repeat a line of it only.
    pub(super) fn cut_from(&self, text: &str) -> String {
        let words = self.kubeconfig.expose_secret().split(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '{' | '}' | '[' | ']')
        });
        let settings = self.kyma_config.components.iter().flat_map(|part| &part.configuration);
        let values = settings.filter(|setting| setting.secret).filter_map(|it| it.value.as_str());
        let secrets =
            words.filter(|word| word.len() >= 12).chain(values.filter(|it| it.len() >= 4));
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "[REDACTED]"))
    }
}

/// The name of a runtime for people.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RuntimeInput {
    /// Its name.
    pub name: String,
    /// A description for people.
    pub description: String,
}

/// A version of Kyma and its parts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Kyma {
    /// The version.
    pub version: String,
    /// `Evaluation` or `Production`.
    pub profile: String,
    /// The administrators of the cluster.
    pub administrators: Vec<String>,
    /// Its parts.
    pub components: Vec<KymaComponent>,
}

/// One part of Kyma.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KymaComponent {
    /// Its name.
    pub component: String,
    /// Where it is installed.
    pub namespace: String,
    /// Where it comes from, if not from Kyma itself.
    #[serde(rename = "URL")]
    pub url: String,
    /// Its version, if not Kyma's.
    pub version: String,
    /// How it differs from its defaults.
    pub configuration: Vec<Setting>,
}

/// One setting of a part.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name.
    pub key: String,
    /// Its value: a text, a number or a boolean.
    pub value: Value,
    /// Whether nobody may read it.
    pub secret: bool,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: &dyn fmt::Debug = if self.secret { &"[REDACTED]" } else { &self.value };
        f.debug_struct("Setting").field("key", &self.key).field("value", shown).finish()
    }
}

/// The owner and the location of a cluster.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The tenant.
    #[serde(rename = "globalAccountID")]
    pub global_account_id: String,
    /// The subaccount.
    #[serde(rename = "subAccountID")]
    pub sub_account_id: String,
    /// The service.
    #[serde(rename = "serviceID")]
    pub service_id: String,
    /// The service plan's id.
    #[serde(rename = "servicePlanID")]
    pub service_plan_id: String,
    /// The service plan's name.
    pub service_plan_name: String,
    /// The Shoot.
    pub shoot_name: String,
    /// The instance.
    #[serde(rename = "instanceID")]
    pub instance_id: String,
    /// Where it runs.
    pub region: String,
}

fn exposed<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}
