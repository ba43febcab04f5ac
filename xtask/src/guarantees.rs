//! Every test that the list of guarantees names exists, and no promise is listed twice.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result};

use crate::files;

const LIST: &str = "docs/guarantees.md";

/// Fails when the list names a test that no source file has, or a promise twice.
pub(crate) fn check(repository: &Path) -> Result<bool> {
    let list = fs::read_to_string(repository.join(LIST)).context(LIST)?;
    let mut sources = String::new();
    for file in files::list(repository)? {
        if file.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(&file).unwrap_or_default());
        }
    }
    let missing = missing(&list, &sources);
    for test in &missing {
        println!("{LIST} names {test}, which is no test");
    }
    let doubled = doubled(&list);
    for promise in &doubled {
        println!("{LIST} has the promise {promise} more than once");
    }
    println!("{} tests are named in {LIST}", named(&list).len());
    Ok(missing.is_empty() && doubled.is_empty())
}

/// Numbers of promises that two rows have.
fn doubled(list: &str) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let numbers = list.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    let numbers = numbers.filter(|number| number.ends_with(|last: char| last.is_ascii_digit()));
    numbers.filter(|number| !seen.insert(*number)).collect()
}

/// The names of tests in a text: words in backticks that are sentences.
fn named(list: &str) -> BTreeSet<&str> {
    let words = list.split('`').skip(1).step_by(2);
    words.filter(|word| is_sentence(word)).collect()
}

fn is_sentence(word: &str) -> bool {
    word.matches('_').count() >= 3
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Named tests that no source has as a word of its own.
fn missing<'a>(list: &'a str, sources: &str) -> Vec<&'a str> {
    let words: BTreeSet<&str> =
        sources.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    named(list).into_iter().filter(|test| !words.contains(test)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        let list = "| P1 | `p01_it_all_ends` | `PlantedBug` | `p01_is_red_without_it` |";
        let sources = "#[test]\nfn p01_it_all_ends() {}";

        assert_eq!(missing(list, sources), ["p01_is_red_without_it"]);
    }

    #[test]
    fn a_promise_that_is_listed_twice_is_found() {
        let list = "| | Promise |\n|---|---|\n| P1 | one |\n| P2 | two |\n| P1 | three |\n";

        assert_eq!(doubled(list), ["P1"].into());
    }
}
