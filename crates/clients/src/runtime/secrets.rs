//! Namespaces and Secrets: there after the call, no matter who made them.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Secret},
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{NAMESPACES, Runtime, SECRETS};
use crate::{
    error::{Error, Kind},
    kubernetes::Objects,
    scrub::Scrub,
};

/// The content of a Secret.
#[derive(Clone, Default)]
pub struct Content {
    /// Its values.
    pub data: BTreeMap<String, SecretString>,
    /// Labels that are added or replaced.
    pub labels: BTreeMap<String, String>,
    /// Annotations that are added or replaced.
    pub annotations: BTreeMap<String, String>,
}

impl Runtime {
    /// Makes a namespace, or finds it.
    pub async fn ensure_namespace(&self, name: &str) -> Result<(), Error> {
        let namespaces = self.cluster.objects::<Namespace>(NAMESPACES, None);
        match namespaces.create(name, &json!({"metadata": {"name": name}})).await {
            Err(error) if error.kind == Kind::AlreadyExists => Ok(()),
            made => made.map(|_| ()),
        }
    }

    /// The values of a Secret, if it is there.
    pub async fn secret(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<BTreeMap<String, Vec<u8>>>, Error> {
        let secrets = self.cluster.objects::<Secret>(SECRETS, Some(namespace));
        let found = secrets.find(name).await?;
        let data = found.map(|secret| secret.data.unwrap_or_default());
        Ok(data.map(|data| data.into_iter().map(|(key, value)| (key, value.0)).collect()))
    }

    /// Writes a Secret, whatever it held before; a missing namespace is made.
    pub async fn write_secret(
        &self,
        namespace: &str,
        name: &str,
        content: &Content,
    ) -> Result<(), Error> {
        let written = self.write(namespace, name, content).await;
        written.map_err(|error| content.cut_from(error))
    }

    async fn write(&self, namespace: &str, name: &str, content: &Content) -> Result<(), Error> {
        let secrets = self.cluster.objects::<Secret>(SECRETS, Some(namespace));
        if let Some(found) = secrets.find(name).await? {
            return overwrite(&secrets, found, content).await;
        }
        let mut secret = Secret { type_: Some("Opaque".into()), ..Secret::default() };
        secret.metadata.name = Some(name.into());
        content.write_to(&mut secret);
        let made = match secrets.create(name, &secret).await {
            Err(error) if error.kind == Kind::NotFound => {
                self.ensure_namespace(namespace).await?;
                secrets.create(name, &secret).await
            }
            made => made,
        };
        match made {
            // Created concurrently, or the look was answered from a cache.
            Err(there) if there.kind == Kind::AlreadyExists => match secrets.find(name).await? {
                Some(found) => overwrite(&secrets, found, content).await,
                None => Err(Error { kind: Kind::Changed, ..there }),
            },
            made => made.map(|_| ()),
        }
    }

    /// Removes a Secret; one that is not there is removed.
    pub async fn delete_secret(&self, namespace: &str, name: &str) -> Result<(), Error> {
        let secrets = self.cluster.objects::<Secret>(SECRETS, Some(namespace));
        secrets.delete(name, None).await.map(|_| ())
    }
}

pub(crate) async fn overwrite(
    secrets: &Objects<Secret>,
    mut found: Secret,
    content: &Content,
) -> Result<(), Error> {
    content.write_to(&mut found);
    let name = found.metadata.name.clone().unwrap_or_default();
    secrets.replace(&name, &found).await.map(|_| ())
}

impl Content {
    /// The failure without the values: an API server that refuses one may repeat it.
    pub(crate) fn cut_from(&self, error: Error) -> Error {
        Scrub::values(self.data.values()).clean(error)
    }

    pub(crate) fn write_to(&self, secret: &mut Secret) {
        let bytes = |value: &SecretString| ByteString(value.expose_secret().as_bytes().to_vec());
        let data = self.data.iter().map(|(key, value)| (key.clone(), bytes(value)));
        secret.data = Some(data.collect());
        let meta = &mut secret.metadata;
        meta.labels.get_or_insert_default().extend(self.labels.clone());
        meta.annotations.get_or_insert_default().extend(self.annotations.clone());
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("keys", &self.data.keys())
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}
