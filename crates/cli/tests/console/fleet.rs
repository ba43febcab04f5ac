//! What operators do about many runtimes, and about operations that do not go on: orchestrations, jobs, the audit, retry, skip, abandon.

use crate::{ENTER, STATE, Scene, checks, webdriver::Browser};

/// The value of a field, whatever it was.
fn set(browser: &Browser, selector: &str, value: &str) {
    browser.run(&format!("document.querySelector('{selector}').value = '{value}'"));
}

#[test]
fn an_orchestration_is_previewed_created_paused_and_resumed() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    browser.look(1280, false);
    for name in ["one", "two"] {
        scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", name, "--watch"]);
    }
    // The first runtime waits in its upgrade until AvS is back.
    scene.switch("avs");
    scene.open("/console/orchestrations");
    assert!(browser.text("main").contains("No orchestrations yet"));
    checks::page(browser, "orchestrations-empty");

    // A pattern that is none is refused by its name; a preview creates nothing.
    browser.follow("main a.first");
    browser.fill("#include-0-region", "[");
    browser.follow("#preview");
    assert!(browser.text(".said").contains("targets.include[0].region is no pattern"));
    set(browser, "#include-0-region", "^eu-");
    browser.follow("button[value=more-exclude]");
    browser.fill("#exclude-0-shoot", "none-such");
    browser.fill("#canary", "1");
    browser.follow("#preview");
    assert!(browser.text("#previewed").contains("2 runtimes"), "{}", browser.text("main"));
    let buttons = "return document.querySelectorAll('main button.first').length";
    assert_eq!(browser.run(buttons), 1, "one button creates what was previewed");
    assert!(browser.text("#previewed + span").contains("1 first, as canaries"));
    assert_eq!(browser.run("return document.querySelectorAll('tbody .pill.busy').length"), 0);
    checks::page(browser, "orchestration-preview");
    let first = browser.second_window();
    scene.open("/console/orchestrations");
    assert!(browser.text("main").contains("No orchestrations yet"));
    browser.close_window(&first);

    // The canary goes first, and nothing follows it while the orchestration is paused. Nothing lies over the button.
    browser.run("window.scrollTo(0, 0)");
    browser.follow("#create");
    browser.wait(&format!("{STATE} === 'in progress'"));
    browser.wait("document.querySelector('#slowest').closest('section').querySelector('tbody a')");
    browser.follow("#pause");
    browser.wait(&format!("{STATE} === 'paused'"));
    set(browser, "#workers", "3");
    browser.follow("#change-workers");
    assert!(browser.text("section.now dl").contains('3'));
    checks::page(browser, "orchestration-paused");
    let page = browser.address();
    scene.switch("avs");
    browser.open(&page);
    browser.wait("document.querySelector('#progress').textContent === '1 of 2 runtimes'");
    assert_eq!(browser.run(&format!("return {STATE}")), "paused");

    // It advances while it is looked at: nothing is loaded again but what changed.
    browser.follow("#resume");
    browser.run("window.sameDocument = true");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    browser.wait("document.querySelector('#progress').textContent === '2 of 2 runtimes'");
    assert_eq!(browser.run("return window.sameDocument"), true, "the page was loaded again");
    checks::page(browser, "orchestration-succeeded");
    browser.follow("#operations ~ * a, [aria-labelledby=operations] tbody a");
    assert!(browser.text("h1").contains("Upgrade of Kyma"));
    checks::page_at(browser, &scene.base, "/console/orchestrations", "orchestrations");

    scene.open("/console/audit");
    let told = browser.text("main");
    for action in ["upgradeKyma", "pauseOrchestration", "changeWorkers", "resumeOrchestration"] {
        assert!(told.contains(action), "{action}: {told}");
    }
    checks::page(browser, "audit-orchestration");
}

#[test]
fn an_orchestration_is_previewed_paused_and_resumed_with_the_keyboard_alone() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    for name in ["one", "two"] {
        scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", name, "--watch"]);
    }
    scene.switch_by_keys("avs");
    browser.tab_to("nav a[href=\"/console/orchestrations\"]");
    browser.press_and_follow(ENTER);
    browser.tab_to("main a.first");
    browser.press_and_follow(ENTER);

    // The Enter key in a field asks for the preview, and creates nothing.
    browser.tab_to("#include-0-region");
    browser.press(&["e", "u", "-"]);
    browser.tab_to("#canary");
    browser.press(&["1"]);
    browser.press_and_follow(ENTER);
    assert!(browser.text("#previewed").contains("2 runtimes"), "{}", browser.text("main"));
    browser.tab_to("button[value=create]");
    browser.press_and_follow(ENTER);
    browser.wait(&format!("{STATE} === 'in progress'"));

    browser.tab_to("#pause");
    browser.press_and_follow(ENTER);
    browser.wait(&format!("{STATE} === 'paused'"));
    let page = browser.address();
    scene.switch_by_keys("avs");
    browser.open(&page);
    browser.wait("document.querySelector('#progress').textContent === '1 of 2 runtimes'");
    browser.tab_to("#resume");
    browser.press_and_follow(ENTER);

    browser.wait(&format!("{STATE} === 'succeeded'"));
}

#[test]
fn the_list_of_orchestrations_shows_one_that_is_created_while_it_is_looked_at() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    scene.open("/console/orchestrations");
    assert!(browser.text("main").contains("No orchestrations yet"));
    browser.wait("document.querySelector('.line').textContent === 'live'");
    browser.run("window.sameDocument = true");

    for number in 1..=2 {
        scene.kcp(&["upgrade", "kyma", "--target", "all", "--yes", "--watch"]);
        browser.wait(&format!("document.querySelectorAll('tbody tr').length === {number}"));
    }

    assert_eq!(browser.run("return window.sameDocument"), true, "the page was loaded again");
}

#[test]
fn what_failed_in_an_orchestration_is_told_by_reason_and_tried_again() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    scene.switch("avs");
    scene.open("/console/orchestrations/new?include-0-planName=aws");
    browser.follow("#create");
    let page = browser.address();
    browser.wait("document.querySelector('[aria-labelledby=slowest] tbody a')");
    browser.follow("[aria-labelledby=slowest] tbody a");
    browser.follow("#abandon");
    browser.fill("#reason", "AvS is gone");
    browser.fill("#name", "one");
    browser.follow("form button.first");

    browser.open(&page);
    browser.wait(&format!("{STATE} === 'failed'"));
    let told = browser.text("[aria-labelledby=failures]");
    assert!(told.contains("abandoned") && told.contains("1 runtime"), "{told}");
    checks::page(browser, "orchestration-failed");

    scene.switch("avs");
    browser.open(&page);
    browser.follow("#retry");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    scene.open("/console/audit?action=retryOrchestration");
    assert!(browser.text("tbody").contains("accepted"));
}

#[test]
fn an_orchestration_is_canceled_after_being_asked() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    let tomorrow = base::Clock::running().now() + std::time::Duration::from_hours(24);
    let tomorrow = tomorrow.strftime("%Y-%m-%dT%H:%M");
    scene
        .open(&format!("/console/orchestrations/new?include-0-planName=aws&not-before={tomorrow}"));
    checks::page(browser, "orchestration-form");
    browser.follow("#create");
    assert!(browser.text("section.now").contains("Begins"), "{}", browser.text("main"));

    browser.follow("a.danger");
    checks::page(browser, "orchestration-cancel");
    browser.follow("button.danger");

    browser.wait(&format!("{STATE} === 'canceled'"));
}

#[test]
fn an_operation_is_abandoned_and_retried_and_a_step_of_a_removal_is_skipped() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.switch("avs");
    scene.open("/console/order?plan=aws");
    browser.fill("#name", "stuck");
    browser.follow("form button.first");
    browser.wait(&format!("{STATE} === 'retrying'"));

    // Another name does nothing; the right one ends it.
    browser.follow("#abandon");
    browser.fill("#reason", "AvS does not come back");
    browser.fill("#name", "another");
    browser.follow("form button.first");
    assert!(browser.text(".said").contains("That is not its name"));
    checks::page(browser, "abandon");
    browser.fill("#name", "stuck");
    browser.follow("form button.first");
    browser.wait(&format!("{STATE} === 'failed'"));
    let told = browser.text("section.now");
    assert!(told.contains("abandoned by developer: AvS does not come back"), "{told}");
    checks::page(browser, "operation-failed");
    let failed = browser.address();

    // Once AvS is back, a retry goes on with it.
    scene.switch("avs");
    browser.open(&failed);
    browser.follow("#retry");
    checks::page(browser, "retry");
    browser.fill("#reason", "AvS is back");
    browser.fill("#name", "stuck");
    browser.follow("form button.first");
    assert_ne!(browser.address(), failed);
    browser.wait(&format!("{STATE} === 'succeeded'"));

    // A removal goes on without AvS, and tells what is left.
    scene.switch("avs");
    scene.open("/console/runtimes");
    browser.follow("tbody a");
    let runtime = browser.address();
    browser.follow("a.danger");
    browser.fill("#name", "stuck");
    browser.follow("button.danger");
    browser.wait("document.querySelector('#skip')");
    browser.wait(&format!("{STATE} === 'retrying'"));
    browser.follow("#skip");
    assert!(browser.text("#step").contains("De-provision_AVS_Evaluations"));
    checks::page(browser, "skip");
    browser.fill("#reason", "AvS is gone");
    browser.fill("#name", "stuck");
    browser.follow("form button.first");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    browser.open(&runtime);
    assert!(browser.text(".said").contains("something is left"), "{}", browser.text("main"));
    checks::page(browser, "runtime-leftovers");
    let told = browser.text("[aria-labelledby=audit]");
    for (action, reason) in
        [("abandon", "AvS does not come back"), ("retry", "AvS is back"), ("skip", "AvS is gone")]
    {
        assert!(told.contains(action) && told.contains(reason), "{action}: {told}");
    }
}

#[test]
fn a_job_is_run_by_button_and_the_audit_can_be_verified() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    checks::page_at(browser, &scene.base, "/console/jobs", "jobs");

    browser.follow("#job-drift form:first-of-type button");
    browser.wait(
        "document.querySelector('[aria-labelledby=dry-run] .pill').textContent === 'succeeded'",
    );
    browser.follow(".title form:last-of-type button");
    browser
        .wait("document.querySelector('[aria-labelledby=run] .pill').textContent === 'succeeded'");
    assert!(browser.text("[aria-labelledby=run]").contains("developer"));
    checks::page(browser, "job");
    browser.follow("[aria-labelledby=run] header a");
    assert!(browser.text("h1").contains("drift"), "{}", browser.text("h1"));

    // Filters are in the address.
    scene.open("/console/audit?action=runJob");
    let told = browser.text("tbody");
    assert!(told.contains("runJob") && !told.contains("provision"), "{told}");
    scene.open("/console/audit?subject=nobody");
    assert!(browser.text("main").contains("Nothing fits"));
    checks::page(browser, "audit-empty");
    scene.open("/console/audit");
    checks::page(browser, "audit");
    browser.follow("#verify");
    assert!(browser.text("#verified").contains("The chain is whole"));
}
