//! Whether what came is what the page shows: ids, times and counts differ, everything else does not.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

/// Ids of the page, and what they are in this run.
pub(crate) type Ids = BTreeMap<String, String>;

/// Compares an answer with the one on the page, and learns which id is which.
pub(crate) fn same_answer(shown: &Value, came: &Value, ids: &mut Ids) -> Result<(), String> {
    match (shown, came) {
        (Value::Object(shown), Value::Object(came)) => {
            let names = |object: &serde_json::Map<String, Value>| -> Vec<String> {
                object.keys().cloned().collect()
            };
            if names(shown) != names(came) {
                return Err(format!("fields {:?} instead of {:?}", names(came), names(shown)));
            }
            for (name, shown) in shown {
                let inside = |error| format!("{name}: {error}");
                same_answer(shown, &came[name], ids).map_err(inside)?;
            }
            Ok(())
        }
        (Value::Array(shown), Value::Array(came)) if shown.len() == came.len() => {
            shown.iter().zip(came).try_for_each(|(shown, came)| same_answer(shown, came, ids))
        }
        (Value::String(shown), Value::String(came)) if is_id(shown) && is_id(came) => {
            ids.insert(shown.clone(), came.clone());
            Ok(())
        }
        (shown, came) if shown == came => Ok(()),
        (shown, came) => Err(format!("{came} instead of {shown}")),
    }
}

/// Whether the lines of a session are among those that came, in that order. `…` stands for anything.
pub(crate) fn same_lines(shown: &str, came: &str, ids: &mut Ids) -> Result<(), String> {
    let mut left = came.lines();
    for line in shown.lines().filter(|line| !line.trim().is_empty() && line.trim() != "…") {
        let found = left.by_ref().find(|came| same_line(line, came));
        let Some(found) = found else { return Err(format!("no line like {line:?}")) };
        for (shown, came) in line.split_whitespace().zip(found.split_whitespace()) {
            if is_id(shown) && is_id(came) {
                ids.insert(shown.into(), came.into());
            }
        }
    }
    Ok(())
}

fn same_line(shown: &str, came: &str) -> bool {
    let came = skeleton(came);
    let shown = skeleton(shown);
    let mut rest = came.as_str();
    let mut first = true;
    for part in shown.split('…') {
        let part = part.trim();
        let Some(at) = rest.find(part) else { return false };
        if first && at != 0 {
            return false;
        }
        first = false;
        rest = &rest[at + part.len()..];
    }
    shown.ends_with('…') || rest.is_empty()
}

/// A line without what differs from run to run: ids, numbers and their units.
fn skeleton(line: &str) -> String {
    let word = |word: &str| match word {
        _ if word.contains(|letter: char| letter.is_ascii_digit()) => "#".to_owned(),
        "ms" | "s" | "m" | "h" => "#".to_owned(),
        _ => word.to_owned(),
    };
    let mut words: Vec<String> = line.split_whitespace().map(word).collect();
    words.dedup_by(|next, before| next == "#" && before == "#");
    words.join(" ")
}

pub(crate) fn is_id(text: &str) -> bool {
    Uuid::try_parse(text).is_ok()
}
