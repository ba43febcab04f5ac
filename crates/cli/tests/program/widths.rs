//! Every command that prints something about a control plane, against a running one, on terminals of 80 and 140 columns and in a pipe:
//! what it prints, and that nothing is wider than the terminal. `KCP_UPDATE_SAMPLES=1` writes `widths.txt` anew.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use jiff::SignedDuration;
use regex::Regex;

use crate::support::{KCP, free_ports, start};
use crate::terminal::on_terminal;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/widths.txt");

/// What of an output is always the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Same {
    /// All of it, but for ids, times and numbers.
    All,
    /// The first line: how many follow depends on what went on meanwhile.
    First,
    /// Nothing: which columns have room depends on numbers.
    Nothing,
}
use Same::{All, First, Nothing};

/// Commands, whether what they print may be cut (ids, keys and texts of others are printed whole however wide they are), and what of it
/// is the same each time.
const COMMANDS: &[(&str, bool, Same)] = &[
    ("runtimes", true, All),
    ("runtimes -o wide", false, All),
    ("runtimes -o known", false, All),
    ("runtimes -o name", true, All),
    ("runtimes -o custom=NAME:parameters.name,STATE:{.status.state}", true, All),
    ("operations", true, All),
    ("operations -o wide", false, All),
    ("operations one", false, First),
    ("operations --provisioner", false, First),
    ("status", true, First),
    ("status steps", true, Nothing),
    ("status success", true, Nothing),
    ("events one", true, First),
    ("events verify", true, First),
    ("bindings one", true, All),
    ("leftovers", true, All),
    ("job list", true, Nothing),
    ("job drift --dry-run --watch", false, First),
    ("orchestrations", false, All),
    ("upgrade kyma --target all --preview", true, All),
    ("taskrun --target all --dry-run", true, All),
    ("reconciliations", true, All),
    ("reconciliations -o known", false, All),
    ("reconciliations state -r one", true, First),
    ("catalog", true, All),
    ("steps list", true, First),
    ("steps show provisioning", true, First),
    ("steps show deprovisioning", true, All),
    ("context", true, All),
    ("landscape systems", true, Nothing),
    ("landscape objects edp", true, First),
    ("landscape trouble", true, All),
    ("landscape ledger --tail 5", true, Nothing),
    ("landscape speed", true, All),
    (
        "provision --plan aws --name x --id 5b954fa8-fc34-4164-96e9-49e3b6741278 --dry-run",
        false,
        All,
    ),
    ("update one --param autoScalerMax=9 --dry-run", false, All),
    ("suspend one --dry-run", false, All),
    ("resume one --dry-run", false, All),
    ("deprovision one --dry-run", false, All),
    ("bind one --id next --dry-run", false, All),
    ("unbind one ci --dry-run", false, All),
    ("kubeconfig one", false, First),
];

/// The same for an orchestration that is planned, whose id stands for `PLANNED`, and for trouble; they come last, because nothing else is
/// then as it was.
const LATER: &[(&str, bool, Same)] = &[
    ("orchestrations", true, All),
    ("orchestrations -o wide", false, All),
    ("orchestrations -o known", false, All),
    ("orchestrations -o name", true, All),
    ("orchestrations PLANNED", true, All),
    ("orchestrations PLANNED ops", true, First),
    ("orchestrations PLANNED ops -o wide", false, All),
    ("orchestrations PLANNED progress", true, All),
    ("landscape trouble", true, All),
    ("landscape trouble -o wide", false, All),
];

/// What a command prints to a pipe; it must succeed.
fn prints(data: &Path, words: &str) -> String {
    let mut command = Command::new(KCP);
    command.arg("--data").arg(data).args(words.split(' ')).env("KCP_HOME", data.join("home"));
    command.env_remove("COLUMNS").env_remove("KCP_CONTEXT").stdin(Stdio::null());
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The same on a terminal, with what it says beside the answer, without colours.
fn shows(data: &Path, words: &str, width: u16) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let shown = on_terminal(data, width, &words, "");
    assert_eq!(shown.code, Some(0), "{words:?}: {}", shown.text);
    let colour = Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").unwrap();
    colour.replace_all(&shown.text, "").into_owned()
}

/// A text without what differs from run to run: ids, names that were drawn, times, addresses and numbers. Columns are two blanks apart.
struct Steady(Vec<(Regex, &'static str)>);

impl Steady {
    fn new() -> Self {
        let patterns = [
            (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "ID"),
            (r"https?://[0-9.]+:[0-9]+", "ADDRESS"),
            (r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?", "TIME"),
            (r"\b[a-z]-[0-9a-z]{7}\b|\b[0-9a-f]{7}\b", "SHOOT"),
            (r"\b\d+(\.\d+)? ?(ms|s|m|h|d)\b", "AGE"),
            (r"\b\d+ (running|waiting|failing|queued|due)\b", "N $1"),
            (r"entries \d+ to \d+", "entries N to N"),
            (r"\bzones +[a-z0-9-]+(, [a-z0-9-]+)*", "zones  ZONES"),
            (r"  +", "  "),
        ];
        Self(patterns.map(|(pattern, word)| (Regex::new(pattern).unwrap(), word)).into())
    }

    fn text(&self, text: &str) -> String {
        let replace = |text: String, (pattern, word): &(Regex, &'static str)| {
            pattern.replace_all(&text, *word).into_owned()
        };
        self.0.iter().fold(text.to_owned(), replace)
    }
}

#[test]
fn every_output_fits_its_terminal_and_is_what_the_sample_says() {
    let data = tempfile::tempdir().unwrap();
    let _running = start(&["up", "--speed", "max"], data.path(), free_ports());
    prints(data.path(), "provision --plan aws --name one --watch --yes");
    prints(data.path(), "bind one --id ci -o name --yes");

    let steady = Steady::new();
    let (mut sample, mut wrong, mut planned) = (String::new(), Vec::new(), String::new());
    for (number, (words, cut, same)) in COMMANDS.iter().chain(LATER).enumerate() {
        if number == COMMANDS.len() {
            let month = SignedDuration::from_hours(30 * 24);
            let at = (base::Clock::running().now() + month).to_string();
            let plan = "upgrade cluster -t plan=aws,region=eu-.* --yes -o name --schedule";
            planned = prints(data.path(), &format!("{plan} {at}"));
            // Until then it is pending.
            let state = format!("orchestrations {} -o custom=STATE:state", planned.trim());
            let clock = base::Clock::running();
            loop {
                let shown = prints(data.path(), &state);
                if shown.contains("in progress") {
                    break;
                }
                assert!(clock.monotonic() < Duration::from_secs(120), "it is still {shown}");
            }
            prints(data.path(), "landscape trouble make avs slow --nth 9999 --with delay_ms=1");
        }
        for (name, width) in [("80", Some(80)), ("140", Some(140)), ("pipe", None)] {
            let given = words.replace("PLANNED", planned.trim());
            let text = match width {
                Some(width) => shows(data.path(), &given, width),
                None => prints(data.path(), &given),
            };
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            if let Some(width) = width.filter(|_| *cut)
                && longest > usize::from(width)
            {
                wrong.push(format!("{words}: {longest} of {width}:\n{text}"));
            }
            let text = match same {
                All => text.as_str(),
                First => text.lines().next().unwrap_or_default(),
                Nothing => continue,
            };
            let _ = writeln!(sample, "== {words} [{name}]");
            for line in steady.text(text).lines() {
                let _ = writeln!(sample, "  {}", line.trim_end());
            }
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        fs::write(SAMPLE, &sample).unwrap();
    }
    assert_eq!(sample, fs::read_to_string(SAMPLE).unwrap_or_default());
}

#[test]
fn a_watched_order_is_drawn_in_place_on_a_terminal_and_is_lines_in_a_pipe() {
    let data = tempfile::tempdir().unwrap();
    let _running = start(&["up", "--speed", "5"], data.path(), free_ports());
    let order = |name| ["provision", "--yes", "--plan", "aws", "--name", name, "--watch"];

    let shown = on_terminal(data.path(), 80, &order("one"), "");
    let pipe = prints(data.path(), &order("two").join(" "));

    assert_eq!(shown.code, Some(0), "{}", shown.text);
    // A line goes up and is cleared where the present step was.
    assert!(shown.text.contains("\u{1b}[J"), "{}", shown.text);
    for sign in ["✓", "⏳", "%"] {
        assert!(shown.text.contains(sign), "{sign} is not in {}", shown.text);
    }
    assert!(shown.text.contains("\u{1b}[32m"), "it has colours: {}", shown.text);
    assert!(!pipe.contains('\u{1b}') && pipe.contains(" succeeded after "), "{pipe}");
}

#[test]
fn a_terminal_without_colours_gets_none() {
    let data = tempfile::tempdir().unwrap();
    let _running = start(&["up", "--speed", "max"], data.path(), free_ports());
    prints(data.path(), "provision --plan aws --name one --watch --yes");
    let shown = |colour: Option<&str>| {
        crate::terminal::on_terminal_with(data.path(), 80, &["runtimes"], "", colour).text
    };

    assert!(shown(None).contains("\u{1b}[32msucceeded"), "{}", shown(None));
    assert!(shown(Some("")).contains("\u{1b}[32msucceeded"), "an empty value counts as unset");
    assert!(!shown(Some("1")).contains('\u{1b}'), "{}", shown(Some("1")));
}
