//! Which orders are accepted, and what the others are told.

use base64::{Engine, engine::general_purpose::STANDARD};
use broker::catalog::{Offer, Request, Rule};
use clients::kubernetes::Networks;
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
    let mut shop = Shop::new();
    let order = {
        let shop = Shop::new();
        move |kubeconfig: &str| shop.order("own_cluster", "cf-eu10", &own(kubeconfig))
    };

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
        (
            &KUBECONFIG.replace("https://api.dev.test", "http://api.dev.test"),
            "not reached by https",
        ),
        (&KUBECONFIG.replace("https://api.dev.test", "https://127.0.0.1:6443"), "not allowed"),
        (&KUBECONFIG.replace("https://api.dev.test", "'https://[::ffff:10.0.0.1]'"), "not allowed"),
        (&KUBECONFIG.replace("https://api.dev.test", "https://169.254.169.254"), "not allowed"),
        (&KUBECONFIG.replace("https://api.dev.test", "https://localhost"), "not allowed"),
        (
            &KUBECONFIG
                .replace("https://api.dev.test", "https://a.test, insecure-skip-tls-verify: true"),
            "certificate is not verified",
        ),
        (
            &KUBECONFIG
                .replace("https://api.dev.test", "https://a.test, certificate-authority: /etc/ca"),
            "a file of this machine",
        ),
        (
            &KUBECONFIG
                .replace("https://api.dev.test", "https://a.test, proxy-url: https://b.test"),
            "a proxy",
        ),
        (&with_user("{exec: {command: sh, apiVersion: v1}}"), "a program of this machine"),
        (&with_user("{auth-provider: {name: gcp, config: {}}}"), "a program of this machine"),
        (&with_user("{tokenFile: /etc/passwd}"), "a file of this machine"),
        (
            &with_user("{client-key: /etc/key, client-certificate: /etc/crt}"),
            "a file of this machine",
        ),
    ];
    for (kubeconfig, problem) in cases {
        let refusal = order(kubeconfig).unwrap_err();

        assert_eq!((refusal.rule, refusal.fields), (Rule::Kubeconfig, vec!["/kubeconfig".into()]));
        assert!(refusal.description.starts_with("while validating kubeconfig: "));
        assert!(refusal.description.contains(problem), "{kubeconfig}: {}", refusal.description);
    }
    let local = KUBECONFIG.replace("https://api.dev.test", "https://127.0.0.1:6443");
    shop.offer.customer_networks = Networks::new(vec!["127.0.0.0/8".parse().unwrap()]);
    assert!(shop.order("own_cluster", "cf-eu10", &own(&local)).is_ok());
    shop.offer.closed = false;
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
fn parameters_that_nobody_knows_are_refused_with_the_name_that_was_meant_unless_the_offer_is_open()
{
    let mut shop = Shop::new();
    let order =
        json!({"name": "dev", "volumeSizeGb": 80, "a/b": "red", "machinetype": "m5.xlarge"});

    let refusal = shop.order("aws", "cf-eu10", &order).unwrap_err();
    shop.offer = Offer { closed: false, ..shop.offer };
    let accepted = shop.order("aws", "cf-eu10", &order).unwrap();

    assert_eq!(accepted.parameters.volume_size_gb, Some(80));
    assert_eq!(refusal.rule, Rule::Schema);
    assert_eq!(refusal.fields, ["/a~1b", "/machinetype"]);
    assert_eq!(
        refusal.description,
        "while validating input parameters: (root): Additional property a/b is not allowed, \
         (root): Additional property machinetype is not allowed, did you mean machineType?"
    );
}

#[test]
fn a_slip_inside_of_the_issuer_is_refused_too() {
    let shop = Shop::new();
    let oidc = json!({"clientID": "a", "issuerURL": "https://a.test", "usernameClaims": "sub"});

    let refusal = shop.order("aws", "cf-eu10", &json!({"name": "dev", "oidc": oidc})).unwrap_err();

    assert!(refusal.description.contains("did you mean usernameClaim?"), "{refusal}");
}

#[test]
fn an_order_from_a_region_that_no_platform_has_is_refused_unless_the_offer_is_open() {
    let mut shop = Shop::new();
    let order = json!({"name": "dev"});

    let refusal = shop.order("aws", "cf-eu1O", &order).unwrap_err();
    let unknown = shop.order("aws", "..", &order).unwrap_err();
    shop.offer.closed = false;

    assert_eq!((refusal.rule, unknown.rule), (Rule::PlatformRegion, Rule::PlatformRegion));
    assert!(
        refusal.description.contains("cf-eu1O is not known, did you mean cf-eu10?"),
        "{refusal}"
    );
    assert!(shop.order("aws", "cf-eu1O", &order).is_ok());
}

#[test]
fn texts_and_lists_have_limits_and_administrators_have_names() {
    let shop = Shop::new();
    let order = |field: &str, value: Value| {
        let mut order = json!({"name": "dev"});
        order[field] = value;
        shop.order("aws", "cf-eu10", &order)
    };
    let many: Vec<String> = (0..101).map(|at| format!("jo{at}@example.test")).collect();

    for (field, value) in [
        ("name", json!("x".repeat(256))),
        ("name", json!("x".repeat(900_000))),
        ("administrators", json!(many)),
        ("administrators", json!([""])),
        ("administrators", json!(["a\nb"])),
        ("administrators", json!(["x".repeat(300)])),
        ("purpose", json!("x".repeat(2_000))),
        ("zones", json!(vec!["eu-central-1a"; 101])),
        ("volumeSizeGb", json!(0)),
    ] {
        let refusal = order(field, value.clone()).unwrap_err();
        assert!(refusal.fields[0].starts_with(&format!("/{field}")), "{refusal:?}");
        assert!(refusal.description.chars().count() < 1_000);
    }
    assert!(order("name", json!("x".repeat(255))).is_ok());
}

#[test]
fn surge_and_unavailability_cannot_both_be_nothing() {
    let shop = Shop::new();

    let order = json!({"name": "dev", "maxSurge": 0, "maxUnavailable": 0});

    assert_eq!(shop.order("aws", "cf-eu10", &order).unwrap_err().rule, Rule::Nodes);
}

/// The kubeconfig with another user.
fn with_user(user: &str) -> String {
    KUBECONFIG.replace("user: {token: abc}", &format!("user: {user}"))
}
