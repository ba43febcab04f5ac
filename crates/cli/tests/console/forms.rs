//! Forms and buttons: what was typed stays, a runtime is suspended and resumed, what is left is found and settled, ids are copied.

use crate::{STATE, Scene, checks};

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

#[test]
fn a_runtime_is_suspended_and_resumed_after_being_asked_and_ids_are_copied() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    // A trial is for accounts that have nothing else.
    scene.kcp(&["provision", "--yes", "--plan", "trial", "--name", "sleeper", "--watch"]);
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "always", "--watch"]);
    let runtime = |name: &str| {
        scene.open(&format!("/console/runtimes?q={name}&state=all"));
        browser.follow("tbody a");
    };
    runtime("always");
    assert_eq!(browser.run("return document.querySelector('#suspend')"), serde_json::Value::Null);

    runtime("sleeper");
    browser.follow("#suspend");
    browser.fill("#reason", "nobody uses it");
    browser.fill("#name", "another");
    browser.follow("form button.first");
    assert!(browser.text(".said").contains("That is not its name. Nothing was done."));
    checks::page(browser, "suspend");
    browser.fill("#name", "sleeper");
    browser.follow("form button.first");
    assert!(browser.text("h1").contains("Deprovisioning"), "{}", browser.text("h1"));
    browser.wait(&format!("{STATE} === 'succeeded'"));
    runtime("sleeper");
    assert_eq!(browser.run(&format!("return {STATE}")), "suspended");
    checks::page(browser, "runtime-suspended");

    browser.follow("#resume");
    browser.fill("#reason", "it is used again");
    browser.fill("#name", "sleeper");
    browser.follow("form button.first");
    assert!(browser.text("h1").contains("Provisioning"), "{}", browser.text("h1"));
    browser.wait(&format!("{STATE} === 'succeeded'"));
    runtime("sleeper");
    assert_eq!(browser.run(&format!("return {STATE}")), "ready");
    let told = browser.text("[aria-labelledby=audit]");
    assert!(told.contains("nobody uses it") && told.contains("it is used again"), "{told}");

    // Without TLS a browser has no clipboard: then an id is copied by a selection, or shown whole.
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }); \
         document.execCommand = () => { window.copied = document.activeElement.value; return true; }; \
         window.labels = []; const button = document.querySelector('.copy'); \
         new MutationObserver(() => window.labels.push(button.textContent)).observe(button, { childList: true }); \
         button.click()",
    );
    browser.wait("window.labels.includes('copied')");
    let whole = browser.run("return document.querySelector('.copy').dataset.copy");
    assert_eq!(browser.run("return window.copied"), whole);
    browser.run("document.execCommand = () => false; document.querySelector('.copy').click()");
    browser.wait("window.labels.includes('select and copy')");
    assert_eq!(
        browser.run("return document.querySelector('.copy').previousElementSibling.textContent"),
        whole
    );
}

#[test]
fn a_suspension_that_failed_is_tried_again_or_taken_back_and_a_failed_order_is_neither() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.kcp(&["provision", "--yes", "--plan", "trial", "--name", "sleeper", "--watch"]);
    let runtime = |name: &str| {
        scene.open(&format!("/console/runtimes?q={name}&state=all"));
        browser.follow("tbody a");
    };
    let confirm = |reason: &str| {
        browser.fill("#reason", reason);
        if browser.run("return Boolean(document.querySelector('#name'))") == true {
            let name = browser.text("label[for=name] strong");
            browser.fill("#name", &name);
        }
        browser.follow("form button.first");
    };
    let has = |id: &str| browser.run(&format!("return Boolean(document.querySelector('#{id}'))"));

    // The suspension stands at a system that is down, and is abandoned.
    scene.switch("gardener");
    browser.wait("document.querySelector('#system-gardener .pill').textContent === 'down'");
    runtime("sleeper");
    browser.follow("#suspend");
    confirm("nobody uses it");
    browser.follow("#abandon");
    confirm("it does not go on");
    browser.wait(&format!("{STATE} === 'failed'"));

    // An order that failed has nothing to suspend or to bring back.
    let account =
        ["--global-account", "other", "--subaccount", "other", "--user", "jo@example.test"];
    scene.kcp(
        &[["provision", "--yes", "--plan", "trial", "--name", "broken"].as_slice(), &account]
            .concat(),
    );
    runtime("broken");
    browser.follow("[aria-labelledby=history] tbody a");
    browser.follow("#abandon");
    confirm("it does not go on");
    browser.wait(&format!("{STATE} === 'failed'"));
    runtime("broken");
    assert_eq!(browser.run(&format!("return {STATE}")), "failed");
    assert_eq!((has("suspend"), has("resume")), (false.into(), false.into()));

    scene.switch("gardener");
    runtime("sleeper");
    assert_eq!(browser.run(&format!("return {STATE}")), "failed");
    assert_eq!((has("suspend"), has("resume")), (true.into(), true.into()));
    checks::page(browser, "runtime-suspension-failed");

    // Tried again it succeeds; and what is suspended is resumed.
    browser.follow("#suspend");
    confirm("once more");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    runtime("sleeper");
    assert_eq!(browser.run(&format!("return {STATE}")), "suspended");
    assert_eq!((has("suspend"), has("resume")), (false.into(), true.into()));

    // A return that failed is tried again, too.
    scene.switch("gardener");
    browser.wait("document.querySelector('#system-gardener .pill').textContent === 'down'");
    runtime("sleeper");
    browser.follow("#resume");
    confirm("it is used again");
    browser.follow("#abandon");
    confirm("it does not go on");
    browser.wait(&format!("{STATE} === 'failed'"));
    scene.switch("gardener");
    runtime("sleeper");
    assert_eq!(has("resume"), true);
    browser.follow("#resume");
    confirm("once more");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    runtime("sleeper");
    assert_eq!(browser.run(&format!("return {STATE}")), "ready");
}

#[test]
fn leftovers_are_found_from_the_overview_and_what_may_exist_is_settled() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.open("/");
    assert_eq!(browser.run("return document.querySelector('#left')"), serde_json::Value::Null);
    let lost = ["avs", "lost-answer", "--calls", "1", "--method", "POST"];
    scene.kcp(&[["landscape", "trouble", "make"].as_slice(), &lost].concat());
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "dev", "--watch"]);

    scene.open("/");
    assert!(browser.text("#left").contains("1 object may exist outside"));
    checks::page(browser, "overview-left");
    browser.follow("#left a");
    let told = browser.text("tbody");
    assert!(told.contains("K8S-AWS-Kyma-int-") && told.contains("in avs"), "{told}");
    checks::page(browser, "may-exist");
    browser.follow("tbody a.button");
    assert!(browser.text("main").contains("Look for it in avs first"));
    checks::page(browser, "settle");
    browser.follow("form button.first");
    assert!(browser.text("main").contains("Nothing is in doubt"));
    assert_eq!(scene.kcp(&["leftovers"]), "nothing is left of what was removed\n");
    scene.open("/console/audit?action=settle");
    assert!(browser.text("tbody").contains("accepted"));
    checks::page_at(browser, &scene.base, "/console/may-exist", "may-exist-empty");

    // A removal that goes on without EDP leaves something.
    scene.switch("edp");
    browser.wait("document.querySelector('#system-edp .pill').textContent === 'down'");
    let begun = scene.kcp(&["deprovision", "dev", "--yes"]);
    assert!(begun.contains("Operation"), "{begun}");
    scene.open("/console/operations");
    browser.follow("tbody a");
    browser.wait("document.querySelector('#skip')");
    browser.wait(&format!("{STATE} === 'retrying'"));
    browser.follow("#skip");
    browser.fill("#reason", "EDP is gone");
    browser.fill("#name", "dev");
    browser.follow("form button.first");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    scene.open("/");
    assert!(browser.text("#left").contains("1 runtime removed with leftovers"));
    browser.follow("#left a");
    assert!(browser.text("tbody").contains("removed, with leftovers"));
    assert_eq!(browser.text(".chips a[aria-current]"), "removed, with leftovers");
    checks::page(browser, "runtimes-left");
}
