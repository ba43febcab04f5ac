//! Reading and writing objects of one kind. Failures come classified; nothing is tried again.

use std::marker::PhantomData;

use reqwest::Method;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    Cluster, RequestHead, Resource, admission,
    classify::NO_SUCH_KIND,
    resource::{name_in_path, query},
};
use crate::error::{Component, Error, Kind};

/// How many objects come with one page of a list.
const PAGE: &str = "100";
const JSON: &str = "application/json";

/// The objects of one kind, in one namespace or in none.
#[derive(Debug, Clone)]
pub struct Objects<T> {
    cluster: Cluster,
    resource: Resource,
    /// `None` when the namespace is invalid.
    path: Option<String>,
    holds: PhantomData<fn() -> T>,
}

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct Page<T> {
    #[serde(default)]
    metadata: PageMeta,
    /// Null when there are none. Without the field it is no list: taking it for an empty one would make
    /// a clean-up believe that nothing is left.
    #[serde(deserialize_with = "Option::deserialize")]
    items: Option<Vec<T>>,
}

#[derive(Default, Deserialize)]
struct PageMeta {
    #[serde(rename = "continue")]
    more: Option<String>,
}

impl<T> Objects<T> {
    pub(super) fn new(cluster: Cluster, resource: Resource, namespace: Option<&str>) -> Self {
        let path = resource.path(namespace);
        Self { cluster, resource, path, holds: PhantomData }
    }

    /// Removes an object, if it is there; whether it was. With a `uid` only that very object goes.
    pub async fn delete(&self, name: &str, uid: Option<&str>) -> Result<bool, Error> {
        Ok(self.delete_warned(name, uid).await?.0)
    }

    /// The same, with the warnings that came with the answer.
    pub(crate) async fn delete_warned(
        &self,
        name: &str,
        uid: Option<&str>,
    ) -> Result<(bool, Vec<String>), Error> {
        let doing = self.doing("deleting", name);
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        if let Some(uid) = uid {
            options["preconditions"] = json!({"uid": uid});
        }
        let path = self.path_of(&doing, name, "")?;
        match self.ask::<Value>(&doing, Method::DELETE, &path, JSON, &options).await {
            Err(error) if is_missing(&error) => Ok((false, Vec::new())),
            deleted => deleted.map(|(_, warnings)| (true, warnings)),
        }
    }

    /// Removes all objects with matching labels; those with finalizers go later. An empty selector
    /// matches all.
    pub async fn delete_all(&self, selector: &str) -> Result<(), Error> {
        let doing = format!("deleting all {}", self.resource.plural);
        let pairs: &[(&str, &str)] =
            if selector.is_empty() { &[] } else { &[("labelSelector", selector)] };
        let path = format!("{}{}", self.root(&doing)?, query(pairs));
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        self.ask::<Value>(&doing, Method::DELETE, &path, JSON, &options).await.map(drop)
    }

    /// Posts to a part of an object, for what comes back.
    pub async fn post_to<R: DeserializeOwned>(
        &self,
        name: &str,
        part: &str,
        body: &impl Serialize,
    ) -> Result<R, Error> {
        let doing = self.doing(&format!("asking for the {part} of"), name);
        let path = self.path_of(&doing, name, &format!("/{part}"))?;
        Ok(self.ask(&doing, Method::POST, &path, JSON, body).await?.0)
    }

    /// Sends a body; the answer comes with its warnings.
    async fn ask<R: DeserializeOwned>(
        &self,
        doing: &str,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: &impl Serialize,
    ) -> Result<(R, Vec<String>), Error> {
        let body = serde_json::to_vec(body).map_err(|_| self.unusable(doing, "it is no JSON"))?;
        let ask = RequestHead { method, path, content_type, body };
        let sent = self.cluster.send_warned(doing, ask).await;
        sent.map_err(|error| admission::classified(self.outage(error)))
    }

    async fn read<R: DeserializeOwned>(&self, doing: &str, path: &str) -> Result<R, Error> {
        let ask = RequestHead { method: Method::GET, path, content_type: JSON, body: Vec::new() };
        self.cluster.send(doing, ask).await.map_err(|error| self.outage(error))
    }

    /// A garden always has Gardener's kinds and those of Kubernetes. A 404 that names no object comes from a proxy, or from
    /// an API server that has lost Gardener's for a moment.
    fn outage(&self, error: Error) -> Error {
        let group = self.resource.group;
        let there = group.is_empty() || group.ends_with("gardener.cloud");
        let garden = error.component == Component::GARDENER && there;
        if garden && is_no_kind(&error) {
            return Error { kind: Kind::Unavailable, ..error };
        }
        error
    }

    fn doing(&self, verb: &str, name: &str) -> String {
        format!("{verb} {} {}", self.resource.kind, base::failure::shortened(name.to_owned()))
    }

    fn root(&self, doing: &str) -> Result<&str, Error> {
        self.path.as_deref().ok_or_else(|| self.unusable(doing, "invalid namespace"))
    }

    fn path_of(&self, doing: &str, name: &str, rest: &str) -> Result<String, Error> {
        // An empty name would turn one object into all of them.
        let name = name_in_path(name).ok_or_else(|| self.unusable(doing, "invalid object name"))?;
        Ok(format!("{}/{name}{rest}", self.root(doing)?))
    }

    fn unusable(&self, doing: &str, why: &str) -> Error {
        let component = self.cluster.gate.component();
        Error::new(component, Kind::Refused { status: 400 }, doing).saying(why)
    }
}

impl<T: DeserializeOwned> Objects<T> {
    /// The object.
    pub async fn get(&self, name: &str) -> Result<T, Error> {
        let doing = self.doing("reading", name);
        let path = self.path_of(&doing, name, "")?;
        self.read(&doing, &path).await
    }

    /// The object, if it is there. A kind that is not there is a failure.
    pub async fn find(&self, name: &str) -> Result<Option<T>, Error> {
        match self.get(name).await {
            Err(error) if is_missing(&error) => Ok(None),
            read => read.map(Some),
        }
    }

    /// All objects with matching labels, page by page; an empty selector matches all.
    pub async fn list(&self, selector: &str) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        self.each(selector, |object| all.push(object)).await?;
        Ok(all)
    }

    /// Hands over each object with matching labels; one page at a time is in memory. An empty selector matches all.
    pub async fn each(&self, selector: &str, mut take: impl FnMut(T)) -> Result<(), Error> {
        let doing = format!("listing {}", self.resource.plural);
        let root = self.root(&doing)?;
        let mut more = String::new();
        loop {
            let mut pairs = vec![("limit", PAGE)];
            if !selector.is_empty() {
                pairs.push(("labelSelector", selector));
            }
            if !more.is_empty() {
                pairs.push(("continue", &more));
            }
            let page: Page<T> = self.read(&doing, &format!("{root}{}", query(&pairs))).await?;
            page.items.unwrap_or_default().into_iter().for_each(&mut take);
            match page.metadata.more.filter(|more| !more.is_empty()) {
                None => return Ok(()),
                Some(next) if next == more => {
                    let component = self.cluster.gate.component();
                    let error = Error::new(component, Kind::Malformed, &doing);
                    return Err(error.saying("its pages go round in circles"));
                }
                Some(next) => more = next,
            }
        }
    }

    /// The first few objects, in any order.
    pub async fn some(&self, most: u16) -> Result<Vec<T>, Error> {
        let doing = format!("listing {}", self.resource.plural);
        let path = format!("{}{}", self.root(&doing)?, query(&[("limit", &most.to_string())]));
        Ok(self.read::<Page<T>>(&doing, &path).await?.items.unwrap_or_default())
    }

    /// Whether there is an object with matching labels.
    pub async fn any(&self, selector: &str) -> Result<bool, Error> {
        let doing = format!("looking for {}", self.resource.plural);
        let pairs = [("limit", "1"), ("labelSelector", selector)];
        let path = format!("{}{}", self.root(&doing)?, query(&pairs));
        let page = self.read::<Page<T>>(&doing, &path).await?;
        Ok(page.items.is_some_and(|items| !items.is_empty()))
    }

    /// Changes single fields; null removes one.
    pub async fn merge(&self, name: &str, patch: &Value) -> Result<T, Error> {
        Ok(self.merge_warned(name, patch).await?.0)
    }

    /// The same, with the warnings that came with the answer.
    pub(crate) async fn merge_warned(
        &self,
        name: &str,
        patch: &Value,
    ) -> Result<(T, Vec<String>), Error> {
        let doing = self.doing("changing", name);
        let path = self.path_of(&doing, name, "")?;
        self.ask(&doing, Method::PATCH, &path, "application/merge-patch+json", patch).await
    }

    /// Makes the object have these fields, as theirs `owner`. What others own stays; what `owner` had
    /// and does not name any more goes.
    pub async fn apply(
        &self,
        name: &str,
        owner: &str,
        object: &impl Serialize,
    ) -> Result<T, Error> {
        let doing = self.doing("applying", name);
        let rest = query(&[("fieldManager", owner), ("force", "true")]);
        let path = self.path_of(&doing, name, &rest)?;
        let object = self.complete(&doing, object)?;
        Ok(self.ask(&doing, Method::PATCH, &path, "application/apply-patch+yaml", &object).await?.0)
    }

    /// Makes an object.
    pub async fn create(&self, name: &str, object: &impl Serialize) -> Result<T, Error> {
        Ok(self.create_warned(name, object).await?.0)
    }

    /// The same, with the warnings that came with the answer.
    pub(crate) async fn create_warned(
        &self,
        name: &str,
        object: &impl Serialize,
    ) -> Result<(T, Vec<String>), Error> {
        let doing = self.doing("creating", name);
        let object = self.complete(&doing, object)?;
        self.ask(&doing, Method::POST, self.root(&doing)?, JSON, &object).await
    }

    /// Writes an object as it was read and then changed. Fails with [`Kind::Changed`] when another client
    /// else wrote it in between.
    pub async fn replace(&self, name: &str, object: &impl Serialize) -> Result<T, Error> {
        let doing = self.doing("writing", name);
        let path = self.path_of(&doing, name, "")?;
        let object = self.complete(&doing, object)?;
        let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        if version.is_none_or(str::is_empty) {
            // An API server takes it as leave to overwrite whatever is there.
            return Err(self.unusable(&doing, "it does not say which version was read"));
        }
        Ok(self.ask(&doing, Method::PUT, &path, JSON, &object).await?.0)
    }

    /// Items of lists do not say what they are; what is written must.
    fn complete(&self, doing: &str, object: &impl Serialize) -> Result<Value, Error> {
        let mut object =
            serde_json::to_value(object).map_err(|_| self.unusable(doing, "it is no JSON"))?;
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".into(), self.resource.api_version().into());
            fields.insert("kind".into(), self.resource.kind.into());
        }
        Ok(object)
    }
}

/// Whether the kind is missing: its definition is not in the cluster.
pub fn is_no_kind(error: &Error) -> bool {
    error.kind == Kind::NotFound && error.reason.as_deref() == Some(NO_SUCH_KIND)
}

/// Whether it was a 404 that names no object, however the caller takes it.
pub(crate) fn names_no_object(error: &Error) -> bool {
    error.reason.as_deref() == Some(NO_SUCH_KIND)
}

/// Whether the object is missing, and not the kind.
pub(crate) fn is_missing(error: &Error) -> bool {
    error.kind == Kind::NotFound && error.reason.as_deref() != Some(NO_SUCH_KIND)
}
