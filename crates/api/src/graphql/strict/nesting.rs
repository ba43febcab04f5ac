//! How deep the brackets of a document go, found without going down.
//!
//! The parser calls itself for each bracket, and a stack that overflows ends the whole process. So this comes before it
//! and only reads the text: it must see strings and comments exactly where the parser does.

use async_graphql::ServerError;

/// More than any query that the parser would take.
const DEEPEST: usize = 64;

/// Refuses documents whose brackets are nested too deep.
pub(in crate::graphql) fn check(document: &str) -> Result<(), ServerError> {
    let mut rest = document.as_bytes();
    let mut depth = 0_usize;
    while let Some(first) = rest.first() {
        let skipped = match first {
            b'#' => to_line_end(rest),
            b'"' if rest.starts_with(b"\"\"\"") => block_string(rest),
            b'"' => string(rest),
            b'{' | b'[' | b'(' => {
                depth += 1;
                1
            }
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => 1,
        };
        if depth > DEEPEST {
            return Err(ServerError::new("the query is nested too deep", None));
        }
        rest = rest.get(skipped..).unwrap_or_default();
    }
    Ok(())
}

fn to_line_end(text: &[u8]) -> usize {
    text.iter().position(|byte| b"\r\n".contains(byte)).unwrap_or(text.len())
}

/// A string ends at its quote, or at the end of the line, where the parser gives up.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' | b'\r' | b'\n' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// A block string that never ends is, to the parser, an empty string with something behind it.
fn block_string(text: &[u8]) -> usize {
    let mut at = 3;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(b"\\\"\"\"") {
            at += 4;
        } else if rest.starts_with(b"\"\"\"") {
            return at + 3;
        } else {
            at += 1;
        }
    }
    2
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, check};

    fn nested(text: &str, count: usize) -> String {
        text.repeat(count)
    }

    #[test]
    fn brackets_count_as_long_as_they_are_open() {
        assert!(check(&nested("{", DEEPEST)).is_ok());
        assert!(check(&nested("{}[]()", 1_000)).is_ok());
        for open in ["{", "[", "(", "{a(b:["] {
            assert!(check(&nested(open, DEEPEST + 1)).is_err(), "{open}");
        }
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        let many = nested("{[(", 100);

        for quiet in [
            format!("\"{many}\""),
            format!("\"\\\"{many}\""),
            format!("\"\\\\\" \"{many}\""),
            format!("\"\"\"{many}\n\\\"\"\"{many}\"\"\""),
            format!("# {many}"),
            format!("\"\" # \"{many}"),
        ] {
            assert!(check(&quiet).is_ok(), "{quiet}");
        }
    }

    #[test]
    fn brackets_behind_strings_and_comments_count() {
        let many = nested("{[(", 100);

        for loud in [
            format!("\"\"{many}"),
            format!("\"a\\\\\"{many}"),
            format!("\"\"\"a\"\"\"{many}"),
            format!("\"\"\"\\\"\"\" \"\"\"{many}"),
            format!("# \"\n{many}"),
            format!("# \r{many}"),
            format!("\"unfinished\n{many}"),
            format!("\"\"\" \" {many}"),
        ] {
            assert!(check(&loud).is_err(), "{loud}");
        }
    }
}
