//! The tutorial's page shows these files, and nothing else, as its code.
//!
//! What a reader would get wrong: a mark with words behind the file's name shows one item of it, from its comment to the
//! closing brace at the beginning of a line.

use std::{fmt::Write as _, fs, path::Path};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorials/add-a-step.md");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/provisioning/tutorial");
const MARK: &str = "<!-- code: ";

/// What a mark asks for: a whole file, or one item of it.
fn shown(mark: &str) -> String {
    let (file, item) = mark.split_once(' ').unwrap_or((mark, ""));
    let text = fs::read_to_string(Path::new(FOLDER).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    if item.is_empty() {
        return text;
    }
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(item));
    let at = at.unwrap_or_else(|| panic!("{file} has no {item}"));
    let is_above = |line: &&&str| line.starts_with("///") || line.starts_with("#[");
    let above = lines[..at].iter().rev().take_while(is_above).count();
    let below = lines[at..].iter().position(|line| *line == "}").unwrap();
    lines[at - above..=at + below].join("\n") + "\n"
}

/// The page with its code as the files have it.
fn printed(page: &str) -> String {
    let mut parts = page.split(MARK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (mark, rest) = part.split_once(" -->\n```rust\n").expect("code stands below its mark");
        let (_, after) = rest.split_once("\n```\n").expect("code has an end");
        let _ = write!(text, "{MARK}{mark} -->\n```rust\n{}```\n{after}", shown(mark));
    }
    text
}

#[test]
fn the_pages_code_is_what_is_compiled_and_run_here() {
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
