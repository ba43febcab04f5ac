//! What to type next. On standard error: standard output belongs to the answer.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{output, remote};

/// The folder that the command line says, for hints of those who were not told.
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
        let command = command.replace("kcp ", &format!("{kcp} "));
        eprintln!("  {}", output::harmless(&command, ""));
    }
}

/// The client's command as it finds the same control plane again: with the flags that were given.
pub(crate) fn command(data: Option<&Path>) -> String {
    let (server, context) = remote::chosen();
    flagged(data, server.as_deref(), context.as_deref())
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
    fn commands_lead_to_the_same_control_plane_elsewhere() {
        assert_eq!(flagged(None, None, Some("dev")), "kcp --context dev");
        assert_eq!(
            flagged(None, Some("https://kcp.test/"), Some("dev")),
            "kcp --server https://kcp.test/ --context dev"
        );
    }
}
