//! The subresource `scale` of workloads: how many replicas there shall be.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{
    Answer, Incoming,
    params::{body, language},
    reply,
    target::ObjectPath,
};
use crate::{
    Kind, Status,
    object::{name, namespace},
    status::Cause,
    write::{Patch, Request},
};

impl Incoming {
    pub(super) fn scale(self, kind: &Arc<Kind>, place: &ObjectPath) -> Answer {
        let request = Request { subresource: None, ..self.request(kind, place)? };
        let found = self.cluster.get(&kind.resource(), &request.namespace, &request.name);
        let found = found.ok_or_else(|| Status::not_found(kind, &request.name))?;
        let replicas = match self.method {
            Method::GET => return Ok(reply(StatusCode::OK, shown(&found))),
            Method::PATCH if language(&self.headers)? == Patch::Json => {
                let message = "a scale is patched with a merge patch";
                return Err(Status::unsupported_media(message));
            }
            Method::PUT | Method::PATCH => {
                body(&self.headers, &self.body)?["spec"]["replicas"].clone()
            }
            _ => return Err(Status::method_not_allowed()),
        };
        let Some(replicas) = replicas.as_u64() else {
            let cause = Cause::invalid("spec.replicas", &replicas.to_string(), "must be a number");
            return Err(Status::invalid(kind, &request.name, &[cause]));
        };
        let change = json!({"spec": {"replicas": replicas}});
        let (scaled, _) = self.cluster.patch(&request, Patch::Merge, &change)?;
        Ok(reply(StatusCode::OK, shown(&scaled)))
    }
}

/// A workload as a Scale.
fn shown(workload: &Value) -> Value {
    let metadata = &workload["metadata"];
    let labels = workload["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
    let selector: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {
            "name": name(workload),
            "namespace": namespace(workload),
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
            "creationTimestamp": metadata["creationTimestamp"],
        },
        // One replica is what a workload has that does not say how many.
        "spec": {"replicas": workload["spec"]["replicas"].as_u64().unwrap_or(1)},
        "status": {
            "replicas": workload["status"]["replicas"].as_u64().unwrap_or(0),
            "selector": selector.join(","),
        },
    })
}
