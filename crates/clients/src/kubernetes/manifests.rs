//! Applying whatever a release brings: objects of kinds that nobody here has a type for.
//!
//! What a reader would get wrong: where an object stands is asked of the cluster, and a kind that a
//! definition in the same release brings may not be there yet. That is a failure to try again.

use std::collections::HashMap;

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{Cluster, RequestHead, admission, resource::query};
use crate::{
    error::{Error, Kind},
    http::segment,
};

/// The kinds of one API version, as the cluster lists them.
#[derive(Deserialize)]
struct Kinds {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Clone, Deserialize)]
struct Resource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
}

impl Cluster {
    /// Reads the objects of a file with several YAML documents; empty documents are left out.
    pub fn documents(yaml: &str) -> Option<Vec<Value>> {
        let documents: Vec<Value> = serde_saphyr::from_multiple(yaml).ok()?;
        Some(documents.into_iter().filter(|document| !document.is_null()).collect())
    }

    /// Makes the cluster have these objects, in this order, as theirs `owner`.
    pub async fn apply_all(&self, objects: &[Value], owner: &str) -> Result<(), Error> {
        let mut known: HashMap<String, Vec<Resource>> = HashMap::new();
        for object in objects {
            let kind = object["kind"].as_str().unwrap_or_default();
            let version = object["apiVersion"].as_str().unwrap_or_default();
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            let doing = format!("applying {kind} {name}");
            if !known.contains_key(version) {
                known.insert(version.to_owned(), self.kinds(version).await?);
            }
            let Some(found) = known[version].iter().find(|known| known.kind == kind) else {
                let component = self.gate.component();
                return Err(Error::new(component, Kind::Unavailable, &doing)
                    .because(super::classify::NO_SUCH_KIND)
                    .saying(format!("it does not know {kind} of {version} yet")));
            };
            let path = self.place(&doing, version, found, object, owner)?;
            let body = serde_json::to_vec(object).unwrap_or_default();
            let content_type = "application/apply-patch+yaml";
            let ask = RequestHead { method: Method::PATCH, path: &path, content_type, body };
            self.send::<Value>(&doing, ask).await.map_err(admission::classified)?;
        }
        Ok(())
    }

    async fn kinds(&self, version: &str) -> Result<Vec<Resource>, Error> {
        let doing = format!("asking for the kinds of {version}");
        let root = if version.contains('/') { "/apis" } else { "/api" };
        let path = format!("{root}/{version}");
        let ask = RequestHead {
            method: Method::GET,
            path: &path,
            content_type: "application/json",
            body: Vec::new(),
        };
        match self.send::<Kinds>(&doing, ask).await {
            Ok(kinds) => {
                let whole = |known: &Resource| !known.name.contains('/');
                Ok(kinds.resources.into_iter().filter(whole).collect())
            }
            Err(error) if error.kind == Kind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn place(
        &self,
        doing: &str,
        version: &str,
        known: &Resource,
        object: &Value,
        owner: &str,
    ) -> Result<String, Error> {
        let unusable = || {
            let component = self.gate.component();
            Error::new(component, Kind::Refused { status: 400 }, doing)
                .saying("invalid object name or namespace")
        };
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().and_then(segment).ok_or_else(unusable)?;
        let root = if version.contains('/') { "/apis" } else { "/api" };
        let space = if known.namespaced {
            let space = metadata["namespace"].as_str().unwrap_or("default");
            format!("namespaces/{}/", segment(space).ok_or_else(unusable)?)
        } else {
            String::new()
        };
        let rest = query(&[("fieldManager", owner), ("force", "true")]);
        Ok(format!("{root}/{version}/{space}{}/{name}{rest}", known.name))
    }
}
