//! The `ConfigMap` with Kubernetes' `AuthenticationConfiguration`.

use std::collections::BTreeMap;

use clients::{gardener::ConfigMapContents, kubernetes::Cluster};
use serde_json::{Value, json};

use super::super::json::at;

/// The key in the `ConfigMap` that Gardener reads.
const KEY: &str = "config.yaml";
/// Names the issuer whose entry is the runtime's.
const ISSUER_ANNOTATION: &str = "kcp.provisioner.kyma-project.io/issuer";

/// The contents once the runtime's entry is this issuer, in the words of `oidcConfig`. Everything else stays.
pub fn edited(there: Option<&ConfigMapContents>, issuer: &Value) -> ConfigMapContents {
    let text = there.and_then(|there| there.data.get(KEY));
    let before = text.and_then(|text| configuration(text));
    let mut after = before.clone().unwrap_or_else(|| {
        json!({
            "apiVersion": "apiserver.config.k8s.io/v1beta1",
            "kind": "AuthenticationConfiguration",
        })
    });
    let url = issuer["issuerURL"].as_str().unwrap_or_default();
    let former = there.and_then(|there| there.annotations.get(ISSUER_ANNOTATION));
    let entries = after["jwt"].as_array().cloned().unwrap_or_default();
    after["jwt"] = put(entries, former.map(String::as_str), issuer, url).into();
    let text = match text {
        // However it is written.
        Some(text) if before.as_ref() == Some(&after) => text.clone(),
        _ => serde_json::to_string_pretty(&after).expect("text keys make JSON") + "\n",
    };
    let mut data = there.map(|there| there.data.clone()).unwrap_or_default();
    data.insert(KEY.to_owned(), text);
    ConfigMapContents {
        annotations: BTreeMap::from([(ISSUER_ANNOTATION.to_owned(), url.to_owned())]),
        data,
    }
}

/// JSON or YAML; nothing when it is neither.
fn configuration(text: &str) -> Option<Value> {
    Cluster::documents(text)?.into_iter().next().filter(Value::is_object)
}

/// The entries with the runtime's own among them, once. Earlier versions wrote no annotation, and one entry alone.
fn put(mut entries: Vec<Value>, former: Option<&str>, issuer: &Value, url: &str) -> Vec<Value> {
    let is_of = |entry: &Value, url: &str| entry["issuer"]["url"] == url;
    let place = |url: &str| entries.iter().position(|entry| is_of(entry, url));
    let place = match former {
        Some(former) => place(former).or_else(|| place(url)),
        None => place(url).or((entries.len() == 1).then_some(0)),
    };
    let same = entries.iter().find(|entry| is_of(entry, url));
    let new = authenticator(issuer, same);
    match place {
        Some(place) => entries[place] = new,
        None => entries.push(new),
    }
    // Kubernetes refuses the same issuer twice.
    let own = place.unwrap_or(entries.len() - 1);
    let mut at = 0..;
    entries.retain(|entry| at.next() == Some(own) || !is_of(entry, url));
    entries
}

/// An issuer as an entry. There is no field for signing algorithms: Kubernetes accepts all asymmetric ones.
fn authenticator(issuer: &Value, before: Option<&Value>) -> Value {
    let mut entry = before.cloned().unwrap_or_else(|| json!({}));
    *at(&mut entry, &["issuer", "url"]) = issuer["issuerURL"].clone();
    *at(&mut entry, &["issuer", "audiences"]) = json!([issuer["clientID"]]);
    if issuer["caBundle"].is_string() {
        *at(&mut entry, &["issuer", "certificateAuthority"]) = issuer["caBundle"].clone();
    }
    for (claim, value) in issuer["requiredClaims"].as_object().into_iter().flatten() {
        let rule = json!({"claim": claim, "requiredValue": value});
        let rules = at(&mut entry, &["claimValidationRules"]);
        match rules.as_array_mut() {
            Some(rules) if rules.contains(&rule) => {}
            Some(rules) => rules.push(rule),
            None => *rules = json!([rule]),
        }
    }
    let mappings = at(&mut entry, &["claimMappings"]);
    let claim = issuer["usernameClaim"].as_str().filter(|claim| !claim.is_empty()).unwrap_or("sub");
    *at(mappings, &["username"]) =
        json!({"claim": claim, "prefix": username_prefix(issuer, claim)});
    // Without a claim there are no groups.
    if let Some(claim) = issuer["groupsClaim"].as_str().filter(|claim| !claim.is_empty()) {
        let prefix = [&issuer["groupsPrefix"], &mappings["groups"]["prefix"]];
        let prefix = prefix.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned();
        *at(mappings, &["groups"]) = json!({"claim": claim, "prefix": prefix});
    }
    entry
}

/// A hyphen means none; nothing means the issuer, unless users are named by their mail addresses.
fn username_prefix(issuer: &Value, claim: &str) -> String {
    match issuer["usernamePrefix"].as_str().unwrap_or_default() {
        "-" => String::new(),
        "" if claim == "email" => String::new(),
        "" => format!("{}#", issuer["issuerURL"].as_str().unwrap_or_default()),
        prefix => prefix.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://issuer.example.com";

    fn issuer(more: &Value) -> Value {
        let mut issuer = json!({
            "clientID": "client", "groupsClaim": "groups", "issuerURL": URL, "signingAlgs": ["RS256"],
            "usernameClaim": "sub", "usernamePrefix": "-",
        });
        for (key, value) in more.as_object().unwrap() {
            issuer[key] = value.clone();
        }
        issuer
    }

    fn jwt(contents: &ConfigMapContents) -> Value {
        configuration(&contents.data[KEY]).unwrap()["jwt"].clone()
    }

    /// A `ConfigMap` with these entries, in which the runtime's is that of the issuer `own`.
    fn there(own: Option<&str>, entries: &Value) -> ConfigMapContents {
        let own = own.map(|own| (ISSUER_ANNOTATION.to_owned(), own.to_owned()));
        let data = json!({"kind": "AuthenticationConfiguration", "jwt": entries}).to_string();
        ConfigMapContents {
            annotations: own.into_iter().collect(),
            data: BTreeMap::from([(KEY.to_owned(), data)]),
        }
    }

    #[test]
    fn an_issuer_means_the_same_in_the_config_map_as_in_the_shoot() {
        let plain = json!({
            "issuer": {"url": URL, "audiences": ["client"]},
            "claimMappings": {
                "username": {"claim": "sub", "prefix": ""},
                "groups": {"claim": "groups", "prefix": ""},
            },
        });

        assert_eq!(jwt(&edited(None, &issuer(&json!({})))), json!([plain]));

        for (more, prefix) in [
            (json!({"usernamePrefix": ""}), "https://issuer.example.com#"),
            (json!({"usernamePrefix": "", "usernameClaim": "email"}), ""),
            (json!({"usernamePrefix": "a:"}), "a:"),
        ] {
            let written = jwt(&edited(None, &issuer(&more)));
            assert_eq!(written[0]["claimMappings"]["username"]["prefix"], prefix);
        }
    }

    #[test]
    fn required_claims_prefixes_of_groups_and_certificates_are_carried_over() {
        let more = json!({
            "requiredClaims": {"team": "blue"}, "groupsPrefix": "sap:", "caBundle": "PEM",
        });

        let written = jwt(&edited(None, &issuer(&more)));

        assert_eq!(written[0]["issuer"]["certificateAuthority"], "PEM");
        assert_eq!(written[0]["claimMappings"]["groups"]["prefix"], "sap:");
        let rules = json!([{"claim": "team", "requiredValue": "blue"}]);
        assert_eq!(written[0]["claimValidationRules"], rules);
        let no_groups = jwt(&edited(None, &json!({"clientID": "c", "issuerURL": URL})));
        assert_eq!(no_groups[0]["claimMappings"].get("groups"), None, "{no_groups}");
    }

    #[test]
    fn entries_of_others_stay_when_the_runtimes_own_is_changed() {
        let other = json!({"issuer": {"url": "https://other.example.com", "audiences": ["x"]}});
        let former = json!({"issuer": {"url": "https://former.example.com", "audiences": ["y"]}});
        let own = there(Some("https://former.example.com"), &json!([other, former]));

        let after = edited(Some(&own), &issuer(&json!({})));

        let entries = jwt(&after);
        assert_eq!(entries[0], other);
        assert_eq!(entries[1]["issuer"]["url"], URL);
        assert_eq!(entries.as_array().unwrap().len(), 2, "the former issuer is gone");
        assert!(!edited(Some(&after), &issuer(&json!({}))).differs_from(&after));

        let named_by_another =
            there(Some("https://former.example.com"), &json!([former, {"issuer": {"url": URL}}]));
        assert_eq!(
            jwt(&edited(Some(&named_by_another), &issuer(&json!({})))).as_array().unwrap().len(),
            1
        );
    }

    #[test]
    fn what_others_set_in_the_runtimes_own_entry_stays() {
        let own = json!({
            "issuer": {"url": URL, "audiences": ["former"], "certificateAuthority": "PEM"},
            "claimMappings": {"groups": {"claim": "groups", "prefix": "sap:"}},
            "claimValidationRules": [{"claim": "team", "requiredValue": "blue"}],
        });

        // A map of an earlier version: one entry, no annotation.
        let written = jwt(&edited(Some(&there(None, &json!([own]))), &issuer(&json!({}))));

        assert_eq!(written[0]["issuer"]["audiences"], json!(["client"]));
        assert_eq!(written[0]["issuer"]["certificateAuthority"], "PEM");
        assert_eq!(written[0]["claimMappings"]["groups"]["prefix"], "sap:");
        assert_eq!(written[0]["claimValidationRules"], own["claimValidationRules"]);
    }
}
