//! Kyma resources: made from a template, marked with labels, deleted, and looked for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{INSTANCE_LABEL, LifecycleManager, RUNTIME_LABEL, Template, Version};
use crate::error::{Error, Kind};

/// Labels and annotations of a Kyma. Existing ones that are not named stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Labels that are added or replaced.
    pub labels: BTreeMap<String, String>,
    /// Annotations that are added or replaced.
    pub annotations: BTreeMap<String, String>,
}

/// A Kyma as it is in the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kyma {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Whether it is on its way out.
    pub deleting: bool,
    /// The state that the Lifecycle Manager reports: `Processing`, `Ready`, `Warning`, `Error`, `Deleting`.
    pub state: Option<String>,
}

/// The result of applying a Kyma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyResult {
    /// It was made.
    Created,
    /// It was there, and its marks were changed.
    Marked,
    /// It was there, with all the marks.
    Unchanged,
}

impl LifecycleManager {
    /// Makes a Kyma, or finds it and sets its marks. The spec of one that is there is left alone; one of somebody
    /// else's instance or runtime is [`Kind::Conflict`], one that is being deleted is [`Kind::Busy`].
    pub async fn apply(
        &self,
        template: &Template,
        name: &str,
        marks: &Marks,
    ) -> Result<ApplyResult, Error> {
        let kymas = self.kymas(template.version(), template.namespace());
        if let Some(found) = kymas.find(name).await? {
            return self.mark(template.version(), template.namespace(), found, marks).await;
        }
        match kymas.create(name, &template.named(name, marks)).await {
            Ok(_) => Ok(ApplyResult::Created),
            // An earlier call of ours got through, or it was created concurrently.
            Err(there) if there.kind == Kind::AlreadyExists => match kymas.find(name).await? {
                Some(found) => {
                    self.mark(template.version(), template.namespace(), found, marks).await
                }
                None => Err(Error { kind: Kind::Changed, ..there }),
            },
            Err(error) => Err(error),
        }
    }

    /// Sets marks of a Kyma that is there; [`Kind::NotFound`] when it is not.
    pub async fn set_marks(
        &self,
        namespace: &str,
        name: &str,
        marks: &Marks,
    ) -> Result<ApplyResult, Error> {
        let found = self.kymas(self.version, namespace).get(name).await?;
        self.mark(self.version, namespace, found, marks).await
    }

    /// The Kyma, if it is there.
    pub async fn find(&self, namespace: &str, name: &str) -> Result<Option<Kyma>, Error> {
        let found = self.kymas(self.version, namespace).find(name).await?;
        Ok(found.map(|object| Kyma::of(&object)))
    }

    /// Deletes a Kyma; whether it was there. It is gone when the Lifecycle Manager has let go of it.
    pub async fn delete(&self, namespace: &str, name: &str) -> Result<bool, Error> {
        self.kymas(self.version, namespace).delete(name, None).await
    }

    async fn mark(
        &self,
        version: Version,
        namespace: &str,
        mut found: Value,
        marks: &Marks,
    ) -> Result<ApplyResult, Error> {
        let kyma = Kyma::of(&found);
        let doing = format!("marking Kyma {}", base::failure::shortened(kyma.name.clone()));
        if kyma.deleting {
            return Err(Self::failed(Kind::Busy, &doing, "it is being deleted"));
        }
        for label in [INSTANCE_LABEL, RUNTIME_LABEL] {
            let (theirs, ours) = (kyma.labels.get(label), marks.labels.get(label));
            if let (Some(theirs), Some(ours)) = (theirs, ours)
                && theirs != ours
            {
                let why = format!("its label {label} is {theirs}");
                return Err(Self::failed(Kind::Conflict, &doing, why));
            }
        }
        let labels = set(&mut found, "labels", &marks.labels);
        let annotations = set(&mut found, "annotations", &marks.annotations);
        if !labels && !annotations {
            return Ok(ApplyResult::Unchanged);
        }
        self.kymas(version, namespace).replace(&kyma.name, &found).await?;
        Ok(ApplyResult::Marked)
    }
}

/// Sets entries of `metadata.labels` or `metadata.annotations`; whether something changed.
fn set(object: &mut Value, which: &str, wanted: &BTreeMap<String, String>) -> bool {
    let map = &mut object["metadata"][which];
    if !map.is_object() {
        if wanted.is_empty() {
            return false;
        }
        *map = json!({});
    }
    let mut changed = false;
    for (key, value) in wanted {
        if map[key.as_str()].as_str() != Some(value) {
            map[key.as_str()] = json!(value);
            changed = true;
        }
    }
    changed
}

impl Kyma {
    fn of(object: &Value) -> Self {
        let metadata = &object["metadata"];
        let texts = |map: &Value| {
            let map: Option<&Map<String, Value>> = map.as_object();
            let entries = map.into_iter().flatten();
            entries
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect()
        };
        Self {
            name: metadata["name"].as_str().unwrap_or_default().to_owned(),
            labels: texts(&metadata["labels"]),
            annotations: texts(&metadata["annotations"]),
            deleting: metadata["deletionTimestamp"].is_string(),
            state: object["status"]["state"].as_str().map(str::to_owned),
        }
    }
}
