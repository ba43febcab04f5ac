//! Rules for names, and for people.

use std::collections::BTreeSet;

use super::{NEW, must};
use crate::Error;

/// As long as the names of a project and of a Shoot in it may be together: Gardener makes names of both.
const PROJECT_AND_SHOOT: usize = 21;
/// As long as a runtime's name may be in the Director.
const RUNTIME: usize = 36;
/// As long as a part of a domain may be.
const LABEL: usize = 63;

/// A Shoot's name must be short enough for its project.
pub fn shoot_name(name: &str, project: &str) -> Result<(), Error> {
    let longest = PROJECT_AND_SHOOT.saturating_sub(project.len());
    must(
        name.len() <= longest,
        format_args!("{}.name", NEW.cluster),
        format_args!("must have at most {longest} characters in project {project:?}"),
    )
}

/// A Shoot's name in any project.
pub(super) fn shoot_label(name: &str, path: &str) -> Result<(), Error> {
    must(
        is_label(name) && !name.contains("--"),
        path,
        "must be made of lower-case letters, digits and single hyphens inside",
    )?;
    // The shortest name of a project has one letter.
    let longest = PROJECT_AND_SHOOT - 1;
    must(name.len() <= longest, path, format_args!("must have at most {longest} characters"))
}

/// A runtime's name, by the Director's rules.
pub(super) fn runtime_name(name: &str) -> Result<(), Error> {
    let path = "runtimeInput.name";
    must(!name.is_empty(), path, "must not be empty")?;
    must(name.len() <= RUNTIME, path, format_args!("must have at most {RUNTIME} characters"))?;
    must(
        name.split('.').all(is_label),
        path,
        "must be made of lower-case letters, digits, and hyphens and dots inside",
    )?;
    must(!name.starts_with(|c: char| c.is_ascii_digit()), path, "must not begin with a digit")
}

/// A domain, all in lower case.
pub(super) fn domain(domain: &str, path: &str) -> Result<(), Error> {
    let rule = "must be a domain in lower case";
    must(domain.split('.').all(is_label), path, rule)
}

/// Rejects administrators without a name.
pub(super) fn administrators(people: &[String], path: &str) -> Result<(), Error> {
    for (index, person) in people.iter().enumerate() {
        must(!person.trim().is_empty(), format_args!("{path}[{index}]"), "must not be empty")?;
    }
    Ok(())
}

/// Removes duplicates.
pub(super) fn each_once(mut people: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    people.retain(|person| seen.insert(person.clone()));
    people
}

fn is_label(text: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let inside = !text.starts_with('-') && !text.ends_with('-');
    !text.is_empty() && text.len() <= LABEL && inside && text.chars().all(letters)
}
