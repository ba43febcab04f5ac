//! The Secret through which the Lifecycle Manager gets into a runtime.
//!
//! What a reader would get wrong: it is found by its label and not by its name, and a value that is empty is one that
//! is being replaced right now.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use secrecy::SecretString;

use super::{KYMA_NAME_LABEL, LifecycleManager, Marks};
use crate::{
    error::{Error, Kind},
    kubernetes::Objects,
    runtime::{Content, SECRETS, secrets::overwrite},
};

/// The key under which the kubeconfig stands.
const KEY: &str = "config";

impl LifecycleManager {
    /// Writes the kubeconfig of the runtime of `kyma`, whatever the Secret held before. The label by which it is
    /// found is added to `marks`.
    pub async fn write_kubeconfig(
        &self,
        kyma: &str,
        kubeconfig: &SecretString,
        marks: &Marks,
    ) -> Result<(), Error> {
        let mut labels = marks.labels.clone();
        labels.insert(KYMA_NAME_LABEL.into(), kyma.into());
        let data = BTreeMap::from([(KEY.to_owned(), kubeconfig.clone())]);
        let content = Content { data, labels, annotations: marks.annotations.clone() };
        let written = self.write(&secret_name(kyma), &content).await;
        written.map_err(|error| content.cut_from(error))
    }

    async fn write(&self, name: &str, content: &Content) -> Result<(), Error> {
        let secrets = self.secrets();
        if let Some(found) = secrets.find(name).await? {
            return overwrite(&secrets, found, content).await;
        }
        let mut secret = Secret { type_: Some("Opaque".into()), ..Secret::default() };
        secret.metadata.name = Some(name.to_owned());
        content.write_to(&mut secret);
        match secrets.create(name, &secret).await {
            Err(there) if there.kind == Kind::AlreadyExists => match secrets.find(name).await? {
                Some(found) => overwrite(&secrets, found, content).await,
                None => Err(Error { kind: Kind::Changed, ..there }),
            },
            made => made.map(drop),
        }
    }

    /// Removes the Secret of `kyma`; whether it was there.
    pub async fn remove_kubeconfig(&self, kyma: &str) -> Result<bool, Error> {
        self.secrets().delete(&secret_name(kyma), None).await
    }

    /// The kubeconfig of the runtime of `kyma`, by its label, as the Lifecycle Manager finds it. More than one Secret is
    /// [`Kind::Conflict`]; one without a value is [`Kind::Unavailable`].
    pub async fn find_kubeconfig(&self, kyma: &str) -> Result<Option<SecretString>, Error> {
        let doing = format!("looking for the kubeconfig of Kyma {kyma}");
        let found = self.secrets().list(&format!("{KYMA_NAME_LABEL}={kyma}")).await?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => value(one, &doing).map(Some),
            _ => Err(Self::failed(Kind::Conflict, &doing, "there is more than one Secret")),
        }
    }

    /// The kubeconfig that another system wrote for a runtime, by the runtime's id.
    pub async fn kubeconfig_of(&self, runtime: &str) -> Result<Option<SecretString>, Error> {
        let doing = format!("reading the kubeconfig of runtime {runtime}");
        match self.secrets().find(&secret_name(runtime)).await? {
            Some(found) => value(&found, &doing).map(Some),
            None => Ok(None),
        }
    }

    fn secrets(&self) -> Objects<Secret> {
        self.cluster.objects(SECRETS, Some(&self.namespace))
    }
}

fn secret_name(of: &str) -> String {
    format!("kubeconfig-{of}")
}

fn value(secret: &Secret, doing: &str) -> Result<SecretString, Error> {
    let bytes = secret.data.as_ref().and_then(|data| data.get(KEY));
    let text = bytes.and_then(|bytes| std::str::from_utf8(&bytes.0).ok());
    match text.filter(|text| !text.is_empty()) {
        Some(text) => Ok(SecretString::from(text)),
        None => {
            let why = "the Secret has no kubeconfig in it";
            Err(LifecycleManager::failed(Kind::Unavailable, doing, why))
        }
    }
}
