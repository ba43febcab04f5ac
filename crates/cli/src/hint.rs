//! Hints for the next command. On standard error: standard output belongs to the answer.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{
    output::{self, style},
    remote,
};

/// The folder of the command line, for hints.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Keeps what the command line says.
pub(crate) fn keep(data: Option<&Path>) {
    if let Some(data) = data {
        let _ = FOLDER.set(data.to_owned());
    }
}

/// The client's command, wherever it was given.
pub(crate) fn kcp() -> String {
    command(FOLDER.get().map(PathBuf::as_path))
}

/// Prints commands to go on with, one per line.
pub(crate) fn next(data: Option<&Path>, commands: &[String]) {
    let kcp = command(data);
    eprintln!("\nNext:");
    for command in commands {
        let command = with_flags(command, &kcp);
        eprintln!("  {}", output::harmless(&folded(&command, style::width()), "\n"));
    }
}

/// A hint whose own commands have the flags that were given. A name that ends alike is no command.
fn with_flags(command: &str, kcp: &str) -> String {
    let part = |part: &str| match part.strip_prefix("kcp ") {
        Some(rest) => format!("{kcp} {rest}"),
        None => part.to_owned(),
    };
    command.split(" && ").map(part).collect::<Vec<_>>().join(" && ")
}

/// A line of hints that fits the terminal: longer ones go on below, where one command follows another.
fn folded(command: &str, width: Option<usize>) -> String {
    // Hints are indented by two.
    if width.is_none_or(|width| command.chars().count() + 2 <= width) {
        return command.to_owned();
    }
    command.replace(" && ", " &&\n    ")
}

/// The client's command as it finds the same control plane again: with the flags that were given.
pub(crate) fn command(data: Option<&Path>) -> String {
    let (server, context) = remote::chosen();
    let kcp = flagged(data, server.as_deref(), context.as_deref());
    match remote::known_config() {
        Some(file) => format!("{kcp} --config {}", quoted(&file.to_string_lossy())),
        None => kcp,
    }
}

fn flagged(data: Option<&Path>, server: Option<&str>, context: Option<&str>) -> String {
    let folder = data.map(Path::to_string_lossy);
    let flags = [("--data", folder.as_deref()), ("--server", server), ("--context", context)];
    let given = flags.into_iter().filter_map(|(flag, value)| Some((flag, value?)));
    given.fold("kcp".to_owned(), |kcp, (flag, value)| format!("{kcp} {flag} {}", quoted(value)))
}

/// A word as a shell takes it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_whatever_the_folder_is_called() {
        let local = |folder: &str| flagged(Some(Path::new(folder)), None, None);

        assert_eq!(flagged(None, None, None), "kcp");
        assert_eq!(local("/srv/kcp"), "kcp --data /srv/kcp");
        assert_eq!(local("it's here"), r"kcp --data 'it'\''s here'");
    }

    #[test]
    fn only_commands_get_the_flags_whatever_a_runtime_is_called() {
        let kcp = "kcp --data x";

        assert_eq!(
            with_flags("kcp bind my-kcp -o my-kcp.yaml && kubectl --kubeconfig kcp get ns", kcp),
            "kcp --data x bind my-kcp -o my-kcp.yaml && kubectl --kubeconfig kcp get ns"
        );
        assert_eq!(
            with_flags("kcp events 'a kcp ' && kcp status", kcp),
            "kcp --data x events 'a kcp ' && kcp --data x status"
        );
    }

    #[test]
    fn long_lines_go_on_below_where_another_command_follows() {
        let line = "kcp --data x a && kubectl b";

        assert_eq!(folded(line, Some(29)), line);
        assert_eq!(folded(line, Some(28)), "kcp --data x a &&\n    kubectl b");
        assert_eq!(folded(line, None), line);
    }

    #[test]
    fn commands_lead_to_the_same_control_plane_elsewhere() {
        assert_eq!(flagged(None, None, Some("dev")), "kcp --context dev");
        assert_eq!(
            flagged(None, Some("https://kcp.test/"), Some("dev")),
            "kcp --server https://kcp.test/ --context dev"
        );
    }
}
