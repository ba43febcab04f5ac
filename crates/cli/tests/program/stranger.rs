//! A stranger who types what the greeting says, and nothing else: from `kcp up` to a watched order and kubectl in the runtime.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::support::{KCP, Running, free_ports};

/// How long it may take: a minute where nothing else runs, and as much as it takes beside other tests.
fn longest() -> Duration {
    let is_promised = std::env::var_os("KCP_TEST_PROMISES").is_some_and(|value| value == "1");
    Duration::from_mins(if is_promised { 1 } else { 10 })
}

/// Types a line into the shell of a terminal, which finds the program by its name, and a yes to whatever is asked.
fn typed(folder: &Path, line: &str) -> String {
    let programs = Path::new(KCP).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut terminal = Command::new("script");
    let line = format!("stty cols 200 -echo; {line}");
    terminal.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(folder);
    terminal
        .env("PATH", path)
        .env("HOME", folder)
        .env("SHELL", "/bin/sh")
        .env_remove("KCP_CONTEXT");
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    terminal.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let output = terminal.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    assert!(output.status.success(), "{line}: {text}");
    text
}

/// The line of a text that has these words, without what explains it.
fn line(text: &str, words: &str) -> String {
    let found = text.lines().find(|line| line.contains(words));
    let found = found.unwrap_or_else(|| panic!("{words} is not in {text}")).trim();
    found.split("   ").next().unwrap().to_owned()
}

#[test]
fn a_stranger_is_in_a_runtime_by_the_hints_alone() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let mut up = Command::new(KCP);
    up.args(["up", "--port", &free_ports().to_string()]).current_dir(folder.path());
    let mut up = up.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines().map(Result::unwrap);
    let _running = Running(up);
    let mut greeting = String::new();
    for line in lines.by_ref() {
        greeting.push_str(&line);
        greeting.push('\n');
        if line.contains("Ctrl-C stops it") {
            break;
        }
    }
    std::thread::spawn(move || lines.for_each(drop));

    let order = line(&greeting, " provision ");
    let enter = line(&greeting, " bind ");
    let hint = typed(folder.path(), &order);
    assert!(
        hint.contains("Order runtime \"demo\" of plan aws for account local-account, "),
        "{hint}"
    );
    assert!(hint.contains(". Type [y/N]: "), "{hint}");
    assert!(hint.contains(" succeeded after "), "{hint}");
    let namespaces = typed(folder.path(), &enter);
    assert!(namespaces.contains("kyma-system"), "{namespaces}");
    let took = began.elapsed();
    assert!(took < longest(), "{took:?}");

    // The order says the same, and every other hint works too.
    assert_eq!(line(&hint, " bind "), enter);
    let changed = typed(folder.path(), &line(&hint, " update "));
    assert!(changed.contains(" succeeded after "), "{changed}");
    let remove = line(&hint, " deprovision ");
    let removed = typed(folder.path(), &remove);
    assert!(removed.contains(" succeeded after "), "{removed}");
}

#[test]
fn hints_fit_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["up", "--speed", "max"];
    let _running = crate::support::start(&words, &folder.path().join(".kcp"), free_ports());
    for (plan, command) in [("aws", "kcp bind lab "), ("azure", "kcp kubeconfig -c ")] {
        let order = format!("kcp provision --plan {plan} --name lab --watch");
        let hint = typed(folder.path(), &order);
        let enter = line(&hint, "kubectl");
        assert!(enter.starts_with(command), "{plan}: {enter}");
        let namespaces = typed(folder.path(), &enter);
        assert!(namespaces.contains("kyma-system"), "{plan}: {namespaces}");
        typed(folder.path(), "kcp deprovision lab --yes --watch && rm lab.yaml");
    }
}
