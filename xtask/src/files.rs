//! Looks at every file of the repository: none too long, none with a path of somebody's machine, none with a vague word.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Lines at which a source file is worth a second look.
const LONG: usize = 400;
/// Lines that no source file may exceed.
const TOO_LONG: usize = 450;
/// Folders that are made, not written.
const MADE: [&str; 5] = [".git", ".kcp", "node_modules", "target", "test-results"];
/// Homes of people and of root.
const MACHINE_PATHS: [&str; 3] = ["/home/", "/root/", "/Users/"];
/// The one file that has to spell them out.
const EXEMPT: &str = "xtask/src/files.rs";

/// Words that code and documents do without, each with what to write instead. Tests may use them.
const VAGUE_WORDS: [(&str, &str); 1] =
    [("told", "returned, listed, notified, requested or written")];
/// The documents beside `docs/` and `config/` in which vague words are looked for; CONTRIBUTING.md lists them as such.
const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "README.md"];

/// A problem of a file.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    Warning(String),
    Failure(String),
}

/// Prints what it finds; whether there is no failure. `words` are banned besides machine paths.
pub(crate) fn check(repository: &Path, words: &[&str]) -> Result<bool> {
    let checkout = repository.to_string_lossy();
    let mut banned: Vec<&str> = MACHINE_PATHS.to_vec();
    banned.extend(words);
    // A checkout at the top of the file system has a name that means nothing by itself.
    if checkout.matches('/').count() > 1 {
        banned.push(&checkout);
    }
    let (mut files, mut failures) = (0, 0);
    for path in list(repository)? {
        files += 1;
        let bytes = fs::read(&path).with_context(|| format!("{} is unreadable", path.display()))?;
        // Pictures and fonts have neither lines nor words.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let name = path.strip_prefix(repository).unwrap_or(&path).to_string_lossy();
        for finding in findings(&name, &text, &banned) {
            match finding {
                Finding::Warning(warning) => println!("warning: {warning}"),
                Finding::Failure(failure) => {
                    failures += 1;
                    eprintln!("{failure}");
                }
            }
        }
    }
    println!("{files} files, {failures} to be changed");
    Ok(failures == 0)
}

fn findings(name: &str, text: &str, banned: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    let source = Path::new(name).extension().is_some_and(|extension| extension == "rs");
    if source && lines > TOO_LONG {
        findings
            .push(Finding::Failure(format!("{name} has {lines} lines; {TOO_LONG} is the most")));
    } else if source && lines > LONG {
        findings.push(Finding::Warning(format!("{name} has {lines} lines; {LONG} is an alarm")));
    }
    if name == EXEMPT {
        return findings;
    }
    for (number, line) in text.lines().enumerate() {
        for word in banned.iter().filter(|word| contains(line, word)) {
            findings.push(Finding::Failure(format!("{name}:{} says \"{word}\"", number + 1)));
        }
    }
    if source && !is_test(name) {
        findings.extend(vague_words(name, without_test_modules(text)));
    } else if DOCUMENTS.contains(&name) || name.starts_with("docs/") || name.starts_with("config/")
    {
        findings.extend(vague_words(name, text.lines().enumerate()));
    }
    findings
}

fn is_test(name: &str) -> bool {
    name.ends_with("tests.rs") || name.split('/').any(|folder| folder.ends_with("tests"))
}

/// The numbered lines of a source file outside of `#[cfg(test)]` modules, which end with a brace in the first column.
fn without_test_modules(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut marked, mut inside) = (false, false);
    text.lines().enumerate().filter(move |(_, line)| {
        inside |= marked && line.ends_with('{');
        marked = *line == "#[cfg(test)]";
        let skipped = inside;
        inside &= *line != "}";
        !skipped
    })
}

fn vague_words<'a>(
    name: &str,
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> impl Iterator<Item = Finding> {
    lines.flat_map(move |(number, line)| {
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let vague = words.filter_map(|word| {
            VAGUE_WORDS.iter().find(|(vague, _)| word.eq_ignore_ascii_case(vague))
        });
        let failure = |(vague, instead): &(&str, &str)| {
            Finding::Failure(format!("{name}:{} says \"{vague}\": {instead}", number + 1))
        };
        vague.map(failure).collect::<Vec<_>>()
    })
}

/// Whether `line` has `word`; a path counts only where it begins, not in the middle of another one.
fn contains(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '}');
        !word.starts_with('/') || !before.is_some_and(continues)
    })
}

pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("in {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let made = name.to_str().is_some_and(|name| MADE.contains(&name));
            if kind.is_dir() && !made {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_source_files_are_warned_of_and_very_long_ones_fail() {
        let of = |lines: usize| findings("src/lib.rs", &"line\n".repeat(lines), &[]);

        assert_eq!(of(400), []);
        assert!(matches!(of(401)[..], [Finding::Warning(_)]));
        assert!(matches!(of(451)[..], [Finding::Failure(_)]));
        assert_eq!(findings("page.html", &"line\n".repeat(451), &[]), []);
    }

    #[test]
    fn banned_words_are_named_with_their_line() {
        let found = findings("README.md", "fine\nsee /home/me/notes\n", &["/home/"]);

        assert_eq!(found, [Finding::Failure("README.md:2 says \"/home/\"".into())]);
    }

    #[test]
    fn vague_words_fail_in_code_and_documents_and_not_in_tests_or_names() {
        let of = |name: &str, text: &str| findings(name, text, &[]).len();

        assert_eq!(of("docs/fleet.md", "customers are told\nTold twice\n"), 2);
        assert_eq!(of("docs/fleet.md", "`all_are_told_once`, untold\n"), 0);
        assert_eq!(of("CONTRIBUTING.md", "what is told\n"), 0);
        assert_eq!(of("crates/a/src/lib.rs", "/// How many are told.\n"), 1);
        assert_eq!(of("crates/a/src/lib_tests.rs", "let told = 1;\n"), 0);
        assert_eq!(of("crates/a/tests/it/main.rs", "let told = 1;\n"), 0);
        let tests = "#[cfg(test)]\nmod tests {\n    let told = 1;\n}\n";
        assert_eq!(of("crates/a/src/lib.rs", tests), 0);
        assert_eq!(of("crates/a/src/lib.rs", &format!("{tests}// told\n")), 1);
        let elsewhere = "#[cfg(test)]\nmod tests;\n\nfn told() {\n}\n";
        assert_eq!(of("crates/a/src/lib.rs", elsewhere), 1);
    }

    #[test]
    fn a_path_counts_only_where_it_begins() {
        assert!(contains("run `/root/x`", "/root/"));
        assert!(!contains("crates/root/x", "/root/"));
        assert!(contains("read the ../elsewhere", "../elsewhere"));
    }
}
