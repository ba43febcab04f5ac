//! The company document: everything there is.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::{
    Ias,
    error::Refusal,
    providers::{Event, Provider},
};

pub(super) async fn read(State(ias): State<Arc<Ias>>) -> Result<Json<Value>, Refusal> {
    let (company, hidden) = ias.providers.read(|known| {
        let others = (1..=known.switches.others).map(other);
        let seen = known.kept.iter().filter(|provider| provider.hidden_for == 0);
        let seen = seen.map(|provider| ias.shown(provider));
        let providers: Vec<Value> = others.chain(seen).collect();
        let identity = |(id, name): &(String, String)| json!({ "id": id, "name": name });
        let identities: Vec<Value> = ias.settings.identity_providers.iter().map(identity).collect();
        let company = json!({
            "company_id": "global",
            "service_providers": providers,
            "identity_providers": identities,
        });
        (company, known.kept.iter().any(|provider| provider.hidden_for > 0))
    });
    if hidden {
        ias.providers.settle(|_| vec![Event::Seen])?;
    }
    Ok(Json(company))
}

impl Ias {
    /// A provider as the company shows it.
    pub(super) fn shown(&self, provider: &Provider) -> Value {
        let mut shown = json!({
            "id": provider.id,
            "display_name": provider.display_name,
            "organization": "global",
            "userForRest": provider.user_for_rest,
            "clientSecrets": provider.secrets,
            "ssoType": "saml2",
            "redirect_uris": [],
            "name_id_attribute": "uid",
            "acs_endpoints": [],
            "assertion_attributes": [],
            "default_attributes": [],
        });
        for (name, value) in &provider.configured {
            shown[name] = value.clone();
        }
        let from = shown["authenticatingIdp"]["id"].as_str().map(str::to_owned);
        let found =
            self.settings.identity_providers.iter().find(|(id, _)| Some(id) == from.as_ref());
        if let Some((id, name)) = found {
            shown["authenticatingIdp"] = json!({ "id": id, "name": name, "display_name": name });
        }
        shown
    }
}

fn other(number: u32) -> Value {
    json!({
        "id": format!("other-{number}"),
        "display_name": format!("a service provider of somebody else, number {number}"),
        "organization": "global",
        "userForRest": format!("T-{number}"),
        "clientSecrets": [],
        "assertion_attributes": [{ "assertionAttribute": "mail", "userAttribute": "mail" }],
    })
}
