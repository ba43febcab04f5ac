//! The program on a terminal: `script` of util-linux makes one.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

/// What a terminal showed, and the exit code.
pub(crate) struct TerminalOutput {
    pub(crate) text: String,
    pub(crate) code: Option<i32>,
}

/// Runs the program on a terminal of this width, with `typed` as what is typed.
pub(crate) fn on_terminal(data: &Path, width: u16, words: &[&str], typed: &str) -> TerminalOutput {
    on_terminal_with(data, width, words, typed, None)
}

/// The same with this value of `NO_COLOR`.
pub(crate) fn on_terminal_with(
    data: &Path,
    width: u16,
    words: &[&str],
    typed: &str,
    no_color: Option<&str>,
) -> TerminalOutput {
    let mut terminal = spawn(data, width, words, no_color);
    terminal.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = terminal.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    TerminalOutput { text, code: output.status.code() }
}

/// The same with Ctrl-C, pressed when this is shown.
pub(crate) fn interrupted_on_terminal(
    data: &Path,
    width: u16,
    words: &[&str],
    seen: &str,
) -> TerminalOutput {
    let mut terminal = spawn(data, width, words, None);
    let mut typed = terminal.stdin.take().unwrap();
    let mut screen = terminal.stdout.take().unwrap();
    let (mut shown, mut bytes) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&shown).contains(seen) {
        let count = screen.read(&mut bytes).unwrap();
        assert_ne!(count, 0, "{seen} is not in {}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(&bytes[..count]);
    }
    typed.write_all(b"\x03").unwrap();
    screen.read_to_end(&mut shown).unwrap();
    let code = terminal.wait().unwrap().code();
    let text = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    TerminalOutput { text, code }
}

fn spawn(data: &Path, width: u16, words: &[&str], no_color: Option<&str>) -> Child {
    let home = data.join("home");
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let kcp = quoted(env!("CARGO_BIN_EXE_kcp"));
    let data = quoted(data.to_str().unwrap());
    let line =
        format!("stty rows 50 cols {width} -echo; exec {kcp} --data {data} {}", words.join(" "));
    let mut terminal = Command::new("script");
    if let Some(value) = no_color {
        terminal.env("NO_COLOR", value);
    } else {
        terminal.env_remove("NO_COLOR");
    }
    terminal
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .env_remove("COLUMNS")
        .env_remove("KCP_CONTEXT")
        .env("KCP_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a terminal needs `script` of util-linux")
}
