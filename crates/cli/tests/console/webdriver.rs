//! A browser as a process that a test owns: headless Chromium, spoken to over `WebDriver`.
//!
//! What a reader would get wrong: nothing here sleeps. Waiting for a condition is done in the browser, by a script that ends when
//! the condition holds; a page that is loaded meanwhile is waited for by `WebDriver` itself.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long one look for a condition takes at most, in milliseconds, and how often it is looked.
const LOOK: u64 = 3_000;
const LOOKS: usize = 40;
/// The key under which `WebDriver` names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub(crate) struct Browser {
    driver: Child,
    session: String,
    http: Client,
    runtime: Runtime,
    /// Deleted with the browser.
    profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser; the driver would leave it behind.
        let _ = self.runtime.block_on(async { self.http.delete(&self.session).send().await });
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The program, or what to install.
fn found(names: &[&str]) -> String {
    let folders = std::env::var("PATH").unwrap_or_default();
    let mut all = folders
        .split(':')
        .flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
    all.find(|path| Path::new(path).exists()).unwrap_or_else(|| {
        panic!("{names:?} is needed: install chromium and chromium-driver, or run scripts/test")
    })
}

impl Browser {
    /// Starts one with a fresh profile.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new(found(&["chromedriver"]))
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port: String = lines
            .find_map(|line| {
                let line = line.unwrap();
                let (_, port) = line.split_once("successfully on port ")?;
                Some(port.trim_end_matches('.').to_owned())
            })
            .expect("chromedriver starts");
        std::thread::spawn(move || lines.for_each(drop));
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let http = Client::builder().no_proxy().timeout(PATIENCE * 2).build().unwrap();
        let mut browser = Self {
            driver,
            session: format!("http://127.0.0.1:{port}/session"),
            http,
            runtime,
            profile,
        };
        let folder = browser.profile.path().display();
        let args = json!([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            format!("--user-data-dir={folder}"),
        ]);
        let options = json!({"binary": found(&["chromium", "chromium-browser", "google-chrome"]), "args": args});
        let wanted =
            json!({"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}});
        let made = browser.call(&Method::POST, "", &json!({"capabilities": wanted}));
        browser.session = format!("{}/{}", browser.session, made["sessionId"].as_str().unwrap());
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
        browser.call(
            &Method::POST,
            "/timeouts",
            &json!({"script": 10 * LOOK, "pageLoad": patience}),
        );
        browser
    }

    fn call(&self, method: &Method, path: &str, body: &Value) -> Value {
        let value = self.answer(method, path, body);
        assert!(value.get("error").is_none(), "{path} {body}: {value:#}");
        value
    }

    /// The answer, which may be an error.
    fn answer(&self, method: &Method, path: &str, body: &Value) -> Value {
        let address = format!("{}{path}", self.session);
        let request = self.http.request(method.clone(), &address);
        let request = if *method == Method::POST { request.json(body) } else { request };
        let mut answer: Value =
            self.runtime.block_on(async { request.send().await?.json().await }).unwrap();
        answer["value"].take()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call(&Method::POST, path, body)
    }

    pub(crate) fn open(&self, address: &str) {
        self.post("/url", &json!({"url": address}));
    }

    /// Deletes every cookie, as if they had never been there.
    pub(crate) fn forget_cookies(&self) {
        self.call(&Method::DELETE, "/cookie", &Value::Null);
    }

    pub(crate) fn address(&self) -> String {
        self.call(&Method::GET, "/url", &Value::Null).as_str().unwrap().to_owned()
    }

    /// The result of a script in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The value of a promise in the page.
    pub(crate) fn settle(&self, expression: &str) -> Value {
        let script =
            format!("const done = arguments[0]; Promise.resolve({expression}).then(done);");
        self.post("/execute/async", &json!({"script": script, "args": []}))
    }

    /// Waits in the page until an expression holds. A page that is left meanwhile takes its script along: the next one is asked again.
    pub(crate) fn wait(&self, expression: &str) {
        let script = "const [patience, done] = arguments, end = Date.now() + patience; const look = () => { \
            const value = (() => { try { return EXPRESSION } catch { return null } })(); \
            if (value || Date.now() > end) done(Boolean(value)); else setTimeout(look, 50); }; look();";
        let script = script.replace("EXPRESSION", expression);
        let look = || {
            self.answer(&Method::POST, "/execute/async", &json!({"script": script, "args": [LOOK]}))
        };
        let holds = (0..LOOKS).any(|_| look() == true);
        assert!(holds, "{expression} at {}: {}", self.address(), self.text("main"));
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({"using": "css selector", "value": selector}));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// The text of an element as it is seen. In one call: the page may change between two.
    pub(crate) fn text(&self, selector: &str) -> String {
        let text = self.run(&format!("return document.querySelector('{selector}').innerText"));
        text.as_str().unwrap().to_owned()
    }

    /// Clicks on what leads to another page, or sends a form, and waits until that page is there.
    pub(crate) fn follow(&self, selector: &str) {
        self.run("document.documentElement.dataset.before = 'yes'");
        self.post(&format!("/element/{}/click", self.element(selector)), &json!({}));
        self.wait("!document.documentElement.dataset.before && document.readyState === 'complete'");
    }

    pub(crate) fn fill(&self, selector: &str, text: &str) {
        self.post(&format!("/element/{}/value", self.element(selector)), &json!({"text": text}));
    }

    /// Presses keys where the focus is: texts, or names of `WebDriver` such as `\u{e004}` for Tab.
    pub(crate) fn press(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})))
            .collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.post("/actions", &json!({"actions": [keyboard]}));
    }

    /// Whether what matches has the focus.
    pub(crate) fn focused(&self, selector: &str) -> bool {
        let at = self.run(&format!("return document.activeElement.matches('{selector}')"));
        at.as_bool().unwrap()
    }

    /// Presses Tab until what matches has the focus.
    pub(crate) fn tab_to(&self, selector: &str) {
        // A whole round from wherever the focus is.
        let reached = (0..200).any(|_| {
            self.press(&[crate::TAB]);
            self.focused(selector)
        });
        assert!(reached, "the Tab key does not reach {selector} at {}", self.address());
    }

    /// Presses a key that leads to another page, and waits until that page is there.
    pub(crate) fn press_and_follow(&self, key: &str) {
        self.run("document.documentElement.dataset.before = 'yes'");
        self.press(&[key]);
        self.wait("!document.documentElement.dataset.before && document.readyState === 'complete'");
    }

    /// Opens a second window and goes to it; comes back with the first one.
    pub(crate) fn second_window(&self) -> String {
        let first = self.call(&Method::GET, "/window", &Value::Null).as_str().unwrap().to_owned();
        let second = self.post("/window/new", &json!({"type": "tab"}));
        self.go_to_window(second["handle"].as_str().unwrap());
        first
    }

    /// Closes the window and goes to another one.
    pub(crate) fn close_window(&self, next: &str) {
        self.call(&Method::DELETE, "/window", &Value::Null);
        self.go_to_window(next);
    }

    pub(crate) fn go_to_window(&self, handle: &str) {
        self.post("/window", &json!({"handle": handle}));
    }

    fn chrome(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// The size of the page, and light or dark.
    pub(crate) fn look(&self, width: u32, dark: bool) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.chrome("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.chrome("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Writes a picture of the whole page.
    pub(crate) fn picture(&self, path: &Path) {
        let shot = self.chrome("Page.captureScreenshot", &json!({"captureBeyondViewport": true}));
        std::fs::write(path, BASE64_STANDARD.decode(shot["data"].as_str().unwrap()).unwrap())
            .unwrap();
    }
}
