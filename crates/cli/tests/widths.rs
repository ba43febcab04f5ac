//! Every command that prints a table, against a running control plane, at 80 and 140 columns and in a pipe: what it begins with, and that
//! nothing is wider than the terminal. `KCP_UPDATE_SAMPLES=1` writes `widths.txt` anew.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::{
    env,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use support::{KCP, free_ports, start};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/widths.txt");

/// Commands, and whether what they print may be cut: ids, keys and texts of others are printed whole however wide they are.
const COMMANDS: &[(&str, bool)] = &[
    ("runtimes", true),
    ("runtimes -o wide", false),
    ("runtimes -o known", false),
    ("runtimes -o name", true),
    ("operations", true),
    ("operations -o wide", false),
    ("operations one", false),
    ("operations --provisioner", false),
    ("status", true),
    ("events one", true),
    ("events verify", true),
    ("bindings one", true),
    ("leftovers", true),
    ("job list", true),
    ("job drift --dry-run --watch", false),
    ("orchestrations", false),
    ("upgrade kyma --target all --preview", false),
    ("taskrun --target all --dry-run", true),
    ("reconciliations", true),
    ("reconciliations -o known", false),
    ("reconciliations state -r one", true),
    ("catalog", true),
    ("plan list", true),
    ("plan show provisioning", false),
    ("context", true),
    ("landscape systems", true),
    ("landscape objects edp", true),
    ("landscape trouble", true),
    ("landscape ledger --tail 5", true),
    ("landscape speed", true),
    ("provision --plan aws --name x --id 5b954fa8-fc34-4164-96e9-49e3b6741278 --dry-run", false),
    ("update one --param autoScalerMax=9 --dry-run", false),
    ("suspend one --dry-run", false),
    ("resume one --dry-run", false),
    ("deprovision one --dry-run", false),
    ("kubeconfig one", false),
    ("unbind one b-1 --dry-run", false),
];

fn prints(data: &Path, words: &str, width: Option<u16>) -> String {
    let mut command = Command::new(KCP);
    command.arg("--data").arg(data).args(words.split(' ')).env("KCP_HOME", data.join("home"));
    command.env_remove("COLUMNS").env_remove("KCP_CONTEXT").stdin(Stdio::null());
    if let Some(width) = width {
        command.env("COLUMNS", width.to_string());
    }
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// What an output begins with, without what differs from run to run.
fn beginning(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let words = first.split_whitespace().map(|word| {
        let differs = word.contains(|c: char| c.is_ascii_digit()) || word.starts_with("http");
        if differs { "…" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_table_fits_its_terminal_and_begins_as_the_sample_says() {
    let data = tempfile::tempdir().unwrap();
    let _running = start(&["up", "--speed", "max"], data.path(), free_ports());
    prints(data.path(), "provision --plan aws --name one --watch", None);
    prints(data.path(), "bind one -o name", None);

    let (mut sample, mut wrong) = (String::new(), Vec::new());
    for (words, cut) in COMMANDS {
        for (name, width) in [("80", Some(80)), ("140", Some(140)), ("pipe", None)] {
            let text = prints(data.path(), words, width);
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            if let Some(width) = width.filter(|_| *cut)
                && longest > usize::from(width)
            {
                wrong.push(format!("{words}: {longest} of {width}:\n{text}"));
            }
            // Which of their columns have room depends on numbers that differ from run to run.
            let differs = ["landscape ledger --tail 5", "landscape systems", "job list"];
            if !differs.contains(words) {
                let _ = writeln!(sample, "{words} [{name}]\n  {}", beginning(&text));
            }
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        fs::write(SAMPLE, &sample).unwrap();
    }
    assert_eq!(sample, fs::read_to_string(SAMPLE).unwrap_or_default());
}
