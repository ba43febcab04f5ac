//! What a test sees beside what a file has kept of it.

use std::path::Path;

use serde_json::Value;

/// Compares what is seen with what the file has, and panics with the difference. With `KCP_UPDATE_SAMPLES` in the
/// environment the file is written instead; a reader of the change then sees what is different.
pub fn is_as_stored(seen: &Value, file: &Path) {
    let text = format!("{seen:#}\n");
    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        std::fs::write(file, &text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        return;
    }
    let stored = std::fs::read_to_string(file).unwrap_or_default();
    if stored == text {
        return;
    }
    let first = text.lines().zip(stored.lines()).position(|(seen, kept)| seen != kept);
    let at = first.unwrap_or(text.lines().count().min(stored.lines().count()));
    let around = |text: &str| {
        text.lines().skip(at.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n")
    };
    panic!(
        "it differs from {} in line {}: run the test with KCP_UPDATE_SAMPLES=1 to write the file, and read what changed\n\
         seen\n{}\nstored\n{}",
        file.display(),
        at + 1,
        around(&text),
        around(&stored)
    );
}
