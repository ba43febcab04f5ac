//! The console in a real browser: a newcomer's way from an empty overview to a runtime and back, with trouble in between.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod checks;
mod fleet;
mod forms;
mod operators;
mod session;
#[path = "../support/mod.rs"]
mod support;
mod unreachable;
mod webdriver;

use support::{free_ports, start};
use webdriver::Browser;

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// A running control plane with a browser beside it.
struct Scene {
    browser: Browser,
    base: String,
    running: support::Running,
    port: u16,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(speed: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_ports();
        let running = start(&["up", "--speed", speed], folder.path(), port);
        let base = format!("http://127.0.0.1:{port}");
        Self { browser: Browser::start(), base, running, port, folder }
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.base));
    }

    /// The output of a command.
    fn kcp(&self, words: &[&str]) -> String {
        let mut command = std::process::Command::new(support::KCP);
        let output = command.arg("--data").arg(self.folder.path()).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Switches a simulated system to down, or back, with the keyboard alone.
    fn switch_by_keys(&self, system: &str) {
        self.open("/console/landscape");
        self.browser.tab_to(&format!("#system-{system} button"));
        self.browser.press_and_follow(ENTER);
    }

    /// What kubectl prints with this kubeconfig.
    fn kubectl(&self, kubeconfig: &str, words: &[&str]) -> String {
        let file = self.folder.path().join("kubeconfig.yaml");
        std::fs::write(&file, kubeconfig).unwrap();
        let mut command = std::process::Command::new("kubectl");
        let output = command.arg("--kubeconfig").arg(&file).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Switches a simulated system to down, or back.
    fn switch(&self, system: &str) {
        self.open("/console/landscape");
        self.browser.follow(&format!("#system-{system} button"));
    }
}

/// The file that the form on a runtime's page answers with.
const TOKEN_FILE: &str = "(() => { const form = document.querySelector('#token').form; \
    return fetch(form.action, { method: 'post', body: new URLSearchParams(new FormData(form)) }).then((it) => it.text()); })()";

/// The state of the operation on the page.
const STATE: &str = "document.querySelector('.title .pill').textContent";

#[test]
fn a_runtime_is_ordered_watched_through_trouble_opened_and_deleted() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.open("/");
    assert!(browser.text("main").contains("Nothing has been ordered yet"));
    checks::page(browser, "overview-empty");

    scene.switch("avs");
    browser.wait("document.querySelector('#system-avs .pill').textContent === 'down'");

    // Ordered by the form, with what it offers.
    scene.open("/console/order?plan=aws");
    checks::page(browser, "order");
    browser.fill("#name", "demo");
    assert!(
        browser.run("return document.querySelector('#region').options.length").as_u64().unwrap()
            > 1
    );
    browser.follow("form button.first");
    assert!(browser.address().contains("/console/operations/"), "{}", browser.text("main"));
    assert!(browser.text("h1").contains("Provisioning demo"));

    // It advances while it is looked at: nothing is loaded again but what changed.
    browser.run("window.sameDocument = true");

    // The step that needs AvS waits, and says why and until when.
    browser.wait(
        "document.querySelector('[data-step=AVS_Create_Internal_Eval_Step][data-mark=retrying]')",
    );
    let told = browser.text("section.now");
    for part in ["AVS_Create_Internal_Eval_Step", "avs", "Looks again", "Limit"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(browser.run(&format!("return {STATE}")), "retrying");
    checks::page(browser, "operation-retrying");

    let first = browser.second_window();
    checks::page_at(browser, &scene.base, "/", "overview");
    scene.switch("avs");
    browser.wait("document.querySelector('#system-avs .pill').textContent === 'up'");
    checks::page(browser, "landscape");

    browser.close_window(&first);
    browser.wait(&format!("{STATE} === 'succeeded'"));
    assert_eq!(browser.run("return window.sameDocument"), true, "the page was loaded again");
    checks::page(browser, "operation-succeeded");

    // Its runtime, found by name, and its kubeconfig.
    scene.open("/console/runtimes");
    browser.fill("#q", "dem");
    browser.wait("location.search === '?q=dem' && document.querySelector('.sub').textContent.includes('1 found')");
    // A search is not repeated by itself.
    let live = "return document.querySelector('main').dataset.live || 'no'";
    assert_eq!(browser.run(live), "no");
    browser.wait("!document.documentElement.dataset.stream");
    checks::page(browser, "runtimes");
    browser.follow("tbody a");
    assert_eq!(browser.text("h1"), "demo");
    let shoot = browser.text("[aria-labelledby=facts] dd");
    checks::page(browser, "runtime");
    let kubeconfig =
        browser.settle("fetch(document.querySelector('#kubeconfig').href).then((it) => it.text())");
    assert!(kubeconfig.as_str().unwrap().contains("oidc-login"), "{kubeconfig}");
    let kubeconfig = browser.settle(TOKEN_FILE);
    let found = scene.kubectl(kubeconfig.as_str().unwrap(), &["get", "namespaces", "-o", "name"]);
    assert!(found.contains("namespace/kyma-system"), "{found}");

    // Deleted, after being asked.
    browser.follow("a.danger");
    browser.fill("#name", "another");
    browser.follow("button.danger");
    assert!(browser.text("main").contains("Nothing was deleted"));
    checks::page(browser, "delete");
    let instance = browser.address();
    let instance = instance.trim_end_matches("/delete").rsplit('/').next().unwrap().to_owned();
    browser.fill("#name", "demo");
    browser.follow("button.danger");
    browser.wait(&format!("{STATE} === 'succeeded'"));
    checks::page(browser, "operation-deprovisioned");
    let told = scene.kcp(&["events", &instance]);
    for action in ["provision", "kubeconfig", "deprovision"] {
        let entry = format!("audit: {action} accepted, by developer (this machine)");
        assert!(told.contains(&entry), "{told}");
    }
    scene.open("/console/runtimes");
    assert!(browser.text("main").contains("No runtimes yet"));
    checks::page(browser, "runtimes-empty");
    checks::page_at(browser, &scene.base, "/console/runtimes/none", "missing");
    checks::page_at(browser, &scene.base, "/console/nothing", "missing-page");
    checks::page_at(browser, &scene.base, "/console/runtimes/%ff", "undecodable");
    scene.open("/console/");
    assert_eq!(browser.text("h1"), "Overview");
    checks::page_at(browser, &scene.base, "/console/runtimes?page=x", "bad");
    checks::page_at(browser, &scene.base, "/", "overview-later");
    checks::page_at(browser, &scene.base, "/console/operations", "operations");
    // What is gone is called by its Shoot: the customer's name is forgotten with it.
    let called = browser.run("return document.querySelector('tbody b a').textContent");
    assert_eq!(called, shoot);
}

#[test]
fn everything_can_be_done_with_the_keyboard_alone() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    scene.open("/console/landscape");
    browser.press(&[TAB]);
    assert!(browser.focused(".skip"), "the first stop is the link that skips the navigation");
    browser.press(&[ENTER]);
    browser.wait("location.hash === '#content'");
    browser.tab_to("#system-avs button");
    browser.press_and_follow(ENTER);
    browser.wait("document.querySelector('#system-avs .pill').textContent === 'down'");

    // Ordered from the overview; its step waits for AvS.
    browser.tab_to("nav a[href=\"/\"]");
    browser.press_and_follow(ENTER);
    browser.tab_to("main a[href=\"/console/order\"]");
    browser.press_and_follow(ENTER);
    browser.tab_to("#name");
    browser.press(&["k", "e", "y", "s"]);
    browser.press_and_follow(ENTER);
    browser.wait("location.pathname.startsWith('/console/operations/')");
    browser.wait(&format!("{STATE} === 'retrying'"));

    browser.tab_to("nav a[href=\"/console/landscape\"]");
    browser.press_and_follow(ENTER);
    browser.tab_to("#system-avs button");
    browser.press_and_follow(ENTER);
    browser.wait("document.querySelector('#system-avs .pill').textContent === 'up'");

    // Found by its name, and removed.
    browser.press(&["/"]);
    browser.wait("location.pathname === '/console/runtimes' && document.querySelector('#q')");
    browser.press(&["/"]);
    browser.press(&["k", "e", "y"]);
    browser.wait("document.querySelector('.sub').textContent.includes('1 found')");
    browser.tab_to("tbody a");
    browser.press_and_follow(ENTER);
    browser.wait(&format!("{STATE} === 'ready'"));
    browser.run(
        "document.addEventListener('submit', (event) => { event.preventDefault(); \
         window.asked = fetch(event.target.action, { method: 'post', body: new URLSearchParams(new FormData(event.target)) }).then((it) => it.text()); })",
    );
    browser.tab_to("#token");
    browser.press(&[ENTER]);
    browser.wait("window.asked");
    let kubeconfig = browser.settle("window.asked");
    assert!(kubeconfig.as_str().unwrap().contains("token:"), "{kubeconfig}");
    browser.tab_to("a.danger");
    browser.press_and_follow(ENTER);
    browser.tab_to("#name");
    browser.press(&["k", "e", "y", "s"]);
    browser.press_and_follow(ENTER);
    browser.wait(&format!("{STATE} === 'succeeded'"));
}

#[test]
fn an_open_timeline_asks_for_nothing_while_nothing_happens_to_its_operation() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    scene.open("/console/operations");
    browser.follow("tbody a");
    assert!(browser.text("h1").contains("Provisioning one"));

    // It looks once when its stream is open, and not when something happens to another operation.
    let looks = "performance.getEntriesByType('resource').filter((it) => it.initiatorType === 'fetch').length";
    browser.wait(&format!("{looks} === 1"));
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "two", "--watch"]);

    assert_eq!(browser.run(&format!("return {looks}")), 1);
    assert_eq!(browser.text(".line"), "live");
}

#[test]
fn an_operation_is_canceled_after_being_asked() {
    let scene = Scene::new("8");
    let browser = &scene.browser;
    scene.switch("avs");
    scene.open("/console/order?plan=aws");
    browser.fill("#name", "unwanted");
    browser.follow("form button.first");

    browser.follow("a.danger");
    assert!(browser.text("main").contains("ends at its next step boundary"));
    checks::page(browser, "cancel");
    browser.fill("#reason", "ordered twice");
    browser.follow("button.danger");

    browser.wait(&format!("{STATE} === 'canceled'"));
    assert!(browser.text("section.now").contains("called off by developer: ordered twice"));
}

#[test]
fn a_page_that_is_not_looked_at_has_no_stream() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    scene.open("/");
    let shown = |hidden: bool| {
        browser.run(&format!(
            "Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }}); \
             document.dispatchEvent(new Event('visibilitychange'))"
        ));
    };
    browser.wait("document.querySelector('.line').textContent === 'live'");

    shown(true);
    browser.wait("!document.documentElement.dataset.stream");
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "quiet", "--watch"]);
    assert!(!browser.text("main").contains("quiet"), "nothing is loaded meanwhile");

    shown(false);
    browser.wait("document.documentElement.dataset.stream === 'open'");
    browser.wait("document.querySelector('main').textContent.includes('quiet')");
}
