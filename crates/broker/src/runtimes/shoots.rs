//! Which Shoots are asked for: by their names, or by patterns.
//!
//! What a reader would get wrong: patterns are regular expressions that must fit the whole name, several of them are joined
//! with `|`. They run in time that is linear in the name, whatever they say; back references and looking around are not
//! understood.

use regex::{Regex, RegexBuilder};

use crate::instances::Error;

/// How long all patterns of a request may be together.
const LONGEST: usize = 1_000;
/// How much memory a compiled pattern may take, in bytes.
const LARGEST: usize = 1 << 20;
/// How many prefixes are looked up: each of them is a statement.
const MOST_PREFIXES: usize = 20;

/// Names or a pattern.
#[derive(Debug)]
pub(super) enum Shoots {
    /// These; none: all.
    Named(Vec<String>),
    /// Names that match entirely. Each begins with one of these letters; none: they are not known.
    Fitting(Regex, Vec<String>),
}

impl Shoots {
    /// Reads the request.
    pub(super) fn read(values: &[String]) -> Result<Self, Error> {
        let is_name =
            |value: &String| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if values.iter().all(is_name) {
            return Ok(Self::Named(values.to_vec()));
        }
        let joined = values.join("|");
        if joined.len() > LONGEST {
            return Err(Error::Bad(format!("shoot has patterns of more than {LONGEST} bytes")));
        }
        let pattern = RegexBuilder::new(&format!("^(?:{joined})$"))
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build();
        // The error has several lines; the last one says what is wrong.
        pattern.map(|pattern| Self::Fitting(pattern, prefixes(values))).map_err(|error| {
            let said = error.to_string();
            let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Error::Bad(format!("shoot \"{joined}\" is not a regular expression: {why}"))
        })
    }
}

/// The letters that fitting names begin with, for each pattern; none where one of them is not known.
fn prefixes(values: &[String]) -> Vec<String> {
    // A flag of one pattern holds for those behind it.
    if values.len() > MOST_PREFIXES || values.iter().any(|value| value.contains("(?")) {
        return Vec::new();
    }
    let mut all: Vec<String> =
        values.iter().map(|value| prefix(value)).collect::<Option<_>>().unwrap_or_default();
    all.sort_unstable();
    all.dedup();
    all
}

/// The letters that every name begins with which fits a pattern; none for fewer than three.
fn prefix(pattern: &str) -> Option<String> {
    let is_letter = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '-';
    let mut letters: String = pattern.chars().take_while(is_letter).collect();
    if pattern[letters.len()..].starts_with(['*', '?', '{']) {
        // The last one may be missing.
        letters.pop();
    }
    (letters.len() >= 3 && !pattern.contains('|')).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Result<Shoots, Error> {
        Shoots::read(&values.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_pattern_has_to_fit_the_whole_name_and_several_mean_any_of_them() {
        let Shoots::Fitting(pattern, prefixes) = read(&["c-1.*", "ab|cd", "exact"]).unwrap() else {
            panic!("these are no names")
        };
        assert!(prefixes.is_empty());

        for fits in ["c-1", "c-123", "ab", "cd", "exact"] {
            assert!(pattern.is_match(fits), "{fits}");
        }
        for does_not in ["xc-1", "abc", "acd", "exactly", "", "ab\n"] {
            assert!(!pattern.is_match(does_not), "{does_not}");
        }
    }

    #[test]
    fn the_letters_that_fitting_names_begin_with_are_known_where_there_is_no_choice() {
        let known = |patterns: &[&str]| match read(patterns).unwrap() {
            Shoots::Fitting(_, prefixes) => prefixes,
            Shoots::Named(_) => panic!("{patterns:?} are names"),
        };

        assert_eq!(known(&["c-12.*"]), ["c-12"]);
        assert_eq!(known(&["c-12+"]), ["c-12"]);
        for (pattern, prefix) in [("c-12*", "c-1"), ("c-12?3", "c-1"), ("c-12{0,3}", "c-1")] {
            assert_eq!(known(&[pattern]), [prefix], "{pattern}");
        }
        for open in [".*12", "c-.*", "c-123.*|d", "(?i)c-123.*", "[c]-123", "^c-123.*"] {
            assert_eq!(known(&[open]), [""; 0], "{open}");
        }
        assert_eq!(known(&["c-34.*", "c-12.*", "c-12[a]", "exact"]), ["c-12", "c-34", "exact"]);
        for open in [["c-12.*", ".*"], ["c-12.*", "c-"], ["c-12(?i)", "c-34.*"]] {
            assert_eq!(known(&open), [""; 0], "{open:?}");
        }
    }

    #[test]
    fn names_are_looked_up_and_not_matched() {
        assert!(
            matches!(read(&["c-1234567", ""]).unwrap(), Shoots::Named(names) if names.len() == 2)
        );
        assert!(matches!(read(&[]).unwrap(), Shoots::Named(names) if names.is_empty()));
    }

    #[test]
    fn patterns_that_are_wrong_or_too_large_are_refused_with_the_reason() {
        let refused = |pattern: &str| read(&[pattern]).unwrap_err().to_string();

        assert!(refused("c-(").contains("unclosed group"), "{}", refused("c-("));
        assert!(refused("(a)\\1").contains("backreference"), "{}", refused("(a)\\1"));
        assert!(refused("(?:(?:(?:a{99}){99}){99}){99}").contains("size limit"));
        assert!(refused(&"a.".repeat(501)).contains("more than 1000 bytes"));
    }
}
