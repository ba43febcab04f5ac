//! Requests about objects: from verb and place to one call of the cluster.

use std::sync::Arc;

use axum::{
    http::{HeaderValue, Method, StatusCode, header::WARNING},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{
    Answer, Incoming,
    duplicates::duplicates,
    params::{body, form, language},
    reply,
    target::ObjectPath,
};
use crate::{
    FieldValidation, Kind, Status,
    object::{name, text},
    write::{DeleteResult, Patch, Preconditions, Request, Warnings, present, undecodable},
};

impl Incoming {
    pub(super) async fn objects(self, place: ObjectPath) -> Answer {
        let kind = self.kind(&place)?;
        if kind.namespaced && place.namespace.is_none() && place.name.is_some() {
            return Err(Status::no_such_path());
        }
        match (place.name.as_deref(), place.subresource.as_deref()) {
            (None, _) => self.collection(&kind, &place),
            (Some(_), None) => self.object(&kind, &place),
            (Some(_), Some("status")) if kind.has_status() => self.object(&kind, &place),
            (Some(_), Some("binding")) if kind.subresources.iter().any(|it| it == "binding") => {
                self.object(&kind, &place)
            }
            (Some(_), Some("scale")) if kind.subresources.iter().any(|it| it == "scale") => {
                self.scale(&kind, &place)
            }
            (Some(_), Some(subresource)) => {
                let subresource = subresource.to_owned();
                self.subresource(&kind, &place, &subresource).await
            }
        }
    }

    fn kind(&self, place: &ObjectPath) -> Result<Arc<Kind>, Status> {
        let state = self.cluster.state();
        let found = state.kinds.find(&place.group, &place.version, &place.plural);
        let fits = |kind: &&Arc<Kind>| kind.namespaced || place.namespace.is_none();
        found.filter(fits).cloned().ok_or_else(Status::no_such_path)
    }

    fn collection(self, kind: &Arc<Kind>, place: &ObjectPath) -> Answer {
        match self.method {
            Method::GET if self.params.is("watch") => self.watch(kind, place),
            Method::GET => self.list(kind, place),
            Method::POST if kind.namespaced && place.namespace.is_none() => {
                Err(Status::method_not_allowed())
            }
            Method::POST => {
                let body = body(&self.headers, &self.body)?;
                let request = self.request(kind, place)?;
                self.check_keys(&request)?;
                let made = self.cluster.create(&request, body);
                let answer = made.map(|object| self.show(StatusCode::CREATED, kind, &object));
                Ok(warned(answer, &request))
            }
            Method::DELETE => {
                let selector = self.params.selector()?;
                let request = self.deletion(kind, place)?.0;
                let gone = self.cluster.delete_collection(&request, &selector)?;
                let items: Vec<Value> = gone.iter().map(|object| present(object, kind)).collect();
                let head = json!({"resourceVersion": self.cluster.state().version.to_string()});
                let now = self.cluster.clock.now();
                Ok(reply(StatusCode::OK, form(&self.headers).list(kind, &items, &head, now)))
            }
            _ => Err(Status::method_not_allowed()),
        }
    }

    fn object(self, kind: &Arc<Kind>, place: &ObjectPath) -> Answer {
        let request = self.request(kind, place)?;
        match self.method {
            Method::GET if self.params.is("watch") => self.watch(kind, place),
            Method::GET => {
                let found = self.cluster.get(&kind.resource(), &request.namespace, &request.name);
                let found = found.ok_or_else(|| Status::not_found(kind, &request.name))?;
                Ok(self.show(StatusCode::OK, kind, &found))
            }
            Method::PUT => {
                let body = body(&self.headers, &self.body)?;
                self.check_keys(&request)?;
                let replaced = self.cluster.replace(&request, body);
                let answer = replaced.map(|object| self.show(StatusCode::OK, kind, &object));
                Ok(warned(answer, &request))
            }
            Method::PATCH => self.patch(kind, &request),
            Method::DELETE if request.subresource.is_none() => self.delete(kind, place),
            _ => Err(Status::method_not_allowed()),
        }
    }

    fn patch(self, kind: &Kind, request: &Request) -> Answer {
        let language = language(&self.headers)?;
        if language == Patch::Strategic && !kind.native && kind.merge_keys.is_none() {
            let message = "strategic merge patches exist for Kubernetes' own kinds only";
            return Err(Status::unsupported_media(message));
        }
        self.params.check_patch(language == Patch::Apply)?;
        let body = body(&self.headers, &self.body)?;
        self.check_keys(request).map_err(|status| undecodable(status, &body))?;
        let answer = self.cluster.patch(request, language, &body).map(|(object, new)| {
            let code = if new { StatusCode::CREATED } else { StatusCode::OK };
            self.show(code, kind, &object)
        });
        Ok(warned(answer, request))
    }

    /// A strict request has no key twice.
    fn check_keys(&self, request: &Request) -> Result<(), Status> {
        if request.field_validation != FieldValidation::Strict {
            return Ok(());
        }
        let twice: Vec<String> = duplicates(&self.body)
            .iter()
            .map(|field| format!("duplicate field {field:?}"))
            .collect();
        if twice.is_empty() {
            return Ok(());
        }
        let (kind, version) = (&request.kind.kind, &request.kind.version);
        Err(Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
            twice.join(", ")
        )))
    }

    fn delete(self, kind: &Arc<Kind>, place: &ObjectPath) -> Answer {
        let (request, preconditions) = self.deletion(kind, place)?;
        match self.cluster.delete(&request, &preconditions)? {
            DeleteResult::Going(object) => Ok(self.show(StatusCode::OK, kind, &object)),
            DeleteResult::Gone(object) => {
                let mut details = json!({
                    "name": name(&object), "kind": kind.plural, "uid": object["metadata"]["uid"],
                });
                if !kind.group.is_empty() {
                    details["group"] = json!(kind.group);
                }
                Ok(reply(
                    StatusCode::OK,
                    json!({
                        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                        "details": details,
                    }),
                ))
            }
        }
    }

    /// A deletion carries its options in the body, or as parameters.
    fn deletion(
        &self,
        kind: &Arc<Kind>,
        place: &ObjectPath,
    ) -> Result<(Request, Preconditions), Status> {
        let mut request = self.request(kind, place)?;
        if self.body.is_empty() {
            return Ok((request, Preconditions::default()));
        }
        let options = body(&self.headers, &self.body)?;
        request.dry_run |= options["dryRun"].as_array().is_some_and(|dry| !dry.is_empty());
        let wanted = |key: &str| text(&options, &["preconditions", key]).map(ToOwned::to_owned);
        let preconditions =
            Preconditions { uid: wanted("uid"), version: wanted("resourceVersion") };
        Ok((request, preconditions))
    }

    pub(super) fn request(&self, kind: &Arc<Kind>, place: &ObjectPath) -> Result<Request, Status> {
        let (dry_run, field_validation) = self.params.options(&self.method)?;
        Ok(Request {
            kind: Arc::clone(kind),
            namespace: place.namespace.clone().unwrap_or_default(),
            name: place.name.clone().unwrap_or_default(),
            subresource: place.subresource.clone(),
            user: self.user.clone(),
            manager: self.params.manager(&self.headers),
            force: self.params.is("force"),
            dry_run,
            field_validation,
            warnings: Warnings::default(),
        })
    }

    fn show(&self, code: StatusCode, kind: &Kind, object: &Value) -> Response {
        let now = self.cluster.clock.now();
        reply(code, form(&self.headers).one(kind, present(object, kind), now))
    }
}

/// The answer, which may be a refusal, with a header for each warning.
fn warned(answer: Answer, request: &Request) -> Response {
    let mut answer = answer.unwrap_or_else(IntoResponse::into_response);
    for text in request.warnings.take() {
        if let Ok(value) = HeaderValue::try_from(format!("299 - {text:?}")) {
            answer.headers_mut().append(WARNING, value);
        }
    }
    answer
}
