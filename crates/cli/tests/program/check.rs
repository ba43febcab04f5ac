//! `kcp check` against a landscape: all systems reached, and the messages about those that are not.

use std::{fs, path::Path, process::Command};

use crate::support::{KCP, Running, free_ports, start};

/// The systems of the broker's file.
const SYSTEMS: [&str; 17] = [
    "gardener",
    "control plane",
    "lifecycle manager",
    "provisioner",
    "director",
    "reconciler",
    "avs",
    "edp",
    "ias",
    "lms",
    "spc",
    "cis events",
    "cis accounts",
    "cis entitlements",
    "aws",
    "azure",
    "azure tokens",
];

/// Whether it found everything in order, and what it said.
fn check(config: &Path) -> (bool, String) {
    let output = Command::new(KCP).args(["check", "--config"]).arg(config).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout) + &text(output.stderr))
}

fn line<'a>(said: &'a str, system: &str) -> &'a str {
    let found = said.lines().find(|line| line.starts_with(&format!("{system} ")));
    found.unwrap_or_else(|| panic!("{system} is not in {said}"))
}

/// Whether a system was reached, whatever else was found out about it.
fn is_reached(said: &str, system: &str) -> bool {
    let outcome = line(said, system)[system.len()..].trim_start();
    outcome == "reached" || outcome.starts_with("reached: ")
}

fn up() -> (tempfile::TempDir, Running, String) {
    let folder = tempfile::tempdir().unwrap();
    let running = start(&["up", "--speed", "max"], folder.path(), free_ports());
    let settings = fs::read_to_string(folder.path().join("broker.toml")).unwrap();
    (folder, running, settings)
}

/// Writes a file in which one line after a section's head is another one.
fn changed(folder: &Path, settings: &str, section: &str, key: &str, value: &str) -> Box<Path> {
    let (before, after) = settings.split_once(&format!("[systems.{section}]\n")).unwrap();
    let old = after.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap();
    let new = format!("{key} = \"{value}\"");
    let text = format!("{before}[systems.{section}]\n{}", after.replacen(old, &new, 1));
    let path = folder.join("changed.toml");
    fs::write(&path, text).unwrap();
    path.into()
}

#[test]
fn everything_in_the_landscape_is_reached_and_what_is_wrong_is_said_in_plain_words() {
    let (folder, running, settings) = up();
    let folder = folder.path();

    let (fine, said) = check(&folder.join("broker.toml"));
    assert!(fine, "{said}");
    assert!(said.starts_with("the settings of the broker are valid\n"), "{said}");
    for system in SYSTEMS {
        assert!(is_reached(&said, system), "{said}");
    }
    assert!(line(&said, "gardener").contains("Gardener v1.117.0"), "{said}");
    let unused = "no plan calls it with these settings";
    assert!(line(&said, "lms").ends_with(unused), "{said}");

    let table = [
        ("director", "client_secret", "wrong", "director", "client id or client secret"),
        ("edp", "secret", "wrong", "edp", "client id or client secret"),
        ("ias", "user_secret", "wrong", "ias", "credentials not accepted"),
        ("lms", "token", "wrong", "lms", "credentials not accepted"),
        ("spc", "url", "http://127.0.0.1:9/spc", "spc", "connection refused"),
        ("spc", "url", "https://nowhere.invalid/", "spc", "host name not found"),
        ("gardener", "project", "theirs", "gardener", "there is no project theirs"),
        ("provisioner", "client_secret", "wrong", "provisioner", "client id or client secret"),
    ];
    for (section, key, value, system, wanted) in table {
        let (fine, said) = check(&changed(folder, &settings, section, key, value));
        // The terminal is narrow, and words are broken over lines.
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!fine, "{section}.{key}: {said}");
        assert!(line(&said, system).len() > system.len(), "{said}");
        assert!(flat.contains(wanted), "{section}.{key}: {flat}");
        assert!(!said.contains("hush"), "{said}");
        let others = SYSTEMS.iter().filter(|other| **other != system);
        assert!(others.into_iter().all(|other| is_reached(&said, other)), "{said}");
    }

    drop(running);
    let (fine, said) = check(&folder.join("broker.toml"));
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!fine && flat.matches("connection refused").count() >= SYSTEMS.len(), "{said}");
}

#[test]
fn what_is_missing_is_named_before_anybody_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broker.toml");
    fs::write(&path, "[systems.ias]\nurl = \"http://127.0.0.1:9/\"\n").unwrap();

    let (fine, said) = check(&path);

    assert!(!fine, "{said}");
    assert!(said.contains("systems.ias.user_id is missing"), "{said}");
    assert!(said.contains("KCP_BROKER_IAS_USER_ID"), "{said}");
}

#[test]
fn the_provisioners_systems_are_reached_too() {
    let (folder, _running, _) = up();
    let connection = fs::read(folder.path().join("connection.json")).unwrap();
    let connection: serde_json::Value = serde_json::from_slice(&connection).unwrap();
    let landscape = connection["landscape"].as_str().unwrap();
    let credentials = fs::read(folder.path().join("credentials.json")).unwrap();
    let credentials: serde_json::Value = serde_json::from_slice(&credentials).unwrap();
    let path = folder.path().join("provisioner.toml");
    let text = format!(
        "[gardener]\nkubeconfig = {:?}\n[director]\nurl = \"{landscape}/director/graphql\"\n\
         token_url = \"{landscape}/oauth2/token\"\nclient_secret = {}\n\
         [kyma]\nreleases = \"{landscape}/kyma-releases\"\ndevelopment = \"{landscape}/kyma-releases\"\n",
        folder.path().join("kubeconfigs/garden.yaml"),
        credentials["client_secret"],
    );
    fs::write(&path, text).unwrap();

    // The file itself says whose it is.
    let (fine, said) = check(&path);
    assert!(fine, "{said}");
    assert!(said.starts_with("the settings of the provisioner are valid\n"), "{said}");
    for system in ["gardener", "director", "kyma releases", "kyma development"] {
        assert!(is_reached(&said, system), "{said}");
    }
    assert!(line(&said, "gardener").contains("ConfigMaps in the project can be read"), "{said}");
}

#[test]
fn links_without_tls_are_refused_unless_the_settings_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broker.toml");
    let offline = || {
        let output = Command::new(KCP).args(["check", "--offline", "--config"]).arg(&path).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    };
    let table = [
        ("listen = \"0.0.0.0:8080\"\n", "tokens would pass in clear"),
        ("[access]\nissuers = [\"http://issuer.example.test\"]\n", "without TLS"),
        ("[systems.reconciler]\nurl = \"http://reconciler.svc/\"\n", "systems.reconciler.url"),
    ];
    for (text, wanted) in table {
        fs::write(&path, text).unwrap();
        let (fine, said) = offline();
        assert!(!fine && said.contains(wanted), "{text}: {said}");
    }

    let allowed = "listen = \"0.0.0.0:8080\"\n\
        [transport]\nplaintext_listener = true\nplaintext_hosts = [\"reconciler.svc\"]\n\
        [systems.reconciler]\nurl = \"http://reconciler.svc/\"\n";
    fs::write(&path, allowed).unwrap();
    let (fine, said) = offline();
    assert!(fine, "{said}");
    assert!(said.contains("warning: the API listens on 0.0.0.0:8080 without TLS"), "{said}");
    assert!(said.contains("warning: reconciler.svc may be called without TLS"), "{said}");
}

#[test]
fn callers_that_need_no_token_are_told_as_exceptions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broker.toml");
    let peer = "[[access.peers]]\nname = \"keb\"\naddresses = [\"127.0.0.0/8\", \"::1\"]\n\
        scopes = [\"runtimes:read\", \"tenants:any\"]\n";
    fs::write(&path, peer).unwrap();

    let mut command = Command::new(KCP);
    let output = command.args(["check", "--offline", "--config"]).arg(&path).output().unwrap();

    let said = String::from_utf8(output.stdout).unwrap();
    let exception = "warning: requests without a token from 127.0.0.0/8 or ::1 count as keb: \
        runtimes:read tenants:any\n";
    assert!(output.status.success() && said.contains(exception), "{said}");
}

#[test]
fn limits_that_do_not_fit_are_told_where_the_provisioner_answers_and_where_both_files_are() {
    let (landscape, _running, _) = up();
    let output = Command::new(KCP)
        .args(["check", "--config"])
        .arg(landscape.path().join("broker.toml"))
        .env("KCP_BROKER_RUNTIME_LIMIT", "4h")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    let text = "runtimes.limit is 4h, but the provisioner may take 4h 15m to make a runtime";
    assert!(line(&said, "limits").contains(text), "{said}");

    let folder = tempfile::tempdir().unwrap();
    let both = |of_provisioner: &str| {
        fs::write(folder.path().join("broker.toml"), "").unwrap();
        fs::write(folder.path().join("provisioner.toml"), of_provisioner).unwrap();
        let mut command = Command::new(KCP);
        let output = command.args(["check", "--offline", "--config"]).arg(folder.path()).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.success(), said.concat())
    };
    let (fits, said) = both("");
    assert!(fits && said.ends_with("the limits of both fit together\n"), "{said}");
    let (fits, said) = both("[limits]\ninstallation = \"22h\"\n");
    assert!(!fits && said.contains("runtimes.limit is 6h"), "{said}");
}

#[test]
fn without_a_file_the_settings_of_this_machines_control_plane_are_checked() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join(".kcp");
    fs::create_dir(&folder).unwrap();
    let check = |words: &[&str]| {
        let mut command = Command::new(KCP);
        let output = command.args(words).current_dir(here.path()).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), said.concat())
    };
    let offline = ["check", "--offline"];
    let is_valid = |words: &[&str], file: &str, services: &[&str]| {
        let (code, said) = check(words);
        let valid = said.lines().filter(|line| line.ends_with(" are valid"));
        let expected = services.iter().map(|it| format!("the settings of the {it} are valid"));
        assert!(valid.eq(expected) && code == Some(0), "{words:?}: {said}");
        assert!(said.starts_with(&format!("checking {file}\n")), "{words:?}: {said}");
    };

    assert_eq!(check(&offline), (Some(0), "the settings of the broker are valid\n".to_owned()));
    let (code, said) = check(&["check", "--offline", "--data", ".kcp"]);
    assert!(code == Some(1) && said.contains(".kcp has no settings to check"), "{said}");
    fs::write(folder.join("provisioner.toml"), "[limits]\n").unwrap();
    is_valid(&offline, "./.kcp/provisioner.toml", &["provisioner"]);
    fs::write(folder.join("broker.toml"), "").unwrap();
    is_valid(&offline, "./.kcp", &["broker", "provisioner"]);
    is_valid(&["--data", ".kcp", "check", "--offline"], ".kcp", &["broker", "provisioner"]);
    let one = ["check", "--offline", "--provisioner"];
    is_valid(&one, "./.kcp/provisioner.toml", &["provisioner"]);

    // What is wrong in such a file is found.
    fs::write(folder.join("broker.toml"), "[operations]\nworkerz = 1\n").unwrap();
    let (code, said) = check(&offline);
    assert!(code == Some(1) && said.contains("workerz"), "{said}");
}
