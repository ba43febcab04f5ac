//! The schema: printed, and as a client reads it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::service::Service;

/// The introspection query of common tools.
const INTROSPECTION: &str = "query IntrospectionQuery { __schema {
    queryType { name } mutationType { name } subscriptionType { name }
    types { ...FullType }
    directives { name description locations args { ...InputValue } } } }
fragment FullType on __Type { kind name description
    fields(includeDeprecated: true) { name description args { ...InputValue } type { ...TypeRef }
        isDeprecated deprecationReason }
    inputFields { ...InputValue } interfaces { ...TypeRef }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    possibleTypes { ...TypeRef } }
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
    ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";

/// The schema as a client knows it after asking.
pub(crate) struct ClientSchema {
    types: BTreeMap<String, Value>,
}

impl ClientSchema {
    pub(crate) async fn fetch(service: &Service) -> Self {
        let schema = service.run(INTROSPECTION).await.data()["__schema"].clone();
        assert_eq!(schema["queryType"]["name"], "Query");
        assert_eq!(schema["mutationType"]["name"], "Mutation");
        assert_eq!(schema["subscriptionType"], Value::Null);
        let types = schema["types"].as_array().unwrap();
        let named = |kind: &Value| (text(&kind["name"]), kind.clone());
        Self { types: types.iter().map(named).collect() }
    }

    /// Names and types of the members of a type, in order; an enumeration's values have no type.
    pub(crate) fn members(&self, name: &str) -> Vec<(String, String)> {
        let found = &self.types[name];
        let lists = ["fields", "inputFields", "enumValues", "possibleTypes"];
        let members = lists.into_iter().find_map(|list| found[list].as_array()).unwrap();
        members.iter().map(|member| (text(&member["name"]), written(&member["type"]))).collect()
    }

    /// Everything that can be selected of a type.
    pub(crate) fn selection(&self, name: &str) -> String {
        let name = name.trim_matches(['[', ']', '!']);
        match self.types[name]["kind"].as_str().unwrap() {
            "OBJECT" => {
                let field =
                    |(field, kind): (String, String)| format!("{field} {} ", self.selection(&kind));
                format!("{{ {} }}", self.members(name).into_iter().map(field).collect::<String>())
            }
            "UNION" => {
                let part =
                    |(own, _): (String, String)| format!("... on {own} {} ", self.selection(&own));
                let parts: String = self.members(name).into_iter().map(part).collect();
                format!("{{ __typename {parts} }}")
            }
            _ => String::new(),
        }
    }

    fn of_kind(&self, kind: &str) -> impl Iterator<Item = &String> {
        self.types.iter().filter(move |(_, found)| found["kind"] == kind).map(|(name, _)| name)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A type, as it is written in a schema.
fn written(kind: &Value) -> String {
    match kind["kind"].as_str() {
        Some("NON_NULL") => format!("{}!", written(&kind["ofType"])),
        Some("LIST") => format!("[{}]", written(&kind["ofType"])),
        Some(_) => text(&kind["name"]),
        None => String::new(),
    }
}

#[test]
fn the_printed_schema_stays_as_it_is() {
    insta::assert_snapshot!("schema", api::graphql::sdl());
}

#[tokio::test]
async fn a_client_that_asks_for_the_schema_finds_every_type_that_it_knows() {
    let service = Service::start().await;

    let known = ClientSchema::fetch(&service).await;

    for line in include_str!("known.txt").lines().filter(|line| !line.is_empty()) {
        let (name, members) = line.split_once(" = ").unwrap();
        let found = known.members(name);
        let found: Vec<String> = found
            .into_iter()
            .map(|(name, kind)| if kind.is_empty() { name } else { format!("{name} {kind}") })
            .collect();
        let mut expected: Vec<&str> = members.split(", ").collect();
        let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
    let listed = include_str!("known.txt").lines().filter(|line| !line.is_empty()).count();
    let kinds = ["OBJECT", "INPUT_OBJECT", "ENUM", "UNION"];
    let own = kinds.into_iter().flat_map(|kind| known.of_kind(kind));
    assert_eq!(own.filter(|name| !name.starts_with("__")).count(), listed);
}

#[tokio::test]
async fn arguments_are_those_that_clients_know() {
    let service = Service::start().await;
    let known = ClientSchema::fetch(&service).await;
    let arguments = |root: &str, field: &str| {
        let fields = known.types[root]["fields"].as_array().unwrap();
        let field = fields.iter().find(|found| found["name"] == field).unwrap();
        let arguments = field["args"].as_array().unwrap().iter();
        let one = |own: &Value| format!("{}: {}", text(&own["name"]), written(&own["type"]));
        arguments.map(one).collect::<Vec<_>>().join(", ")
    };

    let provision = "config: ProvisionRuntimeInput!, runtimeID: String";
    assert_eq!(arguments("Mutation", "provisionRuntime"), provision);
    let upgrade = "id: String!, config: UpgradeRuntimeInput!";
    assert_eq!(arguments("Mutation", "upgradeRuntime"), upgrade);
    let shoot = "id: String!, config: UpgradeShootInput!";
    assert_eq!(arguments("Mutation", "upgradeShoot"), shoot);
    let deprovision = "id: String!, supersede: Boolean";
    assert_eq!(arguments("Mutation", "deprovisionRuntime"), deprovision);
    let by_id = [
        ("Mutation", "hibernateRuntime"),
        ("Mutation", "rollBackUpgradeOperation"),
        ("Mutation", "reconnectRuntimeAgent"),
        ("Query", "runtimeStatus"),
    ];
    // What is new may be left out: the query of known clients is the first argument alone.
    let follow = "id: String!, waitSeconds: Int, seenState: OperationState, seenMessage: String";
    assert_eq!(arguments("Query", "runtimeOperationStatus"), follow);
    for (root, field) in by_id {
        assert_eq!(arguments(root, field), "id: String!", "{field}");
    }
}

#[tokio::test]
async fn only_the_outermost_fields_take_arguments() {
    let service = Service::start().await;

    let known = ClientSchema::fetch(&service).await;

    let inner = known
        .of_kind("OBJECT")
        .filter(|name| !name.starts_with("__") && !["Query", "Mutation"].contains(&name.as_str()));
    for name in inner {
        for field in known.types[name]["fields"].as_array().unwrap() {
            assert_eq!(field["args"].as_array().map(Vec::len), Some(0), "{name} {field}");
        }
    }
}
