//! What changes something asks, with the name of the thing, when it is known that it can be done; and needs `--yes` where there is no
//! terminal to ask on.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{KCP, Running, free_ports, start};
use crate::terminal::{TerminalOutput, on_terminal};

const ABSENT: &str = "00000000-0000-4000-8000-00000000dead";

/// A control plane with a runtime of each kind, and operations in each state.
struct Landscape {
    data: TempDir,
    _running: Running,
}

impl Landscape {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let running = start(&["up", "--speed", "max"], data.path(), free_ports());
        let landscape = Self { data, _running: running };
        // A trial is for an account that has nothing else.
        let trials = [("lab", "trial", "CA0002"), ("rest", "trial", "CA0003")];
        for (name, plan, account) in [("one", "aws", "CA0001")].into_iter().chain(trials) {
            let order =
                ["provision", "--yes", "--plan", plan, "--name", name, "-g", account, "--watch"];
            landscape.prints(&order);
        }
        landscape.prints(&["bind", "--yes", "one", "--id", "ci", "-o", "name"]);
        landscape.prints(&["suspend", "rest", "--yes", "--watch"]);
        landscape
    }

    /// An order that goes on until Gardener is back, and one that was called off.
    fn with_operations(self) -> Self {
        self.prints(&["landscape", "trouble", "make", "gardener", "down", "--seconds", "3600"]);
        for name in ["stuck", "off"] {
            self.prints(&["provision", "--yes", "--plan", "aws", "--name", name]);
        }
        self.until_stuck("stuck");
        self.prints(&["operations", "cancel", "off", "--reason", "not wanted", "--yes"]);
        assert_eq!(self.kcp(&["operations", "off", "--watch"], "").status.code(), Some(1));
        self
    }

    /// Until the order of this runtime has come to what fails again and again.
    fn until_stuck(&self, name: &str) {
        loop {
            let shown = self.prints(&["operations", name, "-o", "json"]);
            let shown: Value = serde_json::from_str(&shown).unwrap();
            let kind = &shown["waiting"]["kind"];
            assert_ne!(kind, "ended", "{shown:#}");
            if kind == "failing" {
                return;
            }
        }
    }

    fn kcp(&self, words: &[&str], input: &str) -> Output {
        let mut command = Command::new(KCP);
        command.arg("--data").arg(self.data.path()).args(words).current_dir(self.data.path());
        command.env_remove("COLUMNS").env_remove("KCP_CONTEXT");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = command.spawn().unwrap();
        // A command that reads nothing may have ended by now.
        let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
        running.wait_with_output().unwrap()
    }

    fn prints(&self, words: &[&str]) -> String {
        let output = self.kcp(words, "");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn typed(&self, words: &[&str], typed: &str) -> TerminalOutput {
        on_terminal(self.data.path(), 80, words, typed)
    }

    /// What must not change without an answer.
    fn state(&self) -> [String; 5] {
        [
            self.prints(&["runtimes", "-S", "all", "-o", "name"]),
            self.operations(),
            self.prints(&["orchestrations", "-o", "name"]),
            self.prints(&["bindings", "one", "-o", "name"]),
            self.prints(&["landscape", "objects", "director", "-o", "name"]),
        ]
    }

    /// The operations of runtimes with their states. Jobs run by the clock, and the driver of an orchestration begins by itself.
    fn operations(&self) -> String {
        let all = self.prints(&["operations", "--limit", "500", "-o", "json"]);
        let all: Value = serde_json::from_str(&all).unwrap();
        let all = all["operations"].as_array().unwrap().iter();
        let ordered = all.filter(|it| it["kind"] != "job" && it["kind"] != "orchestration");
        let lines = ordered.map(|it| format!("{} {} {}", it["id"], it["kind"], it["state"]));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// An orchestration that begins in a month, a reconciliation and an object of the Director.
fn ids(landscape: &Landscape) -> [String; 3] {
    let month = jiff::SignedDuration::from_hours(30 * 24);
    let at = (base::Clock::running().now() + month).to_string();
    let later = ["upgrade", "cluster", "-t", "plan=aws", "--schedule", &at];
    let planned = landscape.prints(&[&later[..], &["--yes", "-o", "name"]].concat());
    let round = landscape.prints(&["reconciliations", "-r", "one", "--last", "1", "-o", "name"]);
    let objects = landscape.prints(&["landscape", "objects", "director", "-o", "json"]);
    let objects: Value = serde_json::from_str(&objects).unwrap();
    let mut objects = objects["objects"].as_array().unwrap().iter();
    let runtime = objects.find(|it| it["kind"] == "runtime").unwrap();
    let one = |text: &str| text.trim_end().to_owned();
    [one(&planned), one(&round), one(runtime["id"].as_str().unwrap())]
}

/// Every command that changes something, and the name that it asks with.
fn changing([planned, round, runtime]: &[String; 3]) -> Vec<(Vec<String>, String)> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let one = |text: &str, name: &str| (words(text), name.to_owned());
    let first = format!("{round}--0");
    vec![
        one(
            "provision --plan aws --name new",
            "\"new\" of plan aws for account local-account, subaccount local-subaccount, user developer@example.test",
        ),
        one("update one --param autoScalerMax=9", "autoScalerMax of runtime \"one\""),
        one("resume rest", "runtime \"rest\""),
        one("bind one", "runtime \"one\""),
        one("deprovision one", "runtime \"one\""),
        one("deprovision --name one", "runtime \"one\""),
        one("suspend lab", "runtime \"lab\""),
        one("unbind one ci", "binding ci of runtime \"one\""),
        one("job drift", "job drift"),
        one("upgrade kyma -t plan=aws", "an upgrade of kyma"),
        one("upgrade cluster -t plan=aws", "an upgrade of cluster"),
        one(&format!("orchestrations {planned} cancel"), planned),
        one(&format!("orchestrations {planned} pause"), planned),
        one(&format!("orchestrations {planned} resume"), planned),
        one(&format!("orchestrations {planned} workers --parallel-workers 9"), planned),
        one(&format!("orchestrations {planned} retry"), planned),
        one("operations cancel stuck --reason gone", "provision of runtime \"stuck\""),
        one("operations retry off --reason back", "provision of runtime \"off\""),
        one(
            "operations skip stuck --step Check_Runtime --reason gone",
            "provision of runtime \"stuck\"",
        ),
        one("operations abandon stuck --reason gone", "provision of runtime \"stuck\""),
        one("reconciliations purge -r one", "reconciliations of runtime "),
        one("reconciliations disable -r one", "off for runtime "),
        one("reconciliations enable -r one --force", "on for runtime "),
        one(&format!("reconciliations debug -s {round}"), round),
        one(&format!("rc operation debug -s {round} -c {first}"), &first),
        one(&format!("rc operation stop -s {round} -c {first}"), &first),
        one("landscape reset", "every system of the landscape"),
        one("landscape reset director", "director"),
        one(&format!("landscape objects director runtime {runtime} --delete"), runtime),
        one("import keb --apply --database postgres://x@127.0.0.1:1/y", "the broker"),
        one("keys rotate", "the database of the broker"),
        one("keys rotate --provisioner", "the database of the provisioner"),
    ]
}

#[test]
fn whatever_changes_something_needs_yes_where_there_is_no_terminal() {
    let landscape = Landscape::start().with_operations();
    let all = changing(&ids(&landscape));
    let before = landscape.state();

    for (words, name) in &all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for input in ["", "y\n", "yes\n"] {
            let refused = landscape.kcp(&words, input);
            let error = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(1), "{words:?} {input:?}: {error}");
            let needs = "Error: nothing was done: without a terminal this needs --yes: ";
            assert!(error.starts_with(needs) && error.contains(name), "{words:?}: {error}");
            assert!(refused.stdout.is_empty(), "{words:?} {input:?}");
        }
    }

    assert_eq!(landscape.state(), before);
}

#[test]
fn on_a_terminal_it_is_asked_with_the_name_and_only_yes_is_a_yes() {
    let landscape = Landscape::start().with_operations();
    let all = changing(&ids(&landscape));
    let before = landscape.state();

    for (words, name) in &all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let TerminalOutput { text, code } = landscape.typed(&words, "n\n");
        assert_eq!(code, Some(1), "{words:?}: {text}");
        assert!(text.contains("Type [y/N]: ") && text.contains(name), "{words:?}: {text}");
        assert!(text.contains("Error: nothing was done"), "{words:?}: {text}");
    }
    for typed in ["", "\n", "no\n", "yesterday\n", "n\ny\n"] {
        let TerminalOutput { text, code } = landscape.typed(&["unbind", "one", "ci"], typed);
        assert_eq!(code, Some(1), "{typed:?}: {text}");
    }
    assert_eq!(landscape.state(), before);

    // What makes something is done after a yes too.
    let order = ["provision", "--plan", "aws", "--name", "asked", "-o", "name"];
    let TerminalOutput { text, code } = landscape.typed(&order, "y\n");
    assert!(code == Some(0) && text.contains("Order runtime \"asked\" of plan aws"), "{text}");
    assert_eq!(landscape.prints(&["runtimes", "-i", "asked", "-S", "all", "-o", "name"]).len(), 37);

    let TerminalOutput { text, code } = landscape.typed(&["unbind", "one", "ci"], " YES\n");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("Binding ci is removed\n"), "{text}");
    assert_eq!(landscape.prints(&["bindings", "one", "-o", "name"]), "");
}

#[test]
fn what_gets_an_operation_unstuck_needs_a_reason() {
    let landscape = Landscape::start().with_operations();
    let before = landscape.state();
    let requests =
        ["cancel stuck", "retry off", "skip stuck --step Check_Runtime", "abandon stuck"];

    for request in requests {
        let words: Vec<&str> = ["operations"].into_iter().chain(request.split(' ')).collect();
        let refusals: [(&[&str], &str); 4] = [
            (&[], "without a terminal this needs --reason TEXT and --yes"),
            (&["--yes"], "with --yes this needs --reason TEXT"),
            (&["--yes", "--reason", " "], "the reason is empty"),
            (&["--yes", "--reason", &"x".repeat(501)], "the reason is longer than 500 characters"),
        ];
        for (flags, problem) in refusals {
            let refused = landscape.kcp(&[&words[..], flags].concat(), "because\ny\n");
            let error = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(1), "{request} {flags:?}: {error}");
            let expected = format!("Error: nothing was done: {problem}");
            assert!(error.starts_with(&expected), "{request} {flags:?}: {error}");
        }
        for typed in ["", "\ny\n"] {
            let TerminalOutput { text, code } = landscape.typed(&words, typed);
            assert_eq!(code, Some(1), "{request} {typed:?}: {text}");
            assert!(text.contains("Reason, kept in the audit: "), "{request}: {text}");
            assert!(text.contains("nothing was done: the reason is empty"), "{request}: {text}");
        }
    }
    assert_eq!(landscape.state(), before);

    let TerminalOutput { text, code } =
        landscape.typed(&["operations", "cancel", "stuck"], "nobody waits for it\ny\n");
    assert!(code == Some(0) && text.contains("is asked to end"), "{text}");
    let told = landscape.prints(&["events", "stuck", "-o", "json"]);
    let audited = |event: &Value| event["Message"].as_str().unwrap().starts_with("audit: cancel");
    let events: Value = serde_json::from_str(&told).unwrap();
    let entry = events.as_array().unwrap().iter().find(|event| audited(event)).unwrap();
    assert!(entry["Message"].as_str().unwrap().ends_with(": nobody waits for it"), "{entry}");
}

#[test]
fn nothing_is_asked_about_what_cannot_be_done() {
    let landscape = Landscape::start();
    for (words, problem) in [
        ("deprovision nobody", "no instance or runtime \"nobody\" found"),
        ("suspend nobody", "no instance or runtime \"nobody\" found"),
        ("provision --plan tin --name new", "plan \"tin\" is not in the catalog"),
        ("provision --plan aws --name new --param autoScalerMax=x", "autoScalerMax"),
        ("update nobody --param autoScalerMax=9", "no instance or runtime \"nobody\" found"),
        ("update one --param autoScalerMax=x", "autoScalerMax"),
        ("resume nobody", "no instance or runtime \"nobody\" found"),
        ("bind nobody", "no instance or runtime \"nobody\" found"),
        ("bind rest", "plan \"trial\" is not bindable"),
        ("unbind one nothing", "there is no binding \"nothing\""),
        ("job nonsense", "nonsense"),
        ("operations cancel one", "has ended already: succeeded"),
        ("operations abandon one", "has ended already: succeeded"),
        ("operations retry one", "only one that has failed or was canceled can be continued"),
        (format!("operations cancel {ABSENT}").as_str(), ABSENT),
        (format!("leftovers settle {ABSENT}").as_str(), "there is no entry"),
        (format!("orchestrations {ABSENT} cancel").as_str(), ABSENT),
        (format!("orchestrations {ABSENT} pause").as_str(), ABSENT),
        (format!("orchestrations {ABSENT} retry").as_str(), ABSENT),
        (format!("reconciliations disable -r {ABSENT}").as_str(), "the state of a cluster"),
        (format!("reconciliations debug -s {ABSENT}").as_str(), ABSENT),
        ("upgrade kyma -t plan=gcp", "no runtime"),
        (format!("reconciliations purge -r {ABSENT}").as_str(), "the state of a cluster"),
        ("landscape reset nonsense", "there is no system \"nonsense\": "),
        ("landscape objects director runtime nobody --delete", "nobody"),
        ("import keb --apply --config /no/file --database postgres://x@127.0.0.1:1/y", "/no/file"),
        ("keys rotate --config /no/file", "/no/file"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let TerminalOutput { text, code } = landscape.typed(&words, "y\n");
        assert_eq!(code, Some(1), "{words:?}: {text}");
        assert!(text.contains(problem) && !text.contains("Type [y/N]"), "{words:?}: {text}");
    }

    // What is active already, a plan that is never suspended, and what is suspended already: there is nothing to ask.
    let TerminalOutput { text, code } = landscape.typed(&["resume", "lab"], "n\n");
    assert!(code == Some(0) && text.contains("none: nothing changed"), "{text}");
    let TerminalOutput { text, code } = landscape.typed(&["suspend", "one"], "n\n");
    assert!(code == Some(0) && text.contains("none: nothing changed"), "{text}");
    landscape.prints(&["suspend", "lab", "--yes", "--watch"]);
    let TerminalOutput { text, code } = landscape.typed(&["suspend", "lab"], "n\n");
    assert!(code == Some(0) && text.contains("none: nothing changed"), "{text}");
}

#[test]
fn parts_of_ids_are_asked_about_and_not_enough_with_yes() {
    let landscape = Landscape::start();
    let [planned, round, _] = ids(&landscape);
    let operation = landscape.prints(&["operations", "--instance", "one", "-o", "name"]);
    let runtimes = landscape.prints(&["runtimes", "-S", "all", "-o", "json"]);
    let runtimes: Value = serde_json::from_str(&runtimes).unwrap();
    let part_of = |name: &str, field: &str| {
        let mut all = runtimes["data"].as_array().unwrap().iter();
        let found = all.find(|it| it["parameters"]["name"] == name).unwrap();
        found[field].as_str().unwrap()[..8].to_owned()
    };
    let [one, lab, rest] = ["one", "lab", "rest"].map(|name| part_of(name, "instanceID"));
    let (runtime, round) = (part_of("one", "runtimeID"), &round[..8]);
    // Operations of the same minute begin alike.
    let end = |id: &str| id[id.len() - 12..].to_owned();
    let (operation, planned) = (end(operation.trim_end()), end(&planned));
    landscape.prints(&["bind", "--yes", "one", "--id", "nightly-backup", "-o", "name"]);
    let kcp = |command: &str, more: &[&str]| {
        let words = command.split(' ').chain(more.iter().copied());
        landscape.kcp(&words.collect::<Vec<_>>(), "")
    };
    let before = landscape.state();

    for command in [
        format!("deprovision {one}"),
        format!("deprovision -r {runtime}"),
        format!("suspend {lab}"),
        format!("resume {rest}"),
        format!("update {one} --param autoScalerMax=9"),
        format!("bind {one}"),
        format!("unbind {one} ci"),
        "unbind one nightly".to_owned(),
        format!("operations cancel {operation} --reason gone"),
        format!("operations retry {operation} --reason gone"),
        format!("operations skip {operation} --step Check_Runtime --reason gone"),
        format!("operations abandon {operation} --reason gone"),
        format!("operations cancel {one} --reason gone"),
        format!("orchestrations {planned} cancel"),
        format!("orchestrations {planned} pause"),
        format!("orchestrations {planned} resume"),
        format!("orchestrations {planned} retry"),
        format!("orchestrations {planned} workers --parallel-workers 9"),
        format!("reconciliations enable -r {runtime}"),
        format!("reconciliations disable -r {runtime}"),
        format!("reconciliations purge -r {runtime}"),
        format!("reconciliations debug -s {round}"),
        format!("upgrade kyma -t instance-id={one}"),
        format!("upgrade cluster -t plan=aws -e runtime-id={runtime}"),
    ] {
        let refused = kcp(&command, &["--yes"]);
        let error = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{command}: {error}");
        assert!(error.contains("with --yes, give the whole"), "{command}: {error}");
    }
    assert_eq!(landscape.state(), before);

    // What changes nothing takes them.
    for command in [
        format!("deprovision {one} --dry-run"),
        format!("suspend {lab} --dry-run"),
        format!("resume {rest} --dry-run"),
        format!("update {one} --param autoScalerMax=9 --dry-run"),
        format!("bind {one} --dry-run"),
        "unbind one nightly --dry-run".to_owned(),
        format!("upgrade kyma -t instance-id={one} --preview"),
        format!("orchestrations {planned}"),
        format!("operations {operation}"),
    ] {
        let shown = kcp(&command, &[]);
        assert!(shown.status.success(), "{command}: {}", String::from_utf8_lossy(&shown.stderr));
    }
    let dry = kcp(&format!("deprovision {one} --dry-run"), &["--yes"]);
    assert!(dry.status.success(), "{}", String::from_utf8_lossy(&dry.stderr));

    let TerminalOutput { text, code } = landscape.typed(&["suspend", &lab], "n\n");
    assert!(code == Some(1) && text.contains("Remove the cluster of runtime \"lab\""), "{text}");
    let TerminalOutput { text, code } = landscape.typed(&["unbind", "one", "nightly"], "y\n");
    assert!(code == Some(0) && text.contains("End binding nightly-backup of runtime"), "{text}");
}
