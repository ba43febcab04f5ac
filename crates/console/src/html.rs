//! Text that is safe inside a page.

use std::fmt;

/// Shows a text with everything escaped that means something in HTML.
pub(crate) struct Text<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.to_string().chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_text_contains_becomes_markup() {
        assert_eq!(Text("<a href='x'>&\"").to_string(), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
    }
}
