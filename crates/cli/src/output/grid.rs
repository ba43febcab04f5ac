//! Tables that fit the terminal: ids and names stay whole, free text is cut at the edge.
//!
//! What a reader would get wrong: without a terminal nothing is cut, however wide it is. Scripts get whole cells.

use super::{harmless, style};

/// The head of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Head {
    /// Always there, never cut.
    Fixed(&'static str),
    /// A state: coloured where there are colours.
    State(&'static str),
    /// Only in wide tables.
    Wide(&'static str),
    /// Free text: cut where the terminal ends, and left out where there is no room for it.
    Text(&'static str),
}

/// Text that has less room than this is left out.
const NARROWEST_TEXT: usize = 12;
const GAP: usize = 2;

impl Head {
    fn word(self) -> &'static str {
        match self {
            Self::Fixed(word) | Self::State(word) | Self::Wide(word) | Self::Text(word) => word,
        }
    }
}

/// The table, in `width` columns if they are limited.
pub(super) fn grid(
    head: &[Head],
    rows: &[Vec<String>],
    wide: bool,
    width: Option<usize>,
) -> String {
    let shown: Vec<usize> =
        (0..head.len()).filter(|column| wide || !matches!(head[*column], Head::Wide(_))).collect();
    let cell = |row: &[String], column: usize| {
        harmless(row.get(column).map(String::as_str).unwrap_or_default(), "")
    };
    let mut widths: Vec<usize> = shown
        .iter()
        .map(|column| {
            let cells = rows.iter().map(|row| cell(row, *column).chars().count());
            cells.chain([head[*column].word().len()]).max().unwrap_or_default()
        })
        .collect();
    if let Some(width) = width.filter(|_| !wide) {
        narrow(&mut widths, &shown, head, width);
    }
    let line = |cells: Vec<String>, coloured: bool| {
        let mut line = String::new();
        for ((text, width), column) in cells.iter().zip(&widths).zip(&shown) {
            if *width == 0 {
                continue;
            }
            let padded = format!("{:<width$}", cut(text, *width));
            let state = coloured && matches!(head[*column], Head::State(_));
            line.push_str(&if state { style::state(&padded) } else { padded });
            line.push_str(&" ".repeat(GAP));
        }
        format!("{}\n", line.trim_end())
    };
    let heads = shown.iter().map(|column| head[*column].word().to_owned()).collect();
    let mut text = line(heads, false);
    for row in rows {
        text.push_str(&line(shown.iter().map(|column| cell(row, *column)).collect(), true));
    }
    text
}

/// Takes room from free text until the table fits; a width of none leaves the column out.
fn narrow(widths: &mut [usize], shown: &[usize], head: &[Head], width: usize) {
    for place in (0..shown.len()).rev() {
        let all: usize = widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum();
        let over = all.saturating_sub(GAP).saturating_sub(width);
        if over > 0 && matches!(head[shown[place]], Head::Text(_)) {
            let left = widths[place].saturating_sub(over);
            widths[place] = if left < NARROWEST_TEXT { 0 } else { left };
        }
    }
}

/// A text of at most so many characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1e15b-0000-7000-8000-000000000001";
    const HEAD: [Head; 5] = [
        Head::Fixed("NAME"),
        Head::Fixed("OPERATION"),
        Head::Wide("STEP"),
        Head::State("STATE"),
        Head::Text("REASON"),
    ];

    fn rows() -> Vec<Vec<String>> {
        let reason = "gardener: listing secretbindings: unavailable (connection refused)";
        vec![
            ["payments-prod", ID, "Check_Runtime", "in progress", reason].map(str::to_owned).into(),
        ]
    }

    #[test]
    fn a_table_fits_its_terminal_and_ids_stay_whole() {
        for width in [60, 80, 100, 140] {
            let text = grid(&HEAD, &rows(), false, Some(width));
            assert!(text.contains(ID), "{text}");
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.max(66), "{longest} of {width}:\n{text}");
        }
        assert!(!grid(&HEAD, &rows(), false, Some(70)).contains("REASON"));
        assert!(
            grid(&HEAD, &rows(), false, Some(100)).contains("gardener: listing secretbindings:…\n")
        );
    }

    #[test]
    fn nothing_is_cut_in_a_pipe_or_when_all_columns_are_wanted() {
        let piped = grid(&HEAD, &rows(), false, None);
        let wide = grid(&HEAD, &rows(), true, Some(80));

        assert!(piped.contains("(connection refused)") && !piped.contains("STEP"), "{piped}");
        assert!(wide.contains("(connection refused)") && wide.contains("Check_Runtime"), "{wide}");
    }
}
