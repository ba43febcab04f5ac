//! Subresources that are answered by a function: `token` of service accounts, and those that the
//! embedding program registered.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Answer, Incoming, params::body, reply, target::ObjectPath};
use crate::{
    Identity, Kind, Status,
    catalog::Call,
    cluster::written,
    object::{name, namespace},
};

/// The shortest and the default life of a token, in seconds.
const TOKEN: (i64, i64) = (600, 3_600);

impl Incoming {
    pub(super) async fn subresource(
        self,
        kind: &Arc<Kind>,
        place: &ObjectPath,
        called: &str,
    ) -> Answer {
        let handler = self.cluster.catalog.handler(&self.cluster.name, &kind.resource(), called);
        let is_token = kind.resource() == "serviceaccounts" && called == "token";
        if handler.is_none() && !is_token {
            return Err(Status::no_such_path());
        }
        if self.method != Method::POST {
            return Err(Status::method_not_allowed());
        }
        let request = self.request(kind, place)?;
        let object = self.cluster.get(&kind.resource(), &request.namespace, &request.name);
        let object = object.ok_or_else(|| Status::not_found(kind, &request.name))?;
        let body = if self.body.is_empty() { json!({}) } else { body(&self.headers, &self.body)? };
        let Some(handler) = handler else {
            return self.token(&object, body);
        };
        let call = Call {
            server: self.server,
            cluster: self.cluster.name.clone(),
            user: self.user,
            object,
            body,
        };
        let (code, answer) = handler(call).await?;
        let code = StatusCode::from_u16(code).unwrap_or(StatusCode::CREATED);
        Ok(reply(code, answer))
    }

    /// A token for a service account.
    fn token(&self, account: &Value, mut body: Value) -> Answer {
        let (least, default) = TOKEN;
        let seconds = body["spec"]["expirationSeconds"].as_i64().unwrap_or(default);
        if seconds < least || !body.is_object() {
            let message = format!("spec.expirationSeconds must be at least {least}");
            return Err(Status::new(422, "Invalid", message));
        }
        let until =
            self.cluster.clock.now() + SignedDuration::from_secs(seconds.min(i64::from(u32::MAX)));
        let inside = namespace(account);
        let who = Identity {
            user: format!("system:serviceaccount:{inside}:{}", name(account)),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{inside}"),
            ],
        };
        let uid = account["metadata"]["uid"].as_str().unwrap_or_default();
        let tokens = self.server.tokens();
        let token = tokens.issue_to_account(&self.cluster.uid, &who, uid, until);
        body["apiVersion"] = json!("authentication.k8s.io/v1");
        body["kind"] = json!("TokenRequest");
        body["status"] = json!({"token": token, "expirationTimestamp": written(until)});
        Ok(reply(StatusCode::CREATED, body))
    }
}
