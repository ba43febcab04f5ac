//! Forms: what was typed stays.

use crate::{Scene, checks};

#[test]
fn what_was_typed_stays_when_another_plan_is_chosen() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.open("/console/order?plan=aws");
    browser.fill("#name", "kept");
    browser.run("document.querySelector('#autoScalerMax').value = '7'; document.querySelector('details').open = true; document.querySelector('#user').value = 'jo@example.test'");

    browser.follow(".plans button[value=azure]");

    let value =
        |field: &str| browser.run(&format!("return document.querySelector('{field}').value"));
    assert_eq!(value("#name"), "kept");
    assert_eq!(value("#autoScalerMax"), "7");
    assert_eq!(value("#user"), "jo@example.test");
    assert_eq!(browser.text(".plans [aria-pressed=true] b"), "azure");
    checks::page(browser, "order-another-plan");
    browser.follow("form button.first");
    assert!(browser.text("h1").contains("Provisioning kept"), "{}", browser.text("main"));
    browser.follow("ol.path li:nth-of-type(2) a");
    assert!(browser.text(".sub").contains("azure"), "{}", browser.text(".sub"));
}
