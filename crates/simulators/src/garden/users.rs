//! Which users the API server of a Shoot lets in: those with a token of an issuer that the Shoot names, in `oidcConfig` or in
//! the `ConfigMap` of its `structuredAuthentication`.
//!
//! What a reader would get wrong: the landscape's issuer has no TLS, but Shoots may name issuers with https only. So the
//! scheme is not compared, and only the landscape's issuer is known. Rules that are written as expressions are not looked
//! at, only claims that must have a value.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use cluster::{Catalog, Identity, Server, Where};
use serde_json::Value;

use super::{CLUSTER, kinds};
use crate::issuer::Issuer;

const SERVER: &str = "/spec/kubernetes/kubeAPIServer";

/// An issuer as an API server is configured with it.
struct IssuerConfig {
    url: String,
    audiences: Vec<String>,
    /// Claims, and the text that each must have.
    required: Vec<(String, String)>,
    username: (String, String),
    groups: Option<(String, String)>,
}

/// Adds the users of Shoots to the catalog.
pub(crate) fn add(
    catalog: Catalog,
    not: &[&str],
    namespace: String,
    issuer: Arc<Issuer>,
) -> Catalog {
    let place = Where::Except(not.iter().map(ToString::to_string).collect());
    catalog.authenticator(place, move |server, cluster, token| {
        let shoot = server.get(CLUSTER, kinds::SHOOTS, &namespace, cluster)?;
        let claims = claims(token)?;
        let trusted = trusted(server, &namespace, &shoot);
        let trusted = trusted.iter().find(|one| one.vouches_for(&claims))?;
        issuer.is_genuine(token).then(|| trusted.identity(&claims)).flatten()
    })
}

/// What a token says, before anybody has looked whether it is genuine.
fn claims(token: &str) -> Option<Value> {
    let body = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()
}

fn trusted(server: &Server, namespace: &str, shoot: &Value) -> Vec<IssuerConfig> {
    let at = |path: &str| shoot.pointer(&format!("{SERVER}/{path}"));
    if let Some(oidc) = at("oidcConfig").filter(|oidc| oidc.is_object()) {
        return IssuerConfig::of_oidc_config(oidc).into_iter().collect();
    }
    let name = at("structuredAuthentication/configMapName").and_then(Value::as_str);
    let map = name.and_then(|name| server.get(CLUSTER, "configmaps", namespace, name));
    let text = map.as_ref().and_then(|map| map["data"]["config.yaml"].as_str());
    let Some(written) = text.and_then(cluster::read_yaml) else { return Vec::new() };
    let all = written["jwt"].as_array().into_iter().flatten();
    all.filter_map(IssuerConfig::of_structured).collect()
}

fn text(value: &Value, default: &str) -> String {
    value.as_str().unwrap_or(default).to_owned()
}

impl IssuerConfig {
    fn of_oidc_config(oidc: &Value) -> Option<Self> {
        let url = oidc["issuerURL"].as_str()?.to_owned();
        let claim = text(&oidc["usernameClaim"], "sub");
        let prefix = match oidc["usernamePrefix"].as_str().unwrap_or_default() {
            "-" => String::new(),
            "" if claim == "email" => String::new(),
            "" => format!("{url}#"),
            prefix => prefix.to_owned(),
        };
        let groups = oidc["groupsClaim"].as_str();
        let groups = groups.map(|claim| (claim.to_owned(), text(&oidc["groupsPrefix"], "")));
        let audiences = vec![text(&oidc["clientID"], "")];
        let required = oidc["requiredClaims"].as_object().into_iter().flatten();
        let required = required.map(|(claim, value)| (claim.clone(), text(value, ""))).collect();
        Some(Self { url, audiences, required, username: (claim, prefix), groups })
    }

    fn of_structured(jwt: &Value) -> Option<Self> {
        let audiences = jwt["issuer"]["audiences"].as_array().into_iter().flatten();
        let mapped = |part: &str| {
            let mapping = &jwt["claimMappings"][part];
            Some((mapping["claim"].as_str()?.to_owned(), text(&mapping["prefix"], "")))
        };
        let rules = jwt["claimValidationRules"].as_array().into_iter().flatten();
        let required = rules.filter_map(|rule| {
            Some((rule["claim"].as_str()?.to_owned(), text(&rule["requiredValue"], "")))
        });
        Some(Self {
            url: jwt["issuer"]["url"].as_str()?.to_owned(),
            audiences: audiences.filter_map(Value::as_str).map(str::to_owned).collect(),
            required: required.collect(),
            username: mapped("username")?,
            groups: mapped("groups"),
        })
    }

    fn vouches_for(&self, claims: &Value) -> bool {
        let plain = |url: &str| url.split_once("://").map_or(url, |(_, rest)| rest).to_owned();
        let issued = claims["iss"].as_str().is_some_and(|url| plain(url) == plain(&self.url));
        let audience =
            |one: &Value| one.as_str().is_some_and(|one| self.audiences.iter().any(|it| it == one));
        let meant = match &claims["aud"] {
            Value::Array(all) => all.iter().any(audience),
            one => audience(one),
        };
        // A claim that is no text has no value that could be required.
        let required = |(claim, value): &(String, String)| {
            claims[claim.as_str()].as_str() == Some(value.as_str())
        };
        issued && meant && self.required.iter().all(required)
    }

    fn identity(&self, claims: &Value) -> Option<Identity> {
        let (claim, prefix) = &self.username;
        let user = format!("{prefix}{}", claims[claim.as_str()].as_str()?);
        let groups = self.groups.iter().flat_map(|(claim, prefix)| {
            let all =
                claims[claim.as_str()].as_array().into_iter().flatten().filter_map(Value::as_str);
            all.map(move |group| format!("{prefix}{group}"))
        });
        Some(Identity { user, groups: groups.collect() })
    }
}
