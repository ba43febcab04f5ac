//! The console of `kcp broker`, which people sign in to: the way in, what is shown without a session, and the way out.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    checks,
    support::{KCP, Running, free_ports, start},
    webdriver::Browser,
};

/// What the people of this test may do: they see no operations.
const SCOPES: &str = "openid runtimes:read broker:write tenants:any";

/// A broker with a console, and the landscape of `kcp up`, whose issuer people sign in at.
struct Scene {
    browser: Browser,
    base: String,
    up: Running,
    _broker: Running,
    connection: Value,
    _folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let up = start(&["up", "--speed", "max"], folder.path(), free_ports());
        let connection = std::fs::read(folder.path().join("connection.json")).unwrap();
        let connection = serde_json::from_slice(&connection).unwrap();
        let address = format!("127.0.0.1:{}", free_ports());
        let base = format!("http://{address}");
        let mut broker = Command::new(KCP)
            .args(["broker", "--config"])
            .arg(folder.path().join("broker.toml"))
            .env("KCP_BROKER_LISTEN", address)
            .env(
                "KCP_BROKER_DATABASE_URL",
                format!("sqlite://{}", folder.path().join("other.db").display()),
            )
            .env("KCP_BROKER_LOG", "info")
            .env("KCP_BROKER_CONSOLE_URL", &base)
            .env("KCP_BROKER_CONSOLE_CLIENT_ID", "kcp")
            .env("KCP_BROKER_CONSOLE_SCOPES", SCOPES)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(broker.stderr.take().unwrap()).lines();
        let broker = Running(broker);
        assert!(
            lines.any(|line| line.unwrap().contains("the broker answers")),
            "it does not serve"
        );
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { browser: Browser::start(), base, up, _broker: broker, connection, _folder: folder }
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.base));
    }

    /// Fills in the form of the issuer, which is shown.
    fn sign_in(&self) {
        let text = |name: &str| self.connection[name].as_str().unwrap();
        self.browser.fill("[name=username]", text("user"));
        self.browser.fill("[name=password]", text("password"));
        self.browser.follow("button[value=allow]");
    }

    fn is_at_the_issuer(&self) -> bool {
        self.browser.address().starts_with(self.connection["landscape"].as_str().unwrap())
    }
}

#[test]
fn people_sign_in_and_out_and_every_page_about_their_session_can_be_read_by_everybody() {
    let mut scene = Scene::new();
    let browser = &scene.browser;
    browser.look(1280, false);

    // Refused at the issuer, begun elsewhere, and then done: the page that was wanted is there.
    scene.open("/console/order?plan=aws");
    assert!(scene.is_at_the_issuer(), "{}", browser.address());
    browser.follow("button[value=deny]");
    assert!(browser.text("main").contains("refused the sign-in"), "{}", browser.text("main"));
    checks::page(browser, "sign-in-refused");
    checks::page_at(browser, &scene.base, "/console/signed-in?code=a&state=b", "sign-in-late");
    browser.follow("main a.button.first");
    assert!(scene.is_at_the_issuer(), "{}", browser.address());
    scene.open("/console/order?plan=aws");
    scene.sign_in();
    assert!(browser.address().ends_with("/console/order?plan=aws"), "{}", browser.address());
    assert!(browser.text(".who").contains("Sign out"));
    checks::page(browser, "order-signed-in");

    // What these people may not see is not offered, and has a page that says what is missing.
    checks::page_at(browser, &scene.base, "/", "overview-without-operations");
    assert!(!browser.text("nav[aria-label=Main]").contains("Operations"));
    checks::page_at(browser, &scene.base, "/console/operations", "forbidden");
    assert!(browser.text("main").contains("operations:read"));
    scene.open("/console");
    assert_eq!(browser.text("h1"), "Overview");

    // The session ends while something is typed: it is kept.
    scene.open("/console/order?plan=aws");
    browser.run(
        "for (const it of document.querySelectorAll('form input[required]')) it.value = 'kept'",
    );
    browser.forget_cookies();
    browser.follow("form button.first");
    assert!(browser.text("main").contains("this page keeps what you typed"));
    assert_eq!(browser.run("return document.querySelector('input[name=name]').value"), "kept");
    checks::page(browser, "session-over");

    // The way out, and an issuer that is away.
    scene.open("/console/runtimes");
    scene.sign_in();
    browser.follow(".who button");
    assert_eq!(browser.text("h1"), "You are signed out");
    checks::page(browser, "signed-out");
    browser.follow("main a.button.first");
    let address = browser.address();
    let state = address.split(['?', '&']).find(|field| field.starts_with("state=")).unwrap();
    scene.up.stop();
    let back = format!("/console/signed-in?code=a&{state}");
    checks::page_at(browser, &scene.base, &back, "sign-in-unavailable");
    assert!(browser.text("main").contains("The issuer does not answer"));
}
