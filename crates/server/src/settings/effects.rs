//! Effects of settings on the parts of a service: printed, and compared with the files beside this one.
//!
//! What a reader would get wrong: the keys come from the settings themselves, so a setting without a row fails the test.
//! A row has another value than usual, or names the test that shows the effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Debug, Write as _},
    path::{Path, PathBuf},
};

use confique::meta::{FieldKind, Meta};

/// The evidence for the effect of a setting.
#[derive(Clone, Copy)]
pub(crate) enum Row {
    /// The parts, when the setting has this value.
    Value(&'static str),
    /// A test of this workspace: the setting is read where a service starts.
    Test(&'static str),
}

/// Every key of the settings, with the sections before it.
pub(crate) fn keys(meta: &'static Meta) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for field in meta.fields {
        match field.kind {
            FieldKind::Leaf { .. } => {
                found.insert(field.name.to_owned());
            }
            FieldKind::Nested { meta } => {
                found.extend(keys(meta).into_iter().map(|key| format!("{}.{key}", field.name)));
            }
        }
    }
    found
}

/// The parts of a service as lines; each line says where it stands.
#[derive(Default)]
pub(crate) struct Picture(BTreeMap<String, usize>);

impl Picture {
    pub(crate) fn add(&mut self, part: &str, value: &impl Debug) {
        let mut place = vec![part.to_owned()];
        for line in format!("{value:#?}").lines() {
            let line = line.trim().trim_end_matches(',');
            let opens = line.ends_with(['{', '(', '[']);
            if line.starts_with(['}', ')', ']']) {
                place.pop();
            } else if opens {
                place.push(line.trim_end_matches([' ', '{', '(', '[']).replace(": ", "."));
            } else if place.last().is_none_or(|last| !last.ends_with("Clock")) {
                // Clocks print the time.
                self.line(format!("{} {line}", place.join(".")));
            }
        }
    }

    /// The picture of settings that are refused.
    pub(crate) fn refused(error: &anyhow::Error) -> Self {
        let mut picture = Self::default();
        picture.line(format!("refused: {error:#}"));
        picture
    }

    fn line(&mut self, line: String) {
        *self.0.entry(line).or_default() += 1;
    }

    /// What is in it and not in the other, and the other way round. Of what is refused only the refusal is listed.
    fn beside(&self, usual: &Self) -> String {
        let mut text = String::new();
        let refused = self.0.keys().any(|line| line.starts_with("refused: "));
        for (line, times) in &usual.0 {
            if !refused && self.0.get(line) < Some(times) {
                let _ = writeln!(text, "  - {line}");
            }
        }
        for (line, times) in &self.0 {
            if usual.0.get(line) < Some(times) {
                let _ = writeln!(text, "  + {line}");
            }
        }
        text
    }
}

/// Compares what every row does with what is stored; `picture` makes the parts of a text of settings.
pub(crate) async fn are_as_stored(
    service: &str,
    keys: &BTreeSet<String>,
    rows: &[(&str, Row)],
    base: &str,
    picture: impl AsyncFn(&str) -> Picture,
) {
    let named: BTreeSet<String> = rows.iter().map(|(key, _)| (*key).to_owned()).collect();
    assert_eq!(*keys, named, "every setting has a row, and no row is of another setting");
    let usual = picture(base).await;
    let again = picture(base).await;
    assert_eq!(again.beside(&usual), "", "the parts are made the same way each time");
    let mut printed = String::new();
    for (key, row) in rows {
        match row {
            Row::Test(name) => {
                assert!(is_a_test(name), "{key}: there is no test {name}");
                let _ = writeln!(printed, "{key}: test {name}");
            }
            Row::Value(value) => {
                let kept = base.lines().filter(|line| !line.starts_with(&format!("{key} =")));
                let kept: Vec<&str> = kept.collect();
                let effect = picture(&format!("{}\n{key} = {value}\n", kept.join("\n")))
                    .await
                    .beside(&usual);
                assert_ne!(effect, "", "{key} = {value} changes nothing");
                let _ = write!(printed, "{key} = {value}\n{effect}");
            }
        }
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/settings/effects/{service}.txt"));
    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let how = "look whether that is meant, and run this test with KCP_UPDATE_SAMPLES=1";
    for (seen, wanted) in printed.lines().zip(stored.lines()) {
        assert_eq!(seen, wanted, "{}: {how}", path.display());
    }
    assert_eq!(printed.lines().count(), stored.lines().count(), "{}: {how}", path.display());
}

fn is_a_test(name: &str) -> bool {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    let wanted = format!("fn {name}(");
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs")
                && std::fs::read_to_string(&path).is_ok_and(|text| text.contains(&wanted))
            {
                return true;
            }
        }
    }
    false
}
