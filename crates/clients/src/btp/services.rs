//! Service bindings and service instances: counted, deleted, and let go of when nobody else does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Btp;
use crate::{
    error::{Error, Kind},
    kubernetes::{Resource, is_missing, is_no_kind},
};

/// Bindings belong to instances, so they come first.
const KINDS: [Resource; 2] =
    [kind("ServiceBinding", "servicebindings"), kind("ServiceInstance", "serviceinstances")];

const fn kind(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "services.cloud.sap.com", version: "v1", kind, plural }
}

/// How many objects are left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemainingServices {
    /// Service bindings.
    pub bindings: usize,
    /// Service instances.
    pub instances: usize,
}

impl RemainingServices {
    /// Whether nothing is left.
    pub fn is_clean(self) -> bool {
        self == Self::default()
    }

    fn of([bindings, instances]: [usize; 2]) -> Self {
        Self { bindings, instances }
    }
}

impl Btp {
    /// How much is left. A kind that the runtime does not have has no objects.
    pub async fn left(&self) -> Result<RemainingServices, Error> {
        let mut left = [0; 2];
        for (left, kind) in left.iter_mut().zip(KINDS) {
            *left = self.all(kind).await?.len();
        }
        Ok(RemainingServices::of(left))
    }

    /// Deletes all that is not on its way out yet, namespace by namespace, and tells how much was there before.
    pub async fn delete_services(&self) -> Result<RemainingServices, Error> {
        let mut left = [0; 2];
        for (left, kind) in left.iter_mut().zip(KINDS) {
            let found = self.all(kind).await?;
            *left = found.len();
            let staying = found.iter().filter(|object| !is_going(object));
            let namespaces: BTreeSet<&str> = staying.map(|object| place(object).0).collect();
            for namespace in namespaces {
                let objects = self.cluster.objects::<Value>(kind, Some(namespace));
                match objects.delete_all("").await {
                    // The kind or the namespace went meanwhile.
                    Err(error) if error.kind == Kind::NotFound => {}
                    deleted => deleted?,
                }
            }
        }
        Ok(RemainingServices::of(left))
    }

    /// Takes the finalizers of all that is on its way out, so that it goes; how many objects had some.
    pub async fn strip_finalizers(&self) -> Result<usize, Error> {
        let mut stripped = 0;
        for kind in KINDS {
            for mut object in self.all(kind).await? {
                let held =
                    object["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
                if !held || !is_going(&object) {
                    continue;
                }
                object["metadata"]["finalizers"] = json!([]);
                let (namespace, name) = place(&object);
                let objects = self.cluster.objects::<Value>(kind, Some(namespace));
                match objects.replace(name, &object).await {
                    // The operator was faster.
                    Err(error) if is_missing(&error) => {}
                    written => drop(written?),
                }
                stripped += 1;
            }
        }
        Ok(stripped)
    }

    async fn all(&self, kind: Resource) -> Result<Vec<Value>, Error> {
        match self.cluster.objects::<Value>(kind, None).list("").await {
            Err(error) if is_no_kind(&error) => Ok(Vec::new()),
            found => found,
        }
    }
}

fn is_going(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn place(object: &Value) -> (&str, &str) {
    let word = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    (word("namespace"), word("name"))
}
