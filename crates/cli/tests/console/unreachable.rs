//! An open page while the server cannot be reached, and while rows come above the one that is read.

use crate::{Scene, checks, support::start};

/// Whether the page says that the server cannot be reached.
const LOST: &str =
    "document.querySelector('.line').textContent.startsWith('cannot be reached since ')";
const LIVE: &str = "document.querySelector('.line').textContent === 'live'";

#[test]
fn the_last_good_page_stays_while_the_server_cannot_be_reached() {
    let mut scene = Scene::new("max");
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.open("/console/operations");
    browser.wait(LIVE);

    // The server answers, and not with the page.
    browser.run(
        "window.sameDocument = true; window.real = window.fetch; window.fetch = () => \
         Promise.resolve(new Response('<main id=\"content\">no page</main>', { status: 503 }))",
    );
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "two", "--watch"]);
    browser.wait(LOST);
    let told = browser.text("main");
    assert!(told.contains("one") && !told.contains("no page"), "{told}");
    checks::page(browser, "unreachable");
    browser.run("window.fetch = window.real");
    browser.wait("document.querySelector('main').textContent.includes('two')");
    browser.wait(LIVE);

    // Nothing answers at all, until it is started again.
    scene.running.stop();
    browser.wait(LOST);
    assert!(browser.text("main").contains("two"));
    scene.running = start(&["up", "--speed", "max"], scene.folder.path(), scene.port);
    browser.wait(LIVE);
    assert_eq!(browser.run("return window.sameDocument"), true, "the page was loaded again");
}

#[test]
fn a_row_keeps_the_focus_and_the_selection_when_another_comes_above_it() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    scene.open("/console/operations");
    browser.wait(LIVE);
    browser.run(
        "window.link = [...document.querySelectorAll('tbody a')].find((it) => it.textContent === 'one'); \
         window.link.focus(); getSelection().selectAllChildren(window.link)",
    );

    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "two", "--watch"]);
    browser.wait("document.querySelector('main').textContent.includes('two')");

    assert_eq!(browser.run("return document.activeElement === window.link"), true);
    assert_eq!(browser.run("return getSelection().toString()"), "one");
}
