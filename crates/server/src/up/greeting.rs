//! The greeting of `kcp up`: the addresses, that nothing is real, and the next commands.
//!
//! What a reader would get wrong: it is read on terminals of 80 columns and kept in log files, so no line is longer and no
//! token is in it. `kcp token` prints one.

use std::{
    ffi::OsString,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{Connection, Speed, landscape::GARDEN_KUBECONFIG};

/// The values of the greeting.
pub(super) struct Greeting<'a> {
    pub(super) connection: &'a Connection,
    pub(super) folder: &'a Path,
    pub(super) speed: Speed,
    /// How many operations an earlier process had not finished.
    pub(super) unfinished: u64,
    /// The port of the last start, where it was another one.
    pub(super) former_port: Option<u16>,
}

/// Prints the greeting.
pub(super) fn print(greeting: &Greeting<'_>) {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    let program = program.filter(|program| !is_in_path(program, std::env::var_os("PATH")));
    // Not `println!`, which panics when nothing can be written.
    let _ = writeln!(std::io::stdout(), "{}", greeting.text(here.as_deref(), program.as_deref()));
}

impl Greeting<'_> {
    /// The text. `program` is the executable where a shell does not find it as `kcp`.
    fn text(&self, here: Option<&Path>, program: Option<&Path>) -> String {
        let Connection { broker, provisioner, landscape, clusters, .. } = self.connection;
        let kubeconfig = quoted(&shortened(&self.folder.join(GARDEN_KUBECONFIG), here));
        let shoots = folded(&format!("kubectl --kubeconfig {kubeconfig}"), "get shoots -A -w");
        let data = shortened(self.folder, here);
        let data = data.display();
        let speed = pace(self.speed);
        let mut text = format!(
            "\
kcp runs: a simulated world, in development mode. No real cluster is touched.

  console      {broker}/
  broker API   {broker}/oauth/v2
  provisioner  {provisioner}/graphql
  landscape    {landscape}/landscape
  clusters     {clusters}/clusters/garden
  data         {data}   (delete it to start over)
  speed        {speed}
"
        );
        if self.unfinished > 0 {
            let operations = if self.unfinished == 1 { "operation" } else { "operations" };
            let _ = write!(
                text,
                "\nCarrying on with {} {operations}: kcp operations\n",
                self.unfinished
            );
        }
        if let Some(port) = self.former_port {
            let _ = write!(
                text,
                "\nWarning: the last start had --port {port}. Runtimes of that time have its\n\
                 addresses in their kubeconfigs: they work with --port {port} only.\n"
            );
        }
        let alias = self.alias(here, program);
        let _ = write!(
            text,
            "
In another terminal, in this folder:
{alias}  kcp tour                                       a guided walk
  kcp provision --plan aws --name demo --watch   order a runtime
  kcp bind demo -o demo.yaml && kubectl --kubeconfig demo.yaml get namespaces
  {shoots}

kcp token prints a token for curl. Ctrl-C stops it; the next start carries on."
        );
        text
    }

    /// What `kcp` has to stand for, so that a shell finds the executable, and the executable this control plane from the present
    /// folder. Nothing where both do anyway.
    fn alias(&self, here: Option<&Path>, program: Option<&Path>) -> String {
        let default = here.and_then(|here| here.join(".kcp").canonicalize().ok());
        let is_default = default.is_some_and(|default| default == self.folder);
        let called = program.map(|program| quoted(&executable(program, here)));
        let command = match (called, is_default) {
            (None, true) => return String::new(),
            (Some(program), true) => program,
            (called, false) => {
                let folder = quoted(&shortened(self.folder, here));
                format!("{} --data {folder}", called.as_deref().unwrap_or("kcp"))
            }
        };
        format!("  alias kcp={}\n", word(&command))
    }
}

/// Whether a shell finds this executable as `kcp`.
fn is_in_path(program: &Path, path: Option<OsString>) -> bool {
    let folders = path.unwrap_or_default();
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join("kcp"));
    // The first one is called, whatever comes behind it.
    let first = found.find(|it| it.is_file()).and_then(|it| it.canonicalize().ok());
    first.is_some_and(|first| first == program)
}

/// How fast the world is, and how to make it faster.
fn pace(speed: Speed) -> String {
    match speed {
        Speed::Max => "max: nothing takes time (--speed 1 is watchable)".into(),
        Speed::Times(factor) if (factor - 1.0).abs() < f64::EPSILON => {
            "1: an order takes about 20 seconds (--speed 10, --speed max)".into()
        }
        Speed::Times(factor) => format!("{factor} times the watchable one (--speed 1)"),
    }
}

/// A path as seen from the present folder.
fn shortened(path: &Path, here: Option<&Path>) -> PathBuf {
    let inside = here.and_then(|here| path.strip_prefix(here).ok());
    inside.filter(|inside| !inside.as_os_str().is_empty()).unwrap_or(path).to_owned()
}

/// The same of an executable. A shell looks for a name without a folder in its path, and not in the present folder.
fn executable(program: &Path, here: Option<&Path>) -> PathBuf {
    let program = shortened(program, here);
    if program.components().count() == 1 { Path::new(".").join(program) } else { program }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    word(&path.display().to_string())
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A command in one line of 80 columns, or in two.
fn folded(begin: &str, end: &str) -> String {
    const WIDEST: usize = 78;
    let is_long = begin.chars().count() + 1 + end.chars().count() > WIDEST;
    format!("{begin}{}{end}", if is_long { " \\\n    " } else { " " })
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    fn greeting(folder: &Path, unfinished: u64) -> String {
        told(folder, unfinished, None)
    }

    fn told(folder: &Path, unfinished: u64, program: Option<&Path>) -> String {
        seen_from(folder.parent().unwrap(), folder, unfinished, program)
    }

    fn seen_from(here: &Path, folder: &Path, unfinished: u64, program: Option<&Path>) -> String {
        let connection = Connection {
            broker: "http://127.0.0.1:8080".into(),
            provisioner: "http://127.0.0.1:8081".into(),
            landscape: "http://127.0.0.1:8082".into(),
            clusters: "https://127.0.0.1:8083".into(),
            token: SecretString::from("hush-token"),
            user: "admin".into(),
            password: SecretString::from("hush-password"),
        };
        let speed = Speed::Times(1.0);
        let former_port = None;
        let greeting = Greeting { connection: &connection, folder, speed, unfinished, former_port };
        let text = greeting.text(Some(here), program);
        // On another port than before, nothing but the warning is new.
        let moved = Greeting { former_port: Some(65_532), ..greeting };
        let moved = moved.text(Some(here), program);
        assert!(moved.contains(MOVED) && moved.replace(MOVED, "") == text, "{moved}");
        text
    }

    const MOVED: &str = "
Warning: the last start had --port 65532. Runtimes of that time have its
addresses in their kubeconfigs: they work with --port 65532 only.
";

    #[test]
    fn the_greeting_has_addresses_and_next_commands_and_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().canonicalize().unwrap().join(".kcp");
        std::fs::create_dir(&data).unwrap();

        let text = greeting(&data, 0);

        for part in ["simulated world", "development mode", "--speed", "8080/\n", "8081/graphql"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(text.contains("  kcp tour ") && text.contains("kcp token"), "{text}");
        assert!(!text.contains("hush") && !text.contains("Carrying on"), "{text}");
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(long, Vec::<&str>::new());
    }

    #[test]
    fn the_greeting_tells_what_is_carried_on_with_and_where_the_data_is() {
        let text = greeting(Path::new("/srv/some data"), 3);

        assert!(text.contains("Carrying on with 3 operations: kcp operations"), "{text}");
        assert!(text.contains("  alias kcp='kcp --data '\\''some data'\\''"), "{text}");
        assert!(greeting(Path::new("/srv/data"), 1).contains("Carrying on with 1 operation: "));
    }

    #[test]
    fn where_a_shell_does_not_find_the_executable_the_greeting_says_how() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let (data, program) = (here.join(".kcp"), here.join("target/release/kcp"));
        std::fs::create_dir(&data).unwrap();

        let text = told(&data, 0, Some(&program));
        let elsewhere = told(&here.join("data"), 0, Some(&program));

        assert!(text.contains("\n  alias kcp=target/release/kcp\n"), "{text}");
        assert!(
            elsewhere.contains("  alias kcp='target/release/kcp --data data'\n"),
            "{elsewhere}"
        );
        assert!(!greeting(&data, 0).contains("alias"));
    }

    #[test]
    fn an_alias_names_an_executable_of_the_present_folder_with_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let data = here.join(".kcp");
        std::fs::create_dir(&data).unwrap();
        let program = here.join("kcp");

        let text = told(&data, 0, Some(&program));
        let elsewhere = told(&here.join("data"), 0, Some(&program));

        // Without the folder a shell would look for it in its path.
        assert!(text.contains("\n  alias kcp=./kcp\n"), "{text}");
        assert!(elsewhere.contains("\n  alias kcp='./kcp --data data'\n"), "{elsewhere}");
    }

    #[test]
    fn an_alias_keeps_a_path_with_a_blank_in_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let data = here.join(".kcp");
        std::fs::create_dir(&data).unwrap();

        let text = told(&data, 0, Some(&here.join("my tools/kcp")));

        // A shell takes the outer quotes away when it reads the alias, and the inner ones when it runs `kcp`.
        assert!(text.contains("\n  alias kcp=''\\''my tools/kcp'\\'''\n"), "{text}");
    }

    #[test]
    fn hints_fit_80_columns_wherever_the_data_is() {
        let folder = format!("/srv/{}/data", "a".repeat(50));

        let program = Some(Path::new("/opt/kcp/bin/kcp"));
        let text = seen_from(Path::new("/home"), Path::new(&folder), 12, program);

        // A path is never broken.
        let breakable = |line: &&str| !line.contains(&"a".repeat(50));
        let long: Vec<&str> =
            text.lines().filter(breakable).filter(|line| line.chars().count() > 80).collect();
        assert_eq!(long, Vec::<&str>::new());
        assert!(text.contains(".yaml \\\n    get shoots -A -w\n"), "{text}");
    }

    #[test]
    fn only_the_first_executable_of_the_path_counts() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [own, other] = ["own", "other"].map(|name| folder.join(name));
        for place in [&own, &other] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("kcp"), "").unwrap();
        }
        let path = |folders: &[&Path]| Some(std::env::join_paths(folders).unwrap());
        let program = own.join("kcp");

        assert!(is_in_path(&program, path(&[&folder, &own, &other])));
        assert!(!is_in_path(&program, path(&[&other, &own])));
        assert!(!is_in_path(&program, path(&[&folder])));
        assert!(!is_in_path(&program, None));
    }
}
