//! The catalog as platforms read it.

use broker::catalog::{BindingOffer, Offer};
use serde_json::{Value, json};

use crate::support::{PLANS, Shop};

fn services(shop: &Shop, offer: &Offer, region: &str) -> Value {
    shop.catalog.services(offer, &shop.place(region))
}

#[test]
fn every_plan_is_published_as_it_always_was() {
    let shop = Shop::new();

    let document = services(&shop, &shop.offer, "cf-eu10");

    for plan in document["services"][0]["plans"].as_array().unwrap() {
        insta::assert_json_snapshot!(plan["name"].as_str().unwrap(), plan);
    }
}

#[test]
fn the_service_says_what_can_be_done_with_it() {
    let shop = Shop::new();

    let mut document = services(&shop, &shop.offer, "cf-eu10");

    document["services"][0]["plans"] = json!([]);
    insta::assert_json_snapshot!("service", document);
}

#[test]
fn only_offered_plans_are_published_in_the_order_of_the_data() {
    let shop = Shop::new();
    let offer = Offer { plans: vec!["trial".into(), "aws".into()], ..Offer::default() };

    let document = services(&shop, &offer, "cf-eu10");

    let plans = document["services"][0]["plans"].as_array().unwrap();
    let names: Vec<&str> = plans.iter().map(|plan| plan["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["aws", "trial"]);
    assert!(shop.catalog.offered_plan(&offer, shop.plan("aws").id()).is_some());
    assert!(shop.catalog.offered_plan(&offer, shop.plan("gcp").id()).is_none());
}

#[test]
fn nothing_offered_means_no_service() {
    let shop = Shop::new();
    let offer = Offer { plans: vec![], ..Offer::default() };

    assert_eq!(services(&shop, &offer, "cf-eu10"), json!({"services": []}));
}

#[test]
fn plan_changes_are_announced_once_they_are_switched_on() {
    let shop = Shop::new();
    let plans = vec!["azure".to_owned(), "azure_lite".to_owned()];
    let offer = Offer { plans, ..Offer::default() };

    let off = services(&shop, &offer, "cf-eu10");
    let on = services(&shop, &Offer { plan_updateable: true, ..offer }, "cf-eu10");

    assert_eq!(off["services"][0]["plan_updateable"], json!(false));
    assert_eq!(off["services"][0]["plans"][1]["plan_updateable"], json!(null));
    assert_eq!(on["services"][0]["plan_updateable"], json!(true));
    let plans = on["services"][0]["plans"].as_array().unwrap();
    let announced: Vec<_> = plans.iter().map(|it| (&it["name"], &it["plan_updateable"])).collect();
    let expected = [(json!("azure"), json!(false)), (json!("azure_lite"), json!(true))];
    assert_eq!(announced, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    assert_eq!(off["services"][0]["allow_context_updates"], json!(true));
}

#[test]
fn bindable_plans_are_announced_with_their_bounds_once_bindings_are_switched_on() {
    let shop = Shop::new();
    let plans = vec!["aws".to_owned(), "azure".to_owned()];
    let offer = Offer { plans, bindings: Some(BindingOffer::default()), ..Offer::default() };

    let on = services(&shop, &offer, "cf-eu10");
    let off = services(&shop, &Offer { bindings: None, ..offer.clone() }, "cf-eu10");

    let plan = |catalog: &Value, name: &str| {
        let plans = catalog["services"][0]["plans"].as_array().unwrap();
        plans.iter().find(|plan| plan["name"] == name).unwrap().clone()
    };
    let aws = plan(&on, "aws");
    assert_eq!((&aws["bindable"], &aws["binding_rotatable"]), (&json!(true), &json!(true)));
    let schema = &aws["schemas"]["service_binding"]["create"]["parameters"];
    let seconds = &schema["properties"]["expiration_seconds"];
    assert_eq!((&seconds["minimum"], &seconds["maximum"]), (&json!(600), &json!(7200)));
    assert_eq!(plan(&on, "azure").get("bindable"), None);
    assert_eq!(plan(&off, "aws").get("bindable"), None);
    assert_eq!(on["services"][0]["bindings_retrievable"], json!(true));
    assert_eq!(off["services"][0].get("bindings_retrievable"), None);
    for catalog in [&on, &off] {
        assert_eq!(catalog["services"][0]["bindable"], json!(false), "plans say otherwise");
    }
}

#[test]
fn every_published_schema_is_valid_draft_4_and_names_it_and_is_small() {
    let shop = Shop::new();
    for (additional_parameters, closed) in [(true, false), (false, false), (true, true)] {
        let offer = Offer { additional_parameters, closed, ..shop.offer.clone() };
        for region in ["cf-eu10", "cf-eu20", "cf-eu11", "cf-ch20", "cf-eu30"] {
            let document = services(&shop, &offer, region);
            let plans = document["services"][0]["plans"].as_array().unwrap().clone();

            assert_eq!(plans.len(), PLANS.len());
            for plan in plans {
                for kind in ["create", "update"] {
                    let schema = &plan["schemas"]["service_instance"][kind]["parameters"];
                    assert!(jsonschema::draft4::meta::is_valid(schema), "{schema:#}");
                    assert_eq!(schema["$schema"], "http://json-schema.org/draft-04/schema#");
                    assert!(schema.to_string().len() < 64 * 1024);
                }
            }
        }
    }
}
