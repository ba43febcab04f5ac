//! The executable as people and scripts use it.

use assert_cmd::Command;

fn kcp() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcp"));
    // What the person who runs the tests has configured does not count.
    for name in ["KCP_CONNECTION", "KCP_CONTEXT", "KCP_HOME", "KCPCONFIG", "KCP_KEB_API_URL"] {
        command.env_remove(name);
    }
    command.env_remove("XDG_CONFIG_HOME").env("HOME", "/nonexistent");
    command
}

fn errors(command: &mut Command) -> String {
    let output = command.assert().failure().get_output().clone();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_version_is_told() {
    let output = kcp().arg("--version").assert().success().get_output().clone();

    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("kcp {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn without_a_control_plane_the_way_to_one_is_told() {
    let folder = tempfile::tempdir().unwrap();

    for words in [&["operations"][..], &["runtimes"]] {
        let error = errors(kcp().args(words).current_dir(&folder));
        assert!(
            error.starts_with("Error: no control plane found: ./.kcp/connection.json"),
            "{error}"
        );
        assert!(error.contains("`kcp up`"), "{error}");
    }
}

#[test]
fn a_control_plane_that_does_not_answer_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let connection = serde_json::json!({
        "broker": "http://127.0.0.1:1", "provisioner": "http://127.0.0.1:1", "landscape": "http://127.0.0.1:1",
        "token": "x.eyJleHAiOjk5OTk5OTk5OTl9.x", "user": "admin", "password": "hush",
    });
    std::fs::write(folder.path().join("connection.json"), connection.to_string()).unwrap();

    let error = errors(kcp().arg("--data").arg(folder.path()).arg("operations"));

    assert!(error.contains("nothing answers at http://127.0.0.1:1/"), "{error}");
    assert!(!error.contains("hush"));
}

#[test]
fn settings_are_checked_and_mistakes_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker.toml");
    std::fs::write(&file, "[operations]\nworkerz = 1\n").unwrap();

    let error = errors(kcp().args(["check", "--config"]).arg(&file));
    assert!(
        error.contains("broker.toml") && error.contains("line 2") && error.contains("workerz"),
        "{error}"
    );

    let mut check = kcp();
    check.arg("check").current_dir(&folder);
    check.assert().success().stdout("the settings of the broker are valid\n");
}

#[test]
fn a_service_that_refuses_to_start_leaves_nothing_behind_and_says_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = kcp().args(arguments).current_dir(folder.path()).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let files = || std::fs::read_dir(folder.path()).unwrap().count();

    let (started, said) = run(&["broker"]);
    assert!(!started && said.contains("no way to authenticate"), "{said}");
    assert_eq!(files(), 0);

    let (started, said) = run(&["provisioner"]);
    assert!(!started && said.contains("no way to authenticate"), "{said}");
    assert_eq!(files(), 0);

    std::fs::write(
        folder.path().join("broker.toml"),
        "[access]\nissuers = [\"https://issuer.example.test\"]\n",
    )
    .unwrap();
    let (started, said) = run(&["broker", "--config", "broker.toml"]);
    assert!(!started && said.contains("kcp keys new kcp-broker.key"), "{said}");
    assert_eq!(files(), 1, "no key is made in silence");

    assert!(run(&["keys", "new", "kcp-broker.key"]).0);
    let made = std::fs::metadata(folder.path().join("kcp-broker.key")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&made) & 0o777, 0o600);
    let (again, said) = run(&["keys", "new", "kcp-broker.key"]);
    assert!(!again && said.contains("exists already"), "{said}");
}

#[test]
fn an_import_says_what_it_needs_and_never_repeats_a_password() {
    let unsaid = errors(kcp().args(["import", "keb"]).env_remove("KCP_IMPORT_DATABASE"));
    assert!(unsaid.contains("--database URL, or KCP_IMPORT_DATABASE"), "{unsaid}");

    let unasked = errors(kcp().args([
        "import",
        "provisioner",
        "--apply",
        "--database",
        "postgres://x@localhost/y",
    ]));
    assert!(unasked.contains("nothing was done"), "{unasked}");

    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("postgres://kcp:hush@{free}/keb");
    let closed = errors(kcp().args(["import", "keb", "--database", &url]));
    assert!(closed.contains(&free.to_string()) && !closed.contains("hush"), "{closed}");

    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "too short\n").unwrap();
    let short = errors(kcp().args(["import", "keb", "--database", &url, "--key-file"]).arg(&key));
    assert!(short.contains("9 bytes and not 16, 24 or 32"), "{short}");
}

#[test]
fn the_reference_is_printed_from_the_commands() {
    let printed = kcp().arg("reference").assert().success().get_output().stdout.clone();
    let printed = String::from_utf8(printed).unwrap();
    let page = std::fs::read_to_string("../../docs/cli-reference.md").unwrap();

    assert_eq!(page, printed, "print it again: kcp reference > docs/cli-reference.md");
}

#[test]
fn bash_accepts_the_completion_script() {
    let program = env!("CARGO_BIN_EXE_kcp");
    let check = format!("source <({program} completion bash) && type -t _kcp_with_names");

    let read = std::process::Command::new("bash").args(["-c", &check]).output().unwrap();

    assert_eq!(String::from_utf8_lossy(&read.stdout).trim(), "function", "{read:?}");
}

#[test]
fn bash_asks_the_control_plane_that_the_line_names_for_names_of_runtimes() {
    let script = format!(
        r#"source <({} completion bash)
        kcp() {{ echo NAME; [[ $1 == --data && $3 == runtimes ]] && echo "runtime-of-$2"; }}
        for line in "kcp --data here bind" "kcp --data = here bind"; do
            COMP_WORDS=($line "") COMPREPLY=()
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _kcp_with_names kcp "" bind
            printf '%s\n' "${{COMPREPLY[@]}}" | grep ^runtime-
        done"#,
        env!("CARGO_BIN_EXE_kcp")
    );

    let read = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();

    let told = String::from_utf8_lossy(&read.stdout);
    assert_eq!(told, "runtime-of-here\nruntime-of-here\n", "{read:?}");
}
