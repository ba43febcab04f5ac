//! Refusals of orders: the rule, the field, the texts that clients know.

use broker::catalog::Rule;
use serde_json::{Value, json};

use crate::support::Shop;

/// Orders with a name and the given parameters; each is refused by the rule with the fields and the text.
fn refused(rule: Rule, opening: &str, cases: &[(&str, Value, &[&str], &str)]) {
    let shop = Shop::new();
    for (plan, more, fields, text) in cases {
        let mut order = json!({"name": "dev"});
        order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());

        let refusal = shop.order(plan, "cf-eu20", &order).unwrap_err();

        assert_eq!(refusal.description, format!("{opening}{text}"), "{plan} {more}");
        assert_eq!((refusal.rule, refusal.fields), (rule, strings(fields)), "{plan} {more}");
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn the_published_schema_speaks_in_the_known_words() {
    let name = &["/name"].as_slice();
    refused(
        Rule::Schema,
        "while validating input parameters: ",
        &[
            (
                "aws",
                json!({"name": ""}),
                name,
                "name: String length must be greater than or equal to 1",
            ),
            ("aws", json!({"name": "a b"}), name, "name: Does not match pattern '^[a-zA-Z0-9-]*$'"),
            (
                "aws",
                json!({"name": null}),
                name,
                "name: Invalid type. Expected: string, given: null",
            ),
            (
                "gcp",
                json!({"region": "mars"}),
                &["/region"],
                "region: region must be one of the following: \"europe-west3\", \"asia-south1\", \
                 \"us-central1\"",
            ),
            (
                "openstack",
                json!({"machineType": "x"}),
                &["/machineType"],
                "machineType: machineType must be one of the following: \"g_c4_m16\", \"g_c8_m32\"",
            ),
            (
                "own_cluster",
                json!({}),
                &["/kubeconfig", "/shootName", "/shootDomain"],
                "(root): kubeconfig is required, (root): shootName is required, (root): shootDomain \
                 is required",
            ),
        ],
    );
}

#[test]
fn the_published_schema_bounds_the_number_of_nodes() {
    let cases: &[(&str, Value, &[&str], &str)] = &[
        (
            "aws",
            json!({"autoScalerMin": 1}),
            &["/autoScalerMin"],
            "autoScalerMin: Must be greater than or equal to 3",
        ),
        (
            "aws",
            json!({"autoScalerMin": -1}),
            &["/autoScalerMin"],
            "autoScalerMin: Must be greater than or equal to 3",
        ),
        (
            "azure_lite",
            json!({"autoScalerMin": 1}),
            &["/autoScalerMin"],
            "autoScalerMin: Must be greater than or equal to 2",
        ),
        (
            "aws",
            json!({"autoScalerMax": 81}),
            &["/autoScalerMax"],
            "autoScalerMax: Must be less than or equal to 80",
        ),
        (
            "openstack",
            json!({"autoScalerMax": 41}),
            &["/autoScalerMax"],
            "autoScalerMax: Must be less than or equal to 40",
        ),
    ];

    refused(Rule::Schema, "while validating input parameters: ", cases);
}

#[test]
fn more_nodes_at_least_than_at_most_are_refused_before_the_schema_speaks() {
    let max = "User provided values min:3, max:2; plan defaults min:3, max:20";
    refused(
        Rule::AutoScaler,
        "AutoScalerMax ",
        &[
            (
                "aws",
                json!({"autoScalerMin": 3, "autoScalerMax": 2}),
                &["/autoScalerMin", "/autoScalerMax"],
                &format!("2 should be larger than AutoScalerMin 3. {max}"),
            ),
            // The schema would say that a name must not be empty.
            (
                "aws",
                json!({"autoScalerMin": 30, "name": ""}),
                &["/autoScalerMin"],
                "20 should be larger than AutoScalerMin 30. User provided values min:30, max:<nil>; \
                 plan defaults min:3, max:20",
            ),
            (
                "trial",
                json!({"autoScalerMin": 2}),
                &["/autoScalerMin"],
                "1 should be larger than AutoScalerMin 2. User provided values min:2, max:<nil>; plan \
                 defaults min:1, max:1",
            ),
            (
                "own_cluster",
                json!({"autoScalerMin": 1}),
                &["/autoScalerMin"],
                "0 should be larger than AutoScalerMin 1. User provided values min:1, max:<nil>; plan \
                 defaults min:0, max:0",
            ),
        ],
    );
}

#[test]
fn fewer_nodes_than_zones_are_refused_with_both_numbers() {
    let zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c", "eu-central-1d"];
    let order =
        |max: u32| json!({"autoScalerMin": 3, "autoScalerMax": max, "zones": zones, "name": "dev"});
    refused(
        Rule::Nodes,
        "autoScalerMax: ",
        &[(
            "aws",
            order(3),
            &["/autoScalerMax"],
            "3 nodes are too few for 4 zones, each zone needs room for one",
        )],
    );
    Shop::new().order("aws", "cf-eu20", &order(4)).unwrap();
}

#[test]
fn an_issuer_is_told_everything_that_is_wrong_with_it() {
    let issuer = &["/oidc/issuerURL"].as_slice();
    refused(
        Rule::Oidc,
        "",
        &[
            (
                "aws",
                json!({"oidc": {"clientID": "", "issuerURL": "http://issuer", "signingAlgs": ["XX1"]}}),
                &["/oidc/clientID", "/oidc/issuerURL", "/oidc/signingAlgs"],
                "clientID must not be empty, issuerURL must have https scheme, signingAlgs must \
                 contain valid signing algorithm(s)",
            ),
            ("gcp", json!({"oidc": {"clientID": "c"}}), issuer, "issuerURL must not be empty"),
            (
                "trial",
                json!({"oidc": {"clientID": "c", "issuerURL": "issuer"}}),
                issuer,
                "issuerURL must be a valid URL, issuerURL must have https scheme",
            ),
            (
                "free",
                json!({"oidc": {"clientID": "c", "issuerURL": "https://"}}),
                issuer,
                "issuerURL must be a valid URL",
            ),
        ],
    );
}

#[test]
fn an_issuer_is_an_address_that_a_kube_apiserver_takes() {
    let with = |url: &str| json!({"oidc": {"clientID": "c", "issuerURL": url}});
    let issuer = &["/oidc/issuerURL"].as_slice();
    let user = "issuerURL must not contain a username or password";
    refused(
        Rule::Oidc,
        "",
        &[
            ("aws", with("https://a/x?y=z"), issuer, "issuerURL must not contain a query"),
            ("gcp", with("https://a#f"), issuer, "issuerURL must not contain a fragment"),
            ("azure", with("https://u:p@a"), issuer, user),
            ("aws", with("https://@a/x"), issuer, user),
            ("aws", with("https://a "), issuer, "issuerURL must be a valid URL"),
            ("aws", with("https:///a.test"), issuer, "issuerURL must be a valid URL"),
            ("aws", with("https:a.test/x"), issuer, "issuerURL must be a valid URL"),
            (
                "aws",
                with("HTTP://u@a?b#c"),
                issuer,
                "issuerURL must have https scheme, issuerURL must not contain a username or \
                 password, issuerURL must not contain a query, issuerURL must not contain a fragment",
            ),
        ],
    );
    for url in ["HTTPS://a", "https://a:8443/x/", "https://a/@b", "https://a/x?"] {
        let mut order = with(url);
        order["name"] = json!("dev");
        Shop::new().order("aws", "cf-eu20", &order).unwrap();
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let opening = "while extracting input parameters: while unmarshaling raw parameters: ";
    refused(
        Rule::Form,
        opening,
        &[
            (
                "aws",
                json!({"autoScalerMin": "3"}),
                &["/autoScalerMin"],
                "autoScalerMin: invalid type: string \"3\", expected i64",
            ),
            (
                "trial",
                json!({"administrators": ["jo", 1]}),
                &["/administrators/1"],
                "administrators[1]: invalid type: integer `1`, expected a string",
            ),
            (
                "aws",
                json!({"oidc": ["c"]}),
                &["/oidc"],
                "oidc: invalid type: sequence, expected an object",
            ),
            (
                "aws",
                json!({"oidc": {"clientID": 1}}),
                &["/oidc/clientID"],
                "oidc.clientID: invalid type: integer `1`, expected a string",
            ),
        ],
    );
}

#[test]
fn parameters_are_an_object() {
    let shop = Shop::new();

    let list = shop.order("aws", "cf-eu10", &json!(["dev"])).unwrap_err();
    let null = shop.order("aws", "cf-eu10", &Value::Null).unwrap_err();
    let empty = shop.order("aws", "cf-eu10", &json!({})).unwrap_err();

    assert_eq!(list.rule, Rule::Form);
    let schema = "while validating input parameters: (root): ";
    assert_eq!(null.description, format!("{schema}Invalid type. Expected: object, given: null"));
    assert_eq!(empty.description, format!("{schema}name is required"));
    assert_eq!(empty.fields, ["/name"]);
}

#[test]
fn plans_of_fixed_size_take_no_other_size() {
    let cases: &[(&str, Value, &[&str], &str)] = &[
        (
            "trial",
            json!({"machineType": "m5.xlarge"}),
            &["/machineType"],
            "machineType: plan trial offers only Standard_D4_v3",
        ),
        (
            "free",
            json!({"autoScalerMin": 3, "autoScalerMax": 9}),
            &["/autoScalerMin"],
            "autoScalerMin: plan free offers only 1",
        ),
        (
            "trial",
            json!({"autoScalerMax": 9}),
            &["/autoScalerMax"],
            "autoScalerMax: plan trial offers only 1",
        ),
        (
            "free",
            json!({"volumeSizeGb": 500}),
            &["/volumeSizeGb"],
            "volumeSizeGb: plan free offers only 50",
        ),
    ];
    let own_size = json!({"name": "dev", "machineType": "Standard_D4_v3", "autoScalerMin": 1,
        "autoScalerMax": 1, "volumeSizeGb": 50});

    refused(Rule::FixedSize, "", cases);
    assert!(Shop::new().order("trial", "cf-eu20", &own_size).is_ok());
}

#[test]
fn purposes_zones_and_trial_choices_must_exist() {
    let shop = Shop::new();
    let cases = [
        (
            "aws",
            json!({"purpose": "fun"}),
            Rule::Schema,
            "/purpose",
            "while validating input parameters: purpose: purpose must be one of the following: \"evaluation\"",
        ),
        (
            "aws",
            json!({"zones": ["eu-west-2a"]}),
            Rule::Zones,
            "/zones/0",
            "zones.0: not a zone of region eu-central-1",
        ),
        (
            "gcp",
            json!({"zones": ["europe-west3-a", "europe-west3-a"]}),
            Rule::Zones,
            "/zones/1",
            "zones.1: named twice",
        ),
        (
            "aws",
            json!({"zones": ["1", "2", "3", "4", "5"]}),
            Rule::Zones,
            "/zones",
            "zones: there can be at most 4",
        ),
        (
            "trial",
            json!({"region": "mars"}),
            Rule::TrialRegion,
            "/region",
            "invalid region specified in request for trial",
        ),
        (
            "trial",
            json!({"provider": "azure"}),
            Rule::TrialProvider,
            "/provider",
            "trial provider for azure not yet implemented",
        ),
    ];
    for (plan, mut order, rule, field, text) in cases {
        order["name"] = json!("dev");

        let refusal = shop.order(plan, "cf-eu20", &order).unwrap_err();

        assert_eq!(
            (refusal.rule, refusal.fields),
            (rule, vec![field.to_owned()]),
            "{plan} {order}"
        );
        assert!(refusal.description.starts_with(text), "{}", refusal.description);
    }
}
