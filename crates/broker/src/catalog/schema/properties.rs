//! The fields of a schema, by plan, place and offer.

use domain::plan::{Kind, Provider};
use serde_json::{Map, Value, json};
use serde_saphyr::Spanned;

use crate::catalog::{
    Catalog, Offer, Plan, PlatformRegion,
    bounds::{LONGEST_NAME, LONGEST_TEXT, MOST_ENTRIES},
    data::{ClusterData, MachineChoice, Nodes},
    resolve::PURPOSES,
};

/// The purpose of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Create,
    Update,
}

impl Catalog {
    pub(super) fn properties(
        &self,
        offer: &Offer,
        plan: &Plan,
        place: &PlatformRegion,
        purpose: Purpose,
    ) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut add = |name: &str, property: Value| properties.insert(name.to_owned(), property);
        let create = purpose == Purpose::Create;
        if create {
            add("name", name());
        }
        if plan.kind() == Kind::OwnCluster {
            add("kubeconfig", json!({"type": "string", "title": "Kubeconfig contents"}));
            if create {
                add("shootName", word("Shoot name", "^[a-zA-Z0-9-]*$"));
                add("shootDomain", word("Shoot domain", "^[a-zA-Z0-9-\\.]*$"));
            }
            return properties;
        }
        if let Some((provider, cluster)) = plan.published(place) {
            if let Some(regions) = regions(cluster, place).filter(|_| create) {
                add("region", json!({"type": "string", "enum": regions}));
            }
            if let Some(choice) = &cluster.machine_types {
                add("machineType", self.machine_type(provider, choice, purpose));
            }
        }
        if let Some(nodes) = plan.nodes() {
            add("autoScalerMin", fewest(nodes, create));
            add("autoScalerMax", most(nodes, create));
        }
        if offer.additional_parameters {
            add("oidc", oidc());
            add("administrators", administrators());
        }
        properties
    }

    fn machine_type(&self, provider: Provider, choice: &MachineChoice, purpose: Purpose) -> Value {
        let further = choice.update_too.iter().filter(|_| purpose == Purpose::Update);
        let machines: Vec<&str> =
            choice.create.iter().chain(further).map(|machine| machine.value.as_str()).collect();
        let known = self.providers.get(&provider).map(|data| &data.machines);
        let names: Map<String, Value> = machines
            .iter()
            .filter_map(|machine| {
                let name = known?.get(*machine)?;
                Some(((*machine).to_owned(), json!(name)))
            })
            .collect();
        json!({"type": "string", "enum": machines, "_enumDisplayName": names})
    }
}

/// The regions that can be chosen from a place; none when the plan leaves no choice.
pub(in crate::catalog) fn regions<'a>(
    cluster: &'a ClusterData,
    place: &PlatformRegion,
) -> Option<Vec<&'a str>> {
    let choice = cluster.regions.as_ref()?;
    let regions = match &choice.eu_access {
        Some(regions) if place.eu_access => regions,
        _ => &choice.regular,
    };
    let word = |region: &'a Spanned<String>| region.value.as_str();
    Some(regions.iter().map(word).collect())
}

fn name() -> Value {
    let mut name = word("Cluster Name", "^[a-zA-Z0-9-]*$");
    name["_BTPdefaultTemplate"] = json!({"elements": ["saSubdomain"]});
    name
}

fn word(title: &str, pattern: &str) -> Value {
    json!({"type": "string", "title": title, "pattern": pattern, "minLength": 1})
}

fn fewest(nodes: &Nodes, create: bool) -> Value {
    let mut property = json!({
        "type": "integer",
        "minimum": nodes.min.minimum,
        "description": "The cluster never has fewer nodes than this.",
    });
    if create {
        property["default"] = json!(nodes.min.default.value);
    }
    property
}

fn most(nodes: &Nodes, create: bool) -> Value {
    let mut property = json!({
        "type": "integer",
        "minimum": nodes.max.minimum,
        "maximum": nodes.max.maximum,
        "description": "The cluster never has more nodes than this.",
    });
    if create {
        property["default"] = json!(nodes.max.default.value);
    }
    property
}

fn oidc() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "object",
        "description": "The issuer whose tokens the cluster accepts.",
        "properties": {
            "clientID": text("For whom tokens must be made out."),
            "groupsClaim": text("The claim that holds the groups."),
            "issuerURL": text("Where the issuer lives; https only."),
            "signingAlgs": {
                "type": "array",
                "items": {"type": "string"},
                "description": "How tokens may be signed.",
            },
            "usernameClaim": text("The claim that holds the user."),
            "usernamePrefix": text("What is put in front of the user."),
        },
        "required": ["clientID", "issuerURL"],
    })
}

fn administrators() -> Value {
    json!({
        "type": "array",
        "title": "Administrators",
        "items": {"type": "string"},
        "description": "Who administers the cluster.",
    })
}

/// Says of a property what a closed schema says besides: how long texts and lists may be, and that there is nothing else in it.
pub(super) fn close(name: &str, property: &mut Value) {
    match name {
        "name" | "shootName" | "shootDomain" => property["maxLength"] = json!(LONGEST_NAME),
        "administrators" => {
            property["maxItems"] = json!(MOST_ENTRIES);
            property["items"]["minLength"] = json!(1);
            property["items"]["maxLength"] = json!(LONGEST_NAME);
        }
        "oidc" => {
            property["additionalProperties"] = json!(false);
            for text in property["properties"].as_object_mut().into_iter().flat_map(Map::values_mut)
            {
                let limit = if text["type"] == "array" { "maxItems" } else { "maxLength" };
                let most = if limit == "maxItems" { MOST_ENTRIES } else { LONGEST_TEXT };
                text[limit] = json!(most);
            }
        }
        _ => {}
    }
}

/// What a closed schema allows besides the fields of the form: everything else that is understood. None for an open one.
pub(super) fn further(offer: &Offer, plan: &Plan, purpose: Purpose) -> Option<Map<String, Value>> {
    if !offer.closed {
        return None;
    }
    let text = || json!({"type": "string", "maxLength": LONGEST_TEXT});
    let texts = || json!({"type": "array", "items": text(), "maxItems": MOST_ENTRIES});
    let count = |minimum: u32| json!({"type": "integer", "minimum": minimum});
    let whole = || json!({"type": "integer"});
    let mut further = vec![("administrators", administrators()), ("oidc", oidc())];
    if purpose == Purpose::Create {
        further.extend([
            ("components", texts()),
            ("kymaVersion", text()),
            ("overridesVersion", text()),
            ("licence_type", text()),
        ]);
    } else {
        further.push(("expired", json!({"type": "boolean"})));
    }
    if plan.kind() != Kind::OwnCluster {
        further.extend([
            ("autoScalerMin", whole()),
            ("autoScalerMax", whole()),
            ("maxSurge", count(0)),
            ("maxUnavailable", count(0)),
            ("machineType", text()),
        ]);
    }
    if plan.kind() != Kind::OwnCluster && purpose == Purpose::Create {
        further.extend([
            ("region", text()),
            ("zones", texts()),
            ("volumeSizeGb", count(1)),
            ("purpose", json!({"type": "string", "enum": PURPOSES})),
            ("targetSecret", text()),
        ]);
    }
    if plan.kind() == Kind::Trial && purpose == Purpose::Create {
        further.push(("provider", text()));
    }
    Some(further.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect())
}
