//! Whether a call is the one that a rule is about.

/// A call, as far as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    /// The system that is called.
    pub system: &'a str,
    /// The method.
    pub method: &'a str,
    /// The path.
    pub path: &'a str,
    /// The query; empty without one.
    pub query: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// The step that calls, if it says so.
    pub step: Option<&'a str>,
}

impl Incoming<'_> {
    /// Whether the path begins like the pattern. `*` stands for anything, `$` at the end for the end;
    /// a pattern with a `?` looks at the query too.
    pub(super) fn is_at(&self, pattern: &str) -> bool {
        if pattern.contains('?') {
            return fits(pattern, &format!("{}?{}", self.path, self.query));
        }
        fits(pattern, self.path)
    }

    /// Whether the body holds the text.
    pub(super) fn holds(&self, text: &str) -> bool {
        let text = text.as_bytes();
        text.is_empty() || self.body.windows(text.len()).any(|part| part == text)
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if to_the_end && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    !to_the_end || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_beginning_with_stars_and_perhaps_an_end() {
        let table = [
            ("/a", "/a/b", true),
            ("/b", "/a/b", false),
            ("/a$", "/a/b", false),
            ("/a/b$", "/a/b", true),
            ("/*/shoots", "/n/garden/shoots/c-1", true),
            ("/*/shoots$", "/n/garden/shoots/c-1", false),
            ("*/shoots/*$", "/n/garden/shoots/c-1", true),
            ("*/c-1$", "/c-1/x/c-1", true),
            ("/a*a$", "/a", false),
            ("", "/anything", true),
        ];

        for (pattern, path, expected) in table {
            let call =
                Incoming { system: "s", method: "GET", path, query: "", body: b"", step: None };
            assert_eq!(call.is_at(pattern), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_with_a_question_mark_looks_at_the_query_too() {
        let (path, query) = ("/a", "watch=1");
        let call = Incoming { system: "s", method: "GET", path, query, body: b"x\"y", step: None };

        assert!(call.is_at("/a?*watch=1"));
        assert!(!call.is_at("/a?*watch=2"));
        assert!(call.holds("x\"") && call.holds("") && !call.holds("z"));
    }
}
