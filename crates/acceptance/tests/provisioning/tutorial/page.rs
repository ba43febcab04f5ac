//! The tutorial's page shows files of the repository, and nothing else, as its code.
//!
//! What a reader would get wrong: a mark with words behind the file's name shows the part of it that begins with them, from its
//! comment to where all brackets are closed.

use std::{fmt::Write as _, fs, path::Path};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorials/add-a-step.md");
const MARK: &str = "<!-- code: ";

/// The text that a mark refers to: a whole file, or a part of it.
fn shown(mark: &str) -> String {
    let (file, part) = mark.split_once(' ').unwrap_or((mark, ""));
    let text = fs::read_to_string(Path::new(ROOT).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    if part.is_empty() {
        return text;
    }
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with(part));
    let at = at.unwrap_or_else(|| panic!("{file} has no {part}"));
    // A call whose arguments are on lines of their own begins on the line before.
    let at = if lines[at - 1].ends_with('(') { at - 1 } else { at };
    let is_above = |line: &&&str| ["///", "#["].iter().any(|it| line.trim_start().starts_with(it));
    let above = lines[..at].iter().rev().take_while(is_above).count();
    let mut open = 0;
    let is_closed = |line: &&str| {
        open += line.matches(['(', '{', '[']).count();
        open -= line.matches([')', '}', ']']).count();
        open == 0
    };
    let below = lines[at..].iter().position(is_closed).unwrap();
    let indent = lines[at].len() - lines[at].trim_start().len();
    let part = lines[at - above..=at + below].iter().map(|line| line.get(indent..).unwrap_or(""));
    part.collect::<Vec<_>>().join("\n") + "\n"
}

/// The page with its code as the files have it.
fn printed(page: &str) -> String {
    let mut parts = page.split(MARK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (mark, rest) = part.split_once(" -->\n```rust\n").expect("code stands below its mark");
        let (_, after) = rest.split_once("```\n").expect("code has an end");
        let _ = write!(text, "{MARK}{mark} -->\n```rust\n{}```\n{after}", shown(mark));
    }
    text
}

#[test]
fn the_pages_code_is_what_is_compiled_and_run() {
    let kept = fs::read_to_string(PAGE).unwrap();
    let printed = printed(&kept);

    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        fs::write(PAGE, &printed).unwrap();
    }

    let how =
        "docs/tutorials/add-a-step.md differs: run this test with KCP_UPDATE_SAMPLES=1 to write it";
    assert!(fs::read_to_string(PAGE).unwrap() == printed, "{how}");
    assert_eq!(kept.matches("```rust").count(), kept.matches(MARK).count(), "code without a mark");
}
