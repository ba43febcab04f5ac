//! The terminal: how wide it is, and whether it has colours.

use std::{
    env,
    io::{IsTerminal as _, stdout},
};

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const DIM: &str = "2";

/// How wide tables may be; without a terminal as wide as `COLUMNS` says, if it is exported.
pub(crate) fn width() -> Option<usize> {
    if stdout().is_terminal()
        && let Some((width, _)) = terminal_size::terminal_size()
    {
        return Some(usize::from(width.0));
    }
    env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

/// Whether standard output is a terminal that can be drawn on.
pub(crate) fn is_live() -> bool {
    stdout().is_terminal() && env::var("TERM").is_ok_and(|term| term != "dumb")
}

fn has_colours() -> bool {
    is_live() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn coloured(text: &str, colour: &str) -> String {
    if has_colours() { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// A state in its colour.
pub(crate) fn state(text: &str) -> String {
    let colour = match text.trim() {
        "succeeded" | "done" | "ready" | "healthy" | "✓" => GREEN,
        word if word.starts_with("failed") || word.starts_with("error") || word == "✗" => RED,
        "down" | "panicked" | "given up" => RED,
        "in progress" | "pending" | "waits" | "retrying" | "⏳" | "troubled" => YELLOW,
        _ => return text.to_owned(),
    };
    coloured(text, colour)
}

/// Less important.
pub(crate) fn dim(text: &str) -> String {
    coloured(text, DIM)
}
