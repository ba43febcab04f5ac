//! A control plane elsewhere: contexts, logins, and what the known client is configured with. The one of a test is on this
//! machine, and found by its address alone.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{KCP, Running, free_ports, start};

/// A running control plane, and a home that knows nothing of it.
pub(crate) struct RemoteControlPlane {
    home: TempDir,
    data: TempDir,
    port: u16,
    running: Running,
}

impl RemoteControlPlane {
    pub(crate) fn new() -> Self {
        let (home, data, port) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), free_ports());
        let running = start(&["up", "--speed", "max"], data.path(), port);
        Self { home, data, port, running }
    }

    /// Its folder.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(KCP);
        command.args(words).current_dir(self.home.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KCP") || name == "XDG_CONFIG_HOME" {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.home.path());
        command
    }

    fn kcp(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let output = self.kcp(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn fails(&self, words: &[&str]) -> String {
        let output = self.kcp(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn server(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.port + 2)
    }

    /// The person of the landscape: name and password.
    pub(crate) fn person(&self) -> (String, String) {
        let text = fs::read(self.data.path().join("connection.json")).unwrap();
        let connection: Value = serde_json::from_slice(&text).unwrap();
        let text = |field: &str| connection[field].as_str().unwrap().to_owned();
        (text("user"), text("password"))
    }

    pub(crate) fn add(&self, name: &str, more: &[&str]) {
        let (server, issuer) = (self.server(), self.issuer());
        let words = ["context", "add", name, "--server", &server, "--issuer", &issuer];
        self.prints(&[&words[..], more].concat());
    }

    pub(crate) fn logins(&self) -> Vec<std::path::PathBuf> {
        let folder = self.home.path().join(".config/kcp/logins");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|it| it == "json")).collect()
    }
}

/// The response to a form; redirects are followed.
fn post(url: &str, fields: &[(&str, &str)]) -> String {
    let mut curl = Command::new("curl");
    curl.args(["-4", "--noproxy", "*", "-sL", url]);
    for (name, value) in fields {
        curl.args(["--data-urlencode", &format!("{name}={value}")]);
    }
    String::from_utf8(curl.output().unwrap().stdout).unwrap()
}

#[test]
fn a_person_logs_in_with_a_password_and_the_token_is_renewed() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    let none = elsewhere.fails(&["runtimes"]);
    assert!(none.contains("no control plane found"), "{none}");
    elsewhere.add("dev", &[]);
    let out = elsewhere.fails(&["runtimes"]);
    assert!(out.contains("not logged in") && out.contains("kcp login --context dev"), "{out}");

    elsewhere.prints(&["login", "-u", &user, "-p", &password]);

    let listed = elsewhere.prints(&["runtimes"]);
    assert!(listed.starts_with("NAME "), "{listed}");
    let far = [
        "context",
        "add",
        "far away",
        "--server",
        "https://kcp.test",
        "--issuer",
        "https://id.test",
    ];
    let added = elsewhere.kcp(&far);
    let next = String::from_utf8(added.stderr).unwrap();
    assert_eq!(next, "\nNext:\n  kcp --context 'far away' login\n");
    elsewhere.prints(&["context", "remove", "far away"]);
    let contexts = elsewhere.prints(&["context", "-o", "json"]);
    let contexts: Value = serde_json::from_str(&contexts).unwrap();
    assert_eq!(contexts["contexts"][0]["used"], true);
    assert_eq!(contexts["contexts"][0]["login"], true);
    let [file] = &elsewhere.logins()[..] else { panic!("one login") };
    assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
    let mut login: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let first = login["refresh_token"].clone();
    // {"exp":1}
    login["id_token"] = "x.eyJleHAiOjF9.x".into();
    fs::write(file, login.to_string()).unwrap();
    elsewhere.prints(&["runtimes"]);
    let login: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_ne!(login["refresh_token"], first, "it was used and replaced");
    assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);

    // A file with the name of earlier versions goes with the login.
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let former = format!("{}/ {} kcp", elsewhere.server(), elsewhere.issuer());
    let former: String = former.chars().map(plain).collect();
    let former = file.with_file_name(format!("{former}.json"));
    fs::write(&former, "{}").unwrap();
    elsewhere.prints(&["logout"]);
    assert!(elsewhere.logins().is_empty() && !former.exists());
    assert!(elsewhere.fails(&["runtimes"]).contains("not logged in"));
    assert!(elsewhere.fails(&["landscape", "systems"]).contains("it has no landscape"));
}

#[test]
fn two_processes_renew_a_login_once() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    elsewhere.add("dev", &[]);
    elsewhere.prints(&["login", "-u", &user, "-p", &password]);
    let [file] = &elsewhere.logins()[..] else { panic!("one login") };
    let mut login: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    login["id_token"] = "x.eyJleHAiOjF9.x".into();
    fs::write(file, login.to_string()).unwrap();

    // The issuer takes a token for renewals once: the second process would be refused with it.
    let begin = || {
        let mut command = elsewhere.command(&["runtimes"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..4).map(|_| begin()).collect();

    for process in running {
        let ended = process.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert!(elsewhere.prints(&["runtimes"]).starts_with("NAME "));
}

#[test]
fn hints_lead_to_the_same_context_again() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    let scopes = "openid broker:write operations:read runtimes:read tenants:any";
    elsewhere.add("dev", &["--scopes", scopes]);
    elsewhere.prints(&["login", "-u", &user, "-p", &password]);

    let words = ["--context", "dev", "provision", "--yes", "--plan", "aws", "--name", "far"];
    let owner = ["-g", "ga", "-s", "sa", "-u", "me@example.test"];
    let ordered = elsewhere.kcp(&[&words[..], &owner].concat());

    let hint = String::from_utf8(ordered.stderr).unwrap();
    assert!(
        ordered.status.success() && hint.contains("Next:\n  kcp --context dev operations "),
        "{hint}"
    );
}

#[test]
fn scopes_of_the_api_open_what_groups_do_not() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    elsewhere.add("few", &[]);
    elsewhere.prints(&["login", "-u", &user, "-p", &password]);
    assert!(elsewhere.kcp(&["operations"]).status.code() == Some(1));
    let scopes = "openid operations:read runtimes:read tenants:any";
    elsewhere.add("more", &["--scopes", scopes, "--client-id", "kcp"]);

    elsewhere.prints(&["--context", "more", "login", "-u", &user, "-p", &password]);

    assert_eq!(elsewhere.prints(&["operations", "--context", "more"]), "no operations\n");
    elsewhere.prints(&["context", "use", "more"]);
    assert_eq!(elsewhere.prints(&["operations"]), "no operations\n");
    elsewhere.prints(&["context", "remove", "more"]);
    assert!(elsewhere.fails(&["operations", "--context", "more"]).contains("there are: few"));
}

#[test]
fn a_person_logs_in_with_a_browser_and_on_another_device() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    elsewhere.add("dev", &[]);
    let typed = [("username", user.as_str()), ("password", &password), ("decision", "allow")];
    let log_in = |words: &[&str], after: &str, fields: &dyn Fn(&str) -> Vec<(String, String)>| {
        let mut command = elsewhere.command(words);
        let mut running = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let rest = line.split_once(after).unwrap().1.to_owned();
        let url = rest.split(' ').next().unwrap();
        let more = fields(&rest);
        let more = more.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let fields: Vec<(&str, &str)> = typed.into_iter().chain(more).collect();
        let page = post(url.split("?user_code").next().unwrap(), &fields);
        let ended = running.wait_with_output().unwrap();
        assert!(ended.status.success(), "{words:?}: {page}");
        assert!(elsewhere.prints(&["runtimes"]).starts_with("NAME "));
        elsewhere.prints(&["logout"]);
        page
    };

    let page = log_in(&["login", "--no-browser"], "Log in at ", &|_| Vec::new());
    assert!(page.contains("You are logged in"), "{page}");
    log_in(&["login", "--device"], "Open ", &|line| {
        let code = line.rsplit(' ').next().unwrap().to_owned();
        vec![("user_code".to_owned(), code)]
    });
}

#[test]
fn the_known_clients_settings_are_read_and_its_folder_is_left_alone() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    let folder = elsewhere.home.path().join(".kcp");
    fs::create_dir(&folder).unwrap();
    let (server, issuer) = (elsewhere.server(), elsewhere.issuer());
    let text = format!(
        "oidc-issuer-url: {issuer}\noidc-client-id: kcp\nkeb-api-url: {server}\n\
         mothership-api-url: {issuer}/reconciler/v1\n"
    );
    fs::write(folder.join("config.yaml"), text).unwrap();

    elsewhere.prints(&["login", "-u", &user, "-p", &password]);
    assert!(elsewhere.prints(&["rt"]).starts_with("NAME "));
    let unused =
        ["--slack-api-url", "http://127.0.0.1:3", "--oauth2-issuer-url", "http://127.0.0.1:4"];
    let unused =
        [&unused[..], &["--oauth2-client-id", "c", "--oauth2-client-secret", "s"]].concat();
    let taken = elsewhere.prints(&[&["rc", "-v", "3"], &unused[..]].concat());
    assert_eq!(taken, "no reconciliations\n");
    let flags = ["--keb-api-url", "http://127.0.0.1:2", "--oidc-issuer-url", &issuer];
    let flagged = elsewhere.fails(&[&["rt"], &flags[..]].concat());
    assert!(flagged.contains("not logged in to http://127.0.0.1:2/"), "{flagged}");
    // Options go before a context that a variable names, and one without an issuer names nothing else.
    let mut flagged = elsewhere.command(&[&["rt"], &flags[..]].concat());
    let flagged = flagged.env("KCP_CONTEXT", "other").output().unwrap();
    let error = String::from_utf8(flagged.stderr).unwrap();
    assert!(error.contains("not logged in to http://127.0.0.1:2/"), "{error}");
    let mut alone = elsewhere.command(&[&["rt"], &flags[..2]].concat());
    let alone = alone.env("KCP_OIDC_ISSUER_URL", "").output().unwrap();
    let error = String::from_utf8(alone.stderr).unwrap();
    assert!(error.contains("--keb-api-url needs --oidc-issuer-url"), "{error}");
    // A file that is named on the command line goes before the usual one.
    let named = elsewhere.home.path().join("named.yaml");
    let text = format!("oidc-issuer-url: {issuer}\nkeb-api-url: http://127.0.0.1:5\n");
    fs::write(&named, text).unwrap();
    let file = named.to_str().unwrap();
    for words in [["--config", file, "rt"], ["rt", "--config", file]] {
        let other = elsewhere.fails(&words);
        assert!(other.contains("not logged in to http://127.0.0.1:5/"), "{other}");
    }
    let absent = elsewhere.fails(&["rt", "--config", "/no/file"]);
    assert!(absent.contains("/no/file cannot be read"), "{absent}");
    let mut other = elsewhere.command(&["rt"]);
    let other = other.env("KCP_KEB_API_URL", "http://127.0.0.1:1").output().unwrap();
    let error = String::from_utf8(other.stderr).unwrap();
    assert!(error.contains("not logged in to http://127.0.0.1:1/"), "{error}");
    let up = elsewhere.fails(&["up"]);
    assert!(up.contains("holds the settings of another client"), "{up}");
    let files = fs::read_dir(&folder).unwrap().count();
    assert_eq!((files, Path::new(&folder).join("connection.json").exists()), (1, false));
}

#[test]
fn orders_go_under_the_client_that_the_known_settings_name_and_a_refusal_names_the_scope() {
    let elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    let folder = elsewhere.home.path().join(".kcp");
    fs::create_dir(&folder).unwrap();
    let (server, issuer) = (elsewhere.server(), elsewhere.issuer());
    let people = format!("oidc-issuer-url: {issuer}\noidc-client-id: kcp\nkeb-api-url: {server}\n");
    let configure = |text: &str| fs::write(folder.join("config.yaml"), text).unwrap();
    configure(&people);
    elsewhere.prints(&["login", "-u", &user, "-p", &password]);
    let mut order = Command::new(KCP);
    order.arg("--data").arg(elsewhere.data());
    order.args(["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    assert!(order.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    let shoot = elsewhere.prints(&["rt", "-o", "custom=S:shootName"]);
    let shoot = shoot.lines().nth(1).unwrap();

    // Nothing of the toy on this machine is ordered elsewhere.
    let order =
        ["provision", "--plan", "aws", "--name", "two", "-g", "ga", "-u", "me@example.test"];
    for more in [&["--yes"][..], &["--dry-run"]] {
        let refused = elsewhere.fails(&[&order[..], more].concat());
        let needed =
            "an order to a remote control plane needs --global-account, --subaccount and --user";
        assert!(refused.contains(needed), "{refused}");
    }
    let refused = elsewhere.fails(&[&order[..], &["-s", "sa", "--yes"]].concat());
    assert!(refused.contains("the login lacks the scope broker:write"), "{refused}");
    // The group of an administrator of runtimes does not order.
    for words in [&["d", "-c", shoot, "--yes"][..], &["bind", "one", "--yes"], &["catalog"]] {
        let refused = elsewhere.fails(words);
        assert!(refused.contains("the login lacks the scope broker:write"), "{refused}");
        assert!(refused.contains("\nNext: kcp COMMAND --oauth2-issuer-url URL "), "{refused}");
    }
    let text = fs::read(elsewhere.data().join("credentials.json")).unwrap();
    let secrets: Value = serde_json::from_slice(&text).unwrap();
    let secret = secrets["client_secret"].as_str().unwrap();
    let client = |secret: &str| {
        format!(
            "{people}oauth2-issuer-url: {issuer}/oauth2/token\noauth2-client-id: kcp-broker\n\
             oauth2-client-secret: {secret}\n"
        )
    };
    configure(&client("hunter2"));
    let refused = elsewhere.fails(&["d", "-c", shoot, "--yes"]);
    assert!(refused.contains("the client \"kcp-broker\" of oauth2-client-id gets no token"));
    assert!(!refused.contains("login") && !refused.contains("hunter2"), "{refused}");

    configure(&client(secret));
    let bound = elsewhere.prints(&["bind", "one", "--yes", "-o", "name", "--id", "ci"]);
    assert_eq!(bound, "ci\n");
    elsewhere.prints(&["update", "one", "--param", "autoScalerMax=9", "--dry-run"]);
    let removed = elsewhere.prints(&["d", "-c", shoot, "--yes", "-o", "json"]);
    let removed: Value = serde_json::from_str(&removed).unwrap();
    assert!(removed["operation"].is_string(), "{removed}");
}

#[test]
fn tokens_are_not_sent_in_clear() {
    let elsewhere = RemoteControlPlane::new();
    let words = ["context", "add", "far", "--issuer", "https://id.test", "--server"];

    let error = elsewhere.fails(&[&words[..], &["http://kcp.example.com"]].concat());

    assert!(
        error.contains("not sent over http to another machine: http://kcp.example.com/"),
        "{error}"
    );
}

#[test]
fn a_control_plane_elsewhere_that_does_not_answer_is_not_taken_for_one_of_this_machine() {
    let mut elsewhere = RemoteControlPlane::new();
    let (user, password) = elsewhere.person();
    elsewhere.add("dev", &[]);
    elsewhere.prints(&["login", "-u", &user, "-p", &password]);
    elsewhere.running.stop();

    let error = elsewhere.fails(&["runtimes"]);

    let expected = format!("Error: {}/ cannot be reached: Connection refused", elsewhere.server());
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.ends_with("\nNext: kcp context\n"), "{error}");
}
