//! How answers look: tables for people, JSON and YAML for programs.

mod format;
mod grid;
mod path;
pub(crate) mod style;

use std::{
    fmt::Write as _,
    io::{self, ErrorKind, Write},
};

use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};
use serde_json::Value;

pub(crate) use format::{Format, Layout, format};
pub(crate) use grid::{Head, cut};

/// Writes to standard output. What others have put into names and texts never controls the terminal.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(harmless(text, "\n\t").as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a text whose parts are harmless already: colours are kept.
pub(crate) fn print_styled(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// A text whose control characters, and those that turn the direction of writing, are shown instead of obeyed, but for
/// those in `kept`. The escapes are those of JSON.
pub(crate) fn harmless(text: &str, kept: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if (c.is_control() || turns(c)) && !kept.contains(c) {
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
        shown
    })
}

/// Writes JSON to standard output.
pub(crate) fn json(value: &Value) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Writes one line of JSON, as programs read what goes on.
pub(crate) fn json_line(value: &Value) -> anyhow::Result<()> {
    print(&format!("{value}\n"))
}

/// Whether nobody reads standard output any more, as with `| head`.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// A table without lines, one row per line where the terminal is wide enough.
pub(crate) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(head);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for row in rows {
        table.add_row(row.iter().map(|cell| harmless(cell, "")));
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A text in lines of at most this width, broken between words; `indent` begins each line but the first. A word is never broken.
pub(crate) fn wrapped(text: &str, width: Option<usize>, indent: &str) -> String {
    let Some(width) = width else { return format!("{text}\n") };
    let begin = text.len() - text.trim_start().len();
    let (mut lines, mut line) = (String::new(), text[..begin].to_owned());
    for (place, word) in text[begin..].split(' ').enumerate() {
        if place > 0 && line.chars().count() + 1 + word.chars().count() > width {
            lines.push_str(&line);
            lines.push('\n');
            line = format!("{indent}{word}");
        } else {
            line.push_str(if place > 0 { " " } else { "" });
            line.push_str(word);
        }
    }
    format!("{lines}{line}\n")
}

/// A table of columns that scripts can rely on: at least six wide, three spaces apart, whatever the terminal.
pub(crate) fn columns(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    const NARROWEST: usize = 6;
    let rows = rows.map(|row| row.iter().map(|cell| harmless(cell, "")).collect());
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let wide = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(NARROWEST)
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(wide).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("   ").trim_end());
        text.push('\n');
    }
    text
}

/// A time, in whole seconds that have passed.
pub(crate) fn time(time: Timestamp) -> String {
    let whole = TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Trunc);
    time.round(whole).unwrap_or(time).to_string()
}

/// How old something is, in its largest unit: `41d`, `6m`.
pub(crate) fn age(from: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(from).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The time between two times.
pub(crate) fn duration(from: Timestamp, to: Timestamp) -> String {
    span(to.duration_since(from))
}

/// A duration as people say it: `12 ms`, `3.4 s`, `1h 2m 5s`.
pub(crate) fn span(took: SignedDuration) -> String {
    const SECOND: SignedDuration = SignedDuration::from_secs(1);
    const MINUTE: SignedDuration = SignedDuration::from_secs(60);
    let took = took.max(SignedDuration::ZERO);
    if took < SECOND {
        return format!("{} ms", took.as_millis());
    }
    if took < MINUTE {
        return format!("{:.1} s", took.as_secs_f64());
    }
    let whole = SignedDuration::from_secs(took.as_secs());
    format!("{whole:#}")
}

/// How long ago, or in how long, seen from `now`.
pub(crate) fn relative(time: Timestamp, now: Timestamp) -> String {
    if time > now {
        return format!("in {}", span(time.duration_since(now)));
    }
    format!("{} ago", span(now.duration_since(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words_and_only_there() {
        let text = "    runs if: the plan is not own_cluster";

        assert_eq!(wrapped(text, None, ""), format!("{text}\n"));
        assert_eq!(
            wrapped(text, Some(24), "      "),
            "    runs if: the plan is\n      not own_cluster\n"
        );
        assert_eq!(
            wrapped("Check_Runtime_Removal twice", Some(8), ""),
            "Check_Runtime_Removal\ntwice\n"
        );
    }

    #[test]
    fn what_others_wrote_does_not_control_the_terminal() {
        let hostile = "a\u{1b}[2J\u{9b}1m\u{202e}b\r\nc\u{7}".to_owned();
        let shown = r"a\u001b[2J\u009b1m\u202eb\u000d\u000ac\u0007";
        let row = || std::iter::once(vec![hostile.clone(), "plain".to_owned()]);

        assert_eq!(harmless(&hostile, ""), shown);
        assert_eq!(harmless("a\n\tb ü 漢", "\n\t"), "a\n\tb ü 漢");
        for text in [columns(vec!["A".into(), "B".into()], row()), table(&["A", "B"], row())] {
            assert_eq!(text.lines().count(), 2, "{text}");
            assert!(text.contains(shown), "{text}");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        }
    }

    #[test]
    fn durations_are_short_to_read() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();

        assert_eq!(duration(noon, noon + SignedDuration::from_millis(12)), "12 ms");
        assert_eq!(duration(noon, noon + SignedDuration::from_millis(1_234)), "1.2 s");
        assert_eq!(duration(noon, noon + SignedDuration::from_secs(3_725)), "1h 2m 5s");
        assert_eq!(age(noon, noon + SignedDuration::from_secs(59)), "59s");
        assert_eq!(age(noon, noon + SignedDuration::from_secs(7_300)), "2h");
        assert_eq!(age(noon, noon + SignedDuration::from_secs(864_000)), "10d");
        assert_eq!(time(noon + SignedDuration::from_millis(1_999)), "2026-01-01T12:00:01Z");
        assert_eq!(relative(noon, noon + SignedDuration::from_secs(90)), "1m 30s ago");
        assert_eq!(relative(noon + SignedDuration::from_secs(7), noon), "in 7.0 s");
    }
}
