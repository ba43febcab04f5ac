//! The known client's commands over many runtimes, against a running control plane: `taskrun`, `reconciliations`, `kubeconfig -c`,
//! `deprovision -g -s`; and what commands would send.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{KCP, Running, free_ports, start};

/// A control plane with two runtimes.
struct Landscape {
    data: TempDir,
    _running: Running,
}

impl Landscape {
    fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let running = start(&["up", "--speed", "max"], data.path(), free_ports());
        let landscape = Self { data, _running: running };
        for (name, plan, account) in [("one", "aws", "CA0001"), ("two", "azure", "CA0002")] {
            let order =
                ["provision", "--yes", "--plan", plan, "--name", name, "-g", account, "--watch"];
            landscape.prints(&order);
        }
        landscape
    }

    fn kcp(&self, words: &[&str]) -> Output {
        let mut command = Command::new(KCP);
        command.arg("--data").arg(self.data.path()).args(words).current_dir(self.data.path());
        command.env_remove("KCP_SHELL").env_remove("COLUMNS").env("KUBECONFIG", "/nowhere");
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn prints(&self, words: &[&str]) -> String {
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

    /// A field of a runtime.
    fn of(&self, name: &str, field: &str) -> String {
        let all: Value = serde_json::from_str(&self.prints(&["rt", "-o", "json"])).unwrap();
        let mut all = all["data"].as_array().unwrap().iter();
        let found = all.find(|it| it["parameters"]["name"] == name).unwrap();
        found[field].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_task_runs_for_each_runtime_with_its_kubeconfig_and_leaves_nothing_behind() {
    let landscape = Landscape::start();
    let (one, two) = (landscape.of("one", "shootName"), landscape.of("two", "shootName"));
    let task = |words: &[&str]| landscape.prints(&[&["taskrun"], words].concat());
    let script = "echo $RUNTIME_NAME $GLOBALACCOUNT_ID $SUBACCOUNT_ID $KUBECONFIG; \
                  stat -c %a $KUBECONFIG; grep -c server: $KUBECONFIG";

    let told = task(&["-t", "all", "-p", "1", "--", "sh", "-c", script]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 6, "{told}");
    let folder = lines[0].rsplit_once('/').unwrap().0.rsplit(' ').next().unwrap();
    for (shoot, account) in [(&one, "CA0001"), (&two, "CA0002")] {
        let line = format!("{shoot} {shoot} {account} local-subaccount {folder}/{shoot}.yaml");
        assert!(lines.contains(&line.as_str()), "{line}: {told}");
        assert!(told.contains(&format!("{shoot} 600\n{shoot} 1\n")), "{told}");
    }
    assert!(!std::path::Path::new(folder).exists(), "{folder} is left");
    assert_eq!(landscape.prints(&["bindings", "one", "-o", "name"]), "", "access is left");

    // Selectors, a shell, no prefix, no kubeconfig: the one of the environment is not meant.
    let words = ["-t", "account=CA.*", "-e", "plan=azure", "--no-kubeconfig", "--no-prefix-output"];
    let shell = ["-s", "/bin/sh -c", "--", "echo", "[$RUNTIME_NAME]", "[$KUBECONFIG]"];
    assert_eq!(task(&[&words[..], &shell].concat()), format!("[{one}] []\n"));
    let listed = task(&["-t", "region=^eu-", "--dry-run", "-o", "name"]);
    assert_eq!(listed, format!("{one}\n"));

    // All are tried; the exit code tells how it went.
    let failed =
        landscape.fails(&["t", "-t", "all", "--no-kubeconfig", "--", "sh", "-c", "exit 3"]);
    assert_eq!(failed, "Error: 2/2 execution(s) failed\n");
    let missing = landscape.fails(&["t", "-t", "all", "--", "no-such-program"]);
    assert!(missing.contains("no-such-program: not found in the PATH"), "{missing}");
    let nothing = landscape.fails(&["t", "-t", "plan=trial", "--", "true"]);
    assert!(nothing.contains("no runtime matches the target"), "{nothing}");

    // A folder of one's own keeps what is asked for.
    let kept = tempfile::tempdir().unwrap();
    let folder = kept.path().to_str().unwrap();
    task(&["-t", "plan=aws", "-k", folder, "--keep-kubeconfig", "--", "true"]);
    assert!(kept.path().join(format!("{one}.yaml")).exists());
    assert_eq!(landscape.prints(&["bindings", "one", "-o", "name"]).lines().count(), 1);
    task(&["-t", "all", "-k", folder, "--", "true"]);
    assert_eq!(std::fs::read_dir(kept.path()).unwrap().count(), 1, "only what was there");
    assert_eq!(landscape.prints(&["bindings", "one", "-o", "name"]).lines().count(), 1);
    assert_eq!(landscape.prints(&["bindings", "two", "-o", "name"]), "");
}

#[test]
fn a_task_that_is_broken_off_leaves_no_access() {
    let landscape = Landscape::start();
    let mut command = Command::new(KCP);
    command.arg("--data").arg(landscape.data.path()).env_remove("KCP_SHELL");
    // It ends by the signal alone.
    command.args(["taskrun", "-t", "all", "--", "sh", "-c", "echo $KUBECONFIG; exec sleep 3600"]);
    let mut task = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(task.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(2).map(Result::unwrap).collect();
    let files: Vec<&str> = lines.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    for (name, file) in ["one", "two"].into_iter().zip(&files) {
        let given = landscape.prints(&["bindings", name, "-o", "name"]);
        assert!(given.starts_with("kcp-operator-"), "{name}: {given}");
        assert!(Path::new(file).exists(), "{file}");
    }

    let pressed = Command::new("kill").args(["-INT", &task.id().to_string()]).status().unwrap();
    assert!(pressed.success());

    assert_eq!(task.wait().unwrap().code(), Some(130));
    for (name, file) in ["one", "two"].into_iter().zip(&files) {
        assert_eq!(landscape.prints(&["bindings", name, "-o", "name"]), "", "{name}");
        assert!(!Path::new(file).exists(), "{file}");
    }
}

#[test]
fn reconciliations_are_listed_looked_into_and_switched_off_and_on() {
    let landscape = Landscape::start();
    let (shoot, runtime) = (landscape.of("one", "shootName"), landscape.of("one", "runtimeID"));
    let print = |words: &[&str]| landscape.prints(&[&["reconciliations"], words].concat());

    let listed = print(&[]);
    assert!(listed.starts_with("NAME  "), "{listed}");
    assert!(listed.lines().skip(1).any(|line| line.starts_with("one  ")), "{listed}");
    assert!(print(&["-o", "wide"]).contains(&shoot), "{listed}");
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
    let known = print(&["-o", "known", "-c", &shoot]);
    assert!(known.starts_with("SCHEDULING ID  ") && known.contains(&runtime), "{known}");
    let names = print(&["-r", &runtime, "--last", "1", "-S", "ready,error", "-o", "name"]);
    let round = names.trim_end();
    assert_eq!(names.lines().count(), 1);
    assert_eq!(print(&["--after", "2100/01/01", "-S", "none", "-o", "json"]), "[]\n");

    let info = print(&["info", "-i", round]);
    assert!(info.starts_with("COMPONENT  ") && info.contains("done"), "{info}");
    assert_eq!(print(&["info", "-i", &round[..8]]), info, "a part of an id is enough");
    let state = print(&["state", "-c", &shoot]);
    assert!(state.contains(&format!("Runtime  {runtime}")), "{state}");
    print(&["debug", "-s", round, "--yes"]);
    print(&["operation", "debug", "-s", round, "-c", &format!("{round}--0"), "--yes"]);
    let late = landscape.fails(&[
        "rc",
        "operation",
        "stop",
        "-y",
        "-s",
        round,
        "-c",
        &format!("{round}--0"),
    ]);
    assert!(late.contains("stopping operation"), "{late}");

    // By Shoot, by the name of the runtime, and by id.
    assert_eq!(
        print(&["disable", "-c", &shoot, "-y"]),
        format!("runtime {runtime}: reconcile_disabled\n")
    );
    assert!(print(&["state", "-r", "one"]).contains("reconcile_disabled"));
    assert_eq!(print(&["enable", "-r", &runtime, "-y"]), format!("runtime {runtime}: ready\n"));
    let unasked = landscape.fails(&["rc", "purge", "-r", &runtime]);
    assert!(unasked.contains("--yes"), "{unasked}");
    print(&["purge", "-r", &runtime, "--yes"]);
    assert_eq!(print(&["-r", &runtime]), "no reconciliations\n");
}

#[test]
fn operators_choose_runtimes_with_the_known_flags() {
    let landscape = Landscape::start();
    let (shoot, runtime) = (landscape.of("one", "shootName"), landscape.of("one", "runtimeID"));
    let file = landscape.data.path().join("k.yaml");

    landscape.prints(&["kc", "-c", &shoot, "-o", file.to_str().unwrap()]);
    let kubeconfig = std::fs::read_to_string(&file).unwrap();
    assert!(kubeconfig.contains("token:"), "an operator's has credentials");
    let events = landscape.prints(&["events", "one"]);
    assert!(events.contains("audit: kubeconfig accepted"), "with its instance: {events}");
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let saved = landscape.prints(&["kubeconfig", "-g", "CA0001", "-r", &runtime]);
    let name = saved.trim_end().strip_prefix("Kubeconfig saved to ").unwrap();
    assert!(landscape.data.path().join(name).exists(), "{saved}");
    let again = landscape.fails(&["kc", "-c", &shoot]);
    assert!(again.contains(&format!("{name} exists")) && again.contains("--overwrite"), "{again}");
    assert_eq!(landscape.prints(&["kc", "-c", &shoot, "--overwrite"]), saved);
    let unwritten = landscape.fails(&["kc", "one", "--overwrite"]);
    assert!(unwritten.contains("--overwrite needs --output"), "{unwritten}");
    // A file that is there is found before there are credentials.
    let two = landscape.of("two", "shootName");
    std::fs::write(landscape.data.path().join(name.replace(&shoot, &two)), "mine").unwrap();
    assert!(landscape.fails(&["kc", "-c", &two]).contains("exists"));
    assert_eq!(landscape.prints(&["bindings", "two", "-o", "name"]), "");
    let several = landscape.fails(&["kc", "-g", "CA0001", "-s", "other"]);
    assert!(several.contains("no runtimes matched the input options"), "{several}");
    assert!(landscape.fails(&["kc", "-g", "CA0001"]).contains("account/subaccount"));

    let words = ["d", "-g", "CA0001", "-s", "local-subaccount"];
    let unasked = landscape.fails(&words);
    assert!(unasked.contains("Remove runtime \"one\""), "{unasked}");
    landscape.prints(&[&words[..], &["--yes", "--watch"]].concat());
    assert_eq!(landscape.prints(&["rt", "-o", "custom=N:parameters.name"]), "N\ntwo\n");
}

#[test]
fn a_dry_run_shows_what_would_be_sent_and_changes_nothing() {
    let landscape = Landscape::start();
    let dry = |words: &[&str]| -> Value {
        let told = landscape.prints(&[words, &["--dry-run", "-o", "json"]].concat());
        serde_json::from_str(&told).unwrap()
    };
    let instance = landscape.of("one", "instanceID");
    let path = format!("/oauth/v2/service_instances/{instance}");

    let order = dry(&[
        "provision",
        "--yes",
        "--plan",
        "aws",
        "--name",
        "new",
        "--param",
        "autoScalerMax=9",
    ]);
    assert_eq!(order["method"], "PUT");
    assert_eq!(order["body"]["parameters"]["autoScalerMax"], 9);
    let update = dry(&["update", "--yes", "one", "--param", "autoScalerMax=9"]);
    assert_eq!(
        (&update["method"], update["path"].as_str().unwrap()),
        (&"PATCH".into(), format!("{path}?accepts_incomplete=true").as_str())
    );
    for (word, method) in
        [("suspend", "PATCH"), ("resume", "PATCH"), ("deprovision", "DELETE"), ("bind", "PUT")]
    {
        let told = dry(&[word, "one"]);
        assert_eq!(told["method"], method, "{word}");
        assert!(told["path"].as_str().unwrap().starts_with(&path), "{told}");
    }
    let text = landscape.prints(&["deprovision", "one", "--dry-run"]);
    assert!(text.starts_with(&format!("DELETE {path}?service_id=")), "{text}");
    assert!(text.contains("&plan_id=") && text.ends_with("&accepts_incomplete=true\n"), "{text}");
    let refused = landscape.fails(&[
        "provision",
        "-p",
        "aws",
        "-n",
        "x",
        "--param",
        "machinetype=m",
        "--dry-run",
    ]);
    assert!(
        refused.contains("machinetype") && refused.contains(" (broker at http://"),
        "{refused}"
    );
    let refused =
        landscape.fails(&["update", "--yes", "one", "--param", "autoScalerMax=many", "--dry-run"]);
    assert!(
        refused.contains("autoScalerMax") && refused.contains(" (broker at http://"),
        "{refused}"
    );

    assert_eq!(
        landscape.prints(&["rt", "-o", "name"]).lines().count(),
        2,
        "nothing was ordered or removed"
    );
    let operations = landscape.prints(&["operations", "-o", "json"]);
    let operations: Value = serde_json::from_str(&operations).unwrap();
    assert_eq!(operations["operations"].as_array().unwrap().len(), 2);
}

#[test]
fn names_and_beginnings_are_taken_wherever_an_id_is() {
    let landscape = Landscape::start();
    let all = landscape.prints(&["rt", "-o", "json"]);
    let all: Value = serde_json::from_str(&all).unwrap();
    let mut all = all["data"].as_array().unwrap().iter();
    let one = all.find(|it| it["parameters"]["name"] == "one").unwrap();
    let text = |key: &str| one[key].as_str().unwrap();
    let (instance, runtime) = (text("instanceID"), text("runtimeID"));
    let account = text("globalAccountID");
    let operation = landscape.prints(&["operations", "--instance", instance, "-o", "name"]);
    let only = format!("{instance}\n");

    let newest = operation.lines().next().unwrap();
    for word in [instance, runtime, "one", newest] {
        assert!(landscape.prints(&["operations", word]).contains(newest), "{word}");
        let ended = landscape.fails(&["operations", "cancel", word, "--reason", "test", "--yes"]);
        assert!(ended.contains("ended"), "{word}: {ended}");
    }
    for word in [instance, runtime, &instance[..8], &runtime[..8], "one", text("shootName")] {
        assert_eq!(landscape.prints(&["rt", "-i", word, "-o", "name"]), only, "{word}");
        assert_eq!(landscape.prints(&["rt", "-r", word, "-o", "name"]), only, "{word}");
        let listed = landscape.prints(&["operations", "--instance", word, "-o", "name"]);
        assert_eq!(listed, operation, "{word}");
        let target = format!("runtime-id={word}");
        let task = ["taskrun", "--target", &target, "--dry-run", "-o", "json"];
        assert!(landscape.prints(&task).contains(instance), "{word}");
        let upgrade = ["upgrade", "kyma", "-t", &target, "--preview", "-o", "json"];
        assert!(landscape.prints(&upgrade).contains(runtime), "{word}");
    }
    assert_eq!(landscape.prints(&["rt", "-i", instance, "-r", runtime, "-o", "name"]), only);
    for word in [runtime, &runtime[..8], "one"] {
        let removal = ["deprovision", "-r", word, "--dry-run"];
        assert!(landscape.prints(&removal).contains(instance), "{word}");
        let fetched = landscape.data.path().join(word);
        let fetched = fetched.to_str().unwrap();
        landscape.prints(&["kubeconfig", "-g", account, "-r", word, "-o", fetched]);
    }
    let part = landscape.fails(&["deprovision", "-r", &runtime[..8], "--yes"]);
    assert!(part.contains("with --yes, give the whole id"), "{part}");
    let part = ["landscape", "ledger", "--operation", "one", "--limit", "1", "-o", "name"];
    assert_eq!(landscape.prints(&part).lines().count(), 1);
    let nobody = landscape.prints(&["rt", "-i", "nobody", "-o", "name"]);
    assert_eq!(nobody, "", "a filter that fits nothing finds nothing");

    let planned = ["upgrade", "cluster", "-t", "instance-id=one", "--yes", "--watch", "-o", "json"];
    landscape.prints(&planned);
    let id = landscape.prints(&["orchestrations", "-o", "name"]);
    let id = id.trim_end();
    let operations = landscape.prints(&["orchestrations", id, "ops", "-o", "name"]);
    let whole = operations.trim_end();
    let shown = landscape.prints(&["o", id, "--operation", &whole[whole.len() - 12..]]);
    assert!(shown.contains(whole), "{shown}");
}

#[test]
fn a_binding_is_printed_in_every_format_and_ended() {
    let landscape = Landscape::start();

    let bound = landscape.prints(&["bind", "--yes", "one", "-o", "json"]);
    let bound: Value = serde_json::from_str(&bound).unwrap();
    assert!(bound["kubeconfig"].as_str().unwrap().contains("clusters:"));
    let binding = bound["binding"].as_str().unwrap();
    let again = landscape.prints(&["bind", "--yes", "one", "--id", binding, "-o", "name"]);
    assert_eq!(again, format!("{binding}\n"));
    let ended = landscape.prints(&["unbind", "one", binding, "--yes", "-o", "json"]);
    let ended: Value = serde_json::from_str(&ended).unwrap();
    assert_eq!((&ended["binding"], &ended["removed"]), (&binding.into(), &true.into()));
    let resumed = landscape.prints(&["resume", "--yes", "one", "-o", "json"]);
    let resumed: Value = serde_json::from_str(&resumed).unwrap();
    assert_eq!(resumed["operation"], Value::Null);
}
