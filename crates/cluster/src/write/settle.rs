//! What every created or changed object goes through before it is stored.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Writing;
use crate::{
    Status,
    apply::{Entry, track},
    catalog::{Admission, Verb},
    cluster::written,
    definitions, native,
    object::{carry_over, is_deleting, map_mut, metadata_mut, name, text, validate},
    status::Cause,
};

/// Metadata that only the server sets.
const SYSTEM: &[&str] =
    &["uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"];

impl Writing<'_> {
    /// Takes the object from the request to its stored form. `owned` says that its managed
    /// fields are settled already.
    pub(super) fn settle(
        &mut self,
        old: Option<&Arc<Value>>,
        new: Value,
        owned: bool,
    ) -> Result<Arc<Value>, Status> {
        let before = old.map(AsRef::as_ref);
        let mut new = self.keep_other_part(before, new, owned)?;
        self.keep_system_fields(before, &mut new)?;
        let kind = &self.request.kind;
        native::complete(kind, before, &mut new);
        let verb = if old.is_some() { Verb::Update } else { Verb::Create };
        let counts = self.admit(verb, before, &mut new)?;
        validate(kind, &new)?;
        if kind.resource() == definitions::RESOURCE {
            definitions::admit(kind, &mut new, &written(self.now))?;
        }
        check_finalizers(kind, before, &new)?;
        if kind.counts_generations {
            self.count_generation(before, &mut new, counts)?;
        }
        if !owned {
            track(before, &mut new, self.merge_keys(), &self.manager(false), &written(self.now));
        }
        match old {
            Some(old) if **old == new => Ok(Arc::clone(old)),
            Some(_) if is_deleting(&new) && self.may_go(&new) => Ok(self.remove(&new)),
            _ => Ok(self.draft.put(&self.resource(), new)),
        }
    }

    /// A write to `status` changes nothing else, and a write to the object never changes `status`.
    fn keep_other_part(
        &self,
        old: Option<&Value>,
        mut new: Value,
        owned: bool,
    ) -> Result<Value, Status> {
        if self.request.subresource.as_deref() == Some("binding") {
            let mut kept = old.cloned().unwrap_or_else(|| json!({}));
            kept["spec"]["seedName"] = new["spec"]["seedName"].clone();
            return Ok(kept);
        }
        if self.request.subresource.is_some() {
            let mut kept = old.cloned().unwrap_or_else(|| json!({}));
            carry_over("status", Some(&new), map_mut(&mut kept)?);
            carry_over("apiVersion", Some(&new), map_mut(&mut kept)?);
            if owned {
                Entry::write_all(&Entry::read_all(&new), &mut kept);
            }
            return Ok(kept);
        }
        if self.request.kind.has_status() {
            carry_over("status", old, map_mut(&mut new)?);
        }
        Ok(new)
    }

    fn keep_system_fields(&self, old: Option<&Value>, new: &mut Value) -> Result<(), Status> {
        let from = old.map(|old| &old["metadata"]);
        let metadata = metadata_mut(new)?;
        for key in SYSTEM {
            carry_over(key, from, metadata);
        }
        metadata.retain(|_, value| !value.is_null());
        match old {
            Some(old) => carry_over("resourceVersion", Some(&old["metadata"]), metadata),
            None => {
                let version = self.draft.next_version().to_string();
                let uid = self.cluster.ids.uid(&["object", &self.cluster.uid, &version]);
                metadata.insert("uid".to_owned(), json!(uid));
                metadata.insert("creationTimestamp".to_owned(), json!(written(self.now)));
                metadata.shift_remove("resourceVersion");
            }
        }
        Ok(())
    }

    /// Asks the rules; they may say whether the write counts as a generation.
    pub(super) fn admit(
        &self,
        verb: Verb,
        old: Option<&Value>,
        object: &mut Value,
    ) -> Result<Option<bool>, Status> {
        let mut admission = Admission {
            cluster: &self.cluster.name,
            user: &self.request.user,
            verb,
            subresource: self.request.subresource.as_deref(),
            kind: &self.request.kind,
            old,
            object,
            new_generation: false,
            same_generation: false,
            field_validation: self.request.field_validation,
            warnings: Vec::new(),
            dry_run: self.request.dry_run,
            now: self.now,
            state: self.state,
        };
        let admitted = self.cluster.catalog.admit(&mut admission);
        let (another, same) = (admission.new_generation, admission.same_generation);
        // The caller is warned of a write that is refused, too.
        self.request.warnings.extend(admission.warnings);
        admitted.map(|()| (another || same).then_some(another))
    }

    fn count_generation(
        &self,
        old: Option<&Value>,
        new: &mut Value,
        counts: Option<bool>,
    ) -> Result<(), Status> {
        let has_status = self.request.kind.has_status();
        let wanted = |object: &Value| -> Map<String, Value> {
            let aside = |key: &str| match key {
                "metadata" | "apiVersion" | "kind" => true,
                "status" => has_status,
                _ => false,
            };
            let all = object.as_object().into_iter().flatten();
            all.filter(|(key, _)| !aside(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
        };
        let generation = match old {
            None => 1,
            Some(old) => {
                let so_far = old["metadata"]["generation"].as_i64().unwrap_or(1);
                so_far + i64::from(counts.unwrap_or_else(|| wanted(old) != wanted(new)))
            }
        };
        metadata_mut(new)?.insert("generation".to_owned(), json!(generation));
        Ok(())
    }
}

fn check_finalizers(kind: &crate::Kind, old: Option<&Value>, new: &Value) -> Result<(), Status> {
    let Some(old) = old.filter(|old| text(old, &["metadata", "deletionTimestamp"]).is_some())
    else {
        return Ok(());
    };
    let had = old["metadata"]["finalizers"].as_array();
    let added = new["metadata"]["finalizers"].as_array().into_iter().flatten();
    let added: Vec<_> = added.filter(|f| !had.is_some_and(|had| had.contains(f))).collect();
    if added.is_empty() {
        return Ok(());
    }
    let why = "no new finalizers can be added if the object is being deleted";
    let cause = Cause::forbidden("metadata.finalizers", why);
    Err(Status::invalid(kind, name(new), &[cause]))
}
