//! What operators ask about many operations and accounts, what the simulated systems keep, and a runtime that is changed and exported.

use crate::{STATE, Scene, checks};

#[test]
fn the_pool_success_and_steps_are_shown_and_so_is_what_a_system_keeps() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    checks::page_at(browser, &scene.base, "/console/pool", "pool-empty");
    assert!(browser.text("main").contains("Nothing ended in these days"));
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);

    // By the navigation; the account that the order has claimed is counted.
    scene.open("/");
    browser.follow("nav[aria-label=Main] a[href=\"/console/pool\"]");
    browser
        .wait("document.querySelector('#success').closest('section').textContent.includes('aws')");
    let told = browser.text("[aria-labelledby=accounts]");
    for part in ["Provider", "Free", "Claimed", "Dirty", "aws"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // The rate is known when there is a sample of an earlier hour.
    assert!(told.contains("not known yet") != told.contains("enough"), "{told}");
    let told = browser.text("[aria-labelledby=success]");
    assert!(told.contains("Provisioning") && told.contains("100 %"), "{told}");
    assert!(browser.text("[aria-labelledby=slow]").contains("Check_Runtime"));
    checks::page(browser, "pool");
    browser.follow("[aria-label=Days] a:last-of-type");
    assert!(browser.address().ends_with("/console/pool?days=90"));

    // Each system of the landscape has a page with what it keeps.
    scene.open("/console/landscape");
    browser.follow("#system-edp h2 a");
    let told = browser.text("[aria-labelledby=objects]");
    assert!(told.contains("local-subaccount"), "{told}");
    browser.run("document.querySelector('[aria-labelledby=objects] details').open = true");
    checks::page(browser, "landscape-system");
    scene.open("/console/landscape/systems/none");
    assert!(browser.text("main").contains("There is no simulated system none"));
}

#[test]
fn a_runtime_is_changed_by_the_form_and_all_are_exported() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    scene.open("/console/runtimes?plan=aws");
    let exported =
        browser.settle("fetch(document.querySelector('#export').href).then((it) => it.text())");
    let lines: Vec<&str> = exported.as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 2, "{exported}");
    assert!(lines[0].starts_with("name,instanceID,") && lines[1].contains(",aws,"), "{exported}");
    scene.open("/console/runtimes?plan=azure");
    assert_eq!(browser.run("return document.querySelector('#export')"), serde_json::Value::Null);

    // Only what differs is sent; what the broker refuses is told beside what was typed.
    scene.open("/console/runtimes");
    browser.follow("tbody a");
    browser.follow("#change");
    browser.follow("form.field-list button.first");
    assert!(browser.text(".said").contains("Nothing was changed"));
    checks::page(browser, "change");
    browser.run("document.querySelector('#autoScalerMax').value = 'many'");
    browser.follow("form.field-list button.first");
    assert!(browser.text(".said").contains("autoScalerMax"), "{}", browser.text(".said"));
    browser.run("document.querySelector('#autoScalerMax').value = '9'");
    browser.follow("form.field-list button.first");
    assert!(browser.text("h1").contains("Update"), "{}", browser.text("main"));
    browser.wait(&format!("{STATE} === 'succeeded'"));
    scene.open("/console/audit?action=update");
    assert!(browser.text("tbody").contains("accepted"));
}

#[test]
fn a_binding_is_ended_after_being_asked_and_operations_are_found_by_their_runtime() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    for name in ["one", "one-more", "other"] {
        scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", name, "--watch"]);
    }
    scene.kcp(&["bind", "one", "--id", "ci/night", "-o", "name", "--yes"]);

    // What is kept is kept, and what is ended is gone from the runtime.
    scene.open("/console/runtimes?q=one");
    browser.run(
        "[...document.querySelectorAll('tbody a')].find((it) => it.textContent === 'one').click()",
    );
    browser.wait("document.querySelector('h1')?.textContent === 'one'");
    browser.follow("[aria-labelledby=bindings] a.button");
    assert!(browser.text("h1").contains("End a binding of one?"), "{}", browser.text("main"));
    checks::page(browser, "unbind");
    browser.follow("div.acts a.button");
    assert!(browser.text("[aria-labelledby=bindings]").contains("ci/night"));
    browser.follow("[aria-labelledby=bindings] a.button");
    browser.follow("form.field-list button.first");
    assert!(browser.text("[aria-labelledby=bindings]").contains("None."));
    assert_eq!(scene.kcp(&["bindings", "one", "-o", "name"]), "");
    scene.open("/console/audit?action=unbind");
    assert!(browser.text("tbody").contains("accepted"));

    // A whole name goes before parts of names; several are offered; the address holds it all.
    let rows = "document.querySelectorAll('tbody tr').length";
    scene.open("/console/operations");
    browser.fill("#q", "one");
    browser.wait(&format!("location.search === '?q=one' && {rows} === 1"));
    scene.open("/console/operations?q=ONE");
    assert!(browser.text("main").contains("Several runtimes fit: choose one above."));
    checks::page(browser, "operations-search");
    browser.follow("[aria-label='Filter by runtime'] a:last-of-type");
    browser.wait(&format!("location.search.startsWith('?instance=') && {rows} === 1"));
    checks::page(browser, "operations-of-a-runtime");
    browser.follow("[aria-label='Filter by state'] a:last-of-type");
    assert!(browser.address().contains("&instance="), "{}", browser.address());
    browser.follow("[aria-label='Filter by runtime'] a");
    assert!(!browser.address().contains("instance="), "{}", browser.address());
    scene.open("/console/operations?q=nobody");
    assert!(browser.text("main").contains("No runtime fits what is searched for."));
}

#[test]
fn a_form_that_is_on_its_way_is_not_sent_twice_when_the_page_changes_below_it() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    scene.open("/console/landscape");

    // The page looks again while the answer is awaited; the form stays marked as sent.
    browser.run(
        "const form = document.querySelector('#system-avs form'); \
         form.addEventListener('submit', (event) => event.preventDefault()); \
         form.requestSubmit(); document.querySelector('#system-avs p').textContent = 'old'",
    );
    browser.wait("document.querySelector('#system-avs p').textContent !== 'old'");

    let sent = browser.run("return document.querySelector('#system-avs form').dataset.sent");
    assert_eq!(sent, "yes");
}
