//! Log lines of the services, as `telemetry.log` and `telemetry.format` say.

use std::{fs, process::Command};

use serde_json::Value;

use crate::support::KCP;

/// Settings that are warned of, and that a start refuses after that: there is no file with keys.
const BROKER: &str = "\
    listen = \"0.0.0.0:8080\"\naccess.platform_user = \"cf\"\naccess.platform_password = \"twelve chars\"\n\
    transport.plaintext_listener = true\ndatabase.sealing_keys = \"missing.key\"\n";
/// The same of the provisioner, which refuses to start without a garden.
const PROVISIONER: &str = "\
    listen = \"0.0.0.0:3000\"\naccess.issuers = [\"https://issuer.example.test\"]\n\
    transport.plaintext_listener = true\n";

/// What a service writes first.
fn first_line(service: &str, settings: &str, telemetry: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kcp.toml"), format!("{settings}{telemetry}")).unwrap();
    let mut command = Command::new(KCP);
    command.args([service, "--config", "kcp.toml"]).current_dir(folder.path());
    let output = command.output().unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn log_lines_are_written_as_the_settings_say() {
    let warning = "without TLS, because the settings say so";
    for (service, settings) in [("broker", BROKER), ("provisioner", PROVISIONER)] {
        let line = |telemetry: &str| first_line(service, settings, telemetry);

        let json = line("telemetry.format = \"json\"\ntelemetry.log = \"warn\"\n");
        let text = line("telemetry.format = \"text\"\ntelemetry.log = \"warn\"\n");
        let silent = line("telemetry.log = \"error\"\n");

        let json: Value =
            serde_json::from_str(&json).unwrap_or_else(|_| panic!("{service}: {json}"));
        assert_eq!(json["level"], "WARN");
        assert!(json["message"].as_str().unwrap().contains(warning), "{json}");
        assert!(text.contains("WARN") && text.contains(warning), "{text}");
        assert!(serde_json::from_str::<Value>(&text).is_err(), "{text}");
        assert!(silent.starts_with("Error: "), "{silent}");
    }
}
