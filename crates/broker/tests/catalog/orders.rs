//! Which orders are accepted, and what the others are told.

use base64::{Engine, engine::general_purpose::STANDARD};
use broker::catalog::{Offer, Request, Rule};
use domain::plan::Provider;
use serde_json::{Value, json};

use crate::support::{KUBECONFIG, PLANS, Shop};

fn own(kubeconfig: &str) -> Value {
    json!({"name": "dev", "shootName": "s", "shootDomain": "s.test",
        "kubeconfig": STANDARD.encode(kubeconfig)})
}

#[test]
fn every_plan_can_be_ordered_with_what_it_requires() {
    let shop = Shop::new();
    for plan in PLANS {
        let parameters =
            if plan == "own_cluster" { own(KUBECONFIG) } else { json!({"name": "dev"}) };

        let accepted = shop.order(plan, "cf-eu20", &parameters).unwrap();

        let provider = match plan {
            "aws" | "preview" => Some(Provider::Aws),
            "gcp" => Some(Provider::Gcp),
            "openstack" => Some(Provider::Openstack),
            "own_cluster" => None,
            _ => Some(Provider::Azure),
        };
        let licence = matches!(plan, "azure_lite" | "trial").then_some("TestDevelopmentAndDemo");
        assert_eq!(accepted.provider, provider, "{plan}");
        assert_eq!(accepted.parameters.licence_type.as_deref(), licence, "{plan}");
    }
}

#[test]
fn an_order_without_parameters_is_refused() {
    let shop = Shop::new();
    let place = shop.place("cf-eu10");
    let request = Request { place: &place, global_account: "ga", parameters: None };

    let refusal = shop.catalog.check_provision(&shop.offer, shop.plan("aws"), &request);

    assert_eq!(
        refusal.unwrap_err().description,
        "while extracting input parameters: while unmarshaling raw parameters: unexpected end of \
         JSON input"
    );
}

#[test]
fn a_free_cluster_needs_a_platform_whose_provider_is_known_and_enabled() {
    let mut shop = Shop::new();
    let order = json!({"name": "dev"});

    let unknown = shop.order("free", "cf-eu30", &order).unwrap_err();
    shop.catalog =
        shop.catalog.adjusted(|defaults| defaults.free_providers = vec![Provider::Aws]).unwrap();
    let disabled = shop.order("free", "cf-eu20", &order).unwrap_err();

    assert_eq!(unknown.rule, Rule::FreeProvider);
    let text =
        |word| format!("while obtaining plan defaults: freemium provider {word} is not enabled");
    assert_eq!(unknown.description, text("unknown"));
    assert_eq!(disabled.description, text("Azure"));
    assert!(shop.order("free", "cf-eu10", &order).is_ok());
}

#[test]
fn eu_access_is_for_invited_accounts_and_is_asked_after_the_schema() {
    let shop = Shop::new();
    let place = shop.place("cf-eu11");
    let order = |global_account, parameters: &Value| {
        let request = Request { place: &place, global_account, parameters: Some(parameters) };
        shop.catalog.check_provision(&shop.offer, shop.plan("aws"), &request)
    };

    let refusal = order("ga-stranger", &json!({"name": "dev"})).unwrap_err();

    assert_eq!(refusal.rule, Rule::EuAccess);
    assert_eq!(
        refusal.description,
        "Due to limited availability you need to open support ticket before attempting to provision \
         Kyma clusters in EU Access only regions"
    );
    assert_eq!(order("ga-stranger", &json!({})).unwrap_err().rule, Rule::Schema);
    assert!(order(crate::support::INVITED, &json!({"name": "dev"})).is_ok());
}

#[test]
fn a_kubeconfig_is_kept_in_clear_and_must_lead_somewhere() {
    let shop = Shop::new();
    let order = |kubeconfig: &str| shop.order("own_cluster", "cf-eu10", &own(kubeconfig));

    let accepted = order(KUBECONFIG).unwrap();

    assert_eq!(accepted.parameters.kubeconfig.unwrap().expose(), KUBECONFIG);
    let cases = [
        ("", "kubeconfig is empty"),
        ("just words", "cannot be read"),
        ("{}", "kubeconfig is empty"),
        (&KUBECONFIG.replace("current-context: dev", "current-context: x"), "in current-context"),
        (
            &KUBECONFIG.replace("{cluster: dev, user", "{cluster: x, user"),
            "whose cluster does not exist",
        ),
        (&KUBECONFIG.replace("name: jo", "name: x"), "whose user does not exist"),
        (&KUBECONFIG.replace("server: https://api.dev.test", ""), "a cluster without a server"),
    ];
    for (kubeconfig, problem) in cases {
        let refusal = order(kubeconfig).unwrap_err();

        assert_eq!((refusal.rule, refusal.fields), (Rule::Kubeconfig, vec!["/kubeconfig".into()]));
        assert!(refusal.description.starts_with("while validating kubeconfig: "));
        assert!(refusal.description.contains(problem), "{kubeconfig}: {}", refusal.description);
    }
    let managed = shop.order("aws", "cf-eu10", &own(KUBECONFIG)).unwrap();
    assert_eq!(managed.parameters.kubeconfig, None);
    let mut bad = own(KUBECONFIG);
    bad["kubeconfig"] = json!("%%%");
    let refusal = shop.order("own_cluster", "cf-eu10", &bad).unwrap_err();
    assert!(refusal.description.starts_with("while decoding kubeconfig: "));
}

#[test]
fn versions_are_kept_only_where_orders_may_choose_them() {
    let mut shop = Shop::new();
    let order = json!({"name": "dev", "kymaVersion": "2.5.0", "overridesVersion": "2.5.0",
        "licence_type": "Mine"});

    let off = shop.order("aws", "cf-eu10", &order).unwrap().parameters;
    shop.offer = Offer { on_demand_versions: true, ..shop.offer };
    let on = shop.order("aws", "cf-eu10", &order).unwrap().parameters;

    assert_eq!((off.kyma_version, off.overrides_version, off.licence_type), (None, None, None));
    assert_eq!(on.kyma_version.as_deref(), Some("2.5.0"));
    assert_eq!(on.overrides_version.as_deref(), Some("2.5.0"));
}

#[test]
fn parameters_that_are_not_published_pass_unless_the_offer_is_closed() {
    let mut shop = Shop::new();
    let order = json!({"name": "dev", "volumeSizeGb": 80, "a/b": "red"});

    let accepted = shop.order("aws", "cf-eu10", &order).unwrap();
    shop.offer = Offer { closed: true, ..shop.offer };
    let refusal = shop.order("aws", "cf-eu10", &order).unwrap_err();

    assert_eq!(accepted.parameters.volume_size_gb, Some(80));
    assert_eq!(refusal.rule, Rule::Schema);
    assert_eq!(refusal.fields, ["/volumeSizeGb", "/a~1b"]);
    assert_eq!(
        refusal.description,
        "while validating input parameters: (root): Additional property volumeSizeGb is not allowed, \
         (root): Additional property a/b is not allowed"
    );
}
