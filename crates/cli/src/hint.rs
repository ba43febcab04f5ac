//! What to type next. On standard error: standard output belongs to the answer.

use std::path::Path;

use crate::output;

/// Prints commands to go on with, one per line.
pub(crate) fn next(data: Option<&Path>, commands: &[String]) {
    let kcp = command(data);
    eprintln!("\nNext:");
    for command in commands {
        let command = command.replace("kcp ", &format!("{kcp} "));
        eprintln!("  {}", output::harmless(&command, ""));
    }
}

/// The client's command as it finds the same control plane again.
pub(crate) fn command(data: Option<&Path>) -> String {
    data.map_or("kcp".into(), |folder| format!("kcp --data {}", quoted(&folder.to_string_lossy())))
}

/// A word as a shell takes it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
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
        assert_eq!(command(None), "kcp");
        assert_eq!(command(Some(Path::new("/srv/kcp"))), "kcp --data /srv/kcp");
        assert_eq!(command(Some(Path::new("it's here"))), r"kcp --data 'it'\''s here'");
    }
}
