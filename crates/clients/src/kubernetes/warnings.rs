//! Warnings of an API server: `Warning` headers.

use http::{HeaderMap, header::WARNING};

/// The texts, in order and shortened.
pub(super) fn read(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all(WARNING).into_iter().filter_map(|value| value.to_str().ok());
    texts.filter_map(text).map(base::failure::shortened).collect()
}

/// The text of `299 - "text"`; a date may follow it.
fn text(header: &str) -> Option<String> {
    let (_, quoted) = header.split_once('"')?;
    let (mut text, mut letters) = (String::new(), quoted.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_warnings_are_read_without_code_and_escapes() {
        let mut headers = HeaderMap::new();
        for value in [
            r#"299 - "unknown field \"spec.foo\"""#,
            r#"299 kube "old" "Mon""#,
            "299 -",
            r#"299 - """#,
        ] {
            headers.append(WARNING, value.parse().unwrap());
        }

        assert_eq!(read(&headers), [r#"unknown field "spec.foo""#, "old"]);
    }
}
