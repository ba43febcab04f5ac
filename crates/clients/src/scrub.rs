//! Takes credentials that are not tokens out of what the other side says.
//!
//! Tokens are cut where the answer is read. Passwords and keys that go out in other headers or in bodies are cut here.

use base64::{Engine, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretString};

use crate::error::Error;

/// Cutting shorter parts would take texts apart.
const SHORTEST: usize = 4;
/// A word of a longer text that is at least so long may be a secret of its own: a token in a kubeconfig.
const LONG_WORD: usize = 12;

/// Secrets that must not be repeated.
#[derive(Debug, Clone)]
pub(crate) struct Scrub(Vec<SecretString>);

impl Scrub {
    /// One secret.
    pub(crate) fn secret(secret: &SecretString) -> Self {
        Self(vec![secret.clone()])
    }

    /// A password, also as it stands in a Basic header.
    pub(crate) fn basic(user: &str, password: &SecretString) -> Self {
        let pair = format!("{user}:{}", password.expose_secret());
        Self(vec![password.clone(), BASE64_STANDARD.encode(pair).into()])
    }

    /// Values that are written somewhere: as they are, as Kubernetes takes them, and their longer words, because an error
    /// about a value may repeat a line of it only.
    pub(crate) fn values<'a>(values: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut all = Vec::new();
        for value in values {
            let text = value.expose_secret();
            all.extend([text.into(), BASE64_STANDARD.encode(text).into()]);
            let apart = |c: char| c.is_whitespace() || "\"',{}[]".contains(c);
            let words = text.split(apart).filter(|word| word.len() >= LONG_WORD && *word != text);
            all.extend(words.map(SecretString::from));
        }
        Self(all)
    }

    /// The failure without the secrets in what the other side said about it.
    pub(crate) fn clean(&self, mut error: Error) -> Error {
        if let Some(said) = &mut error.said {
            for secret in &self.0 {
                cut(said, secret.expose_secret());
            }
        }
        error
    }
}

fn cut(text: &mut String, secret: &str) {
    if secret.len() < SHORTEST {
        return;
    }
    *text = text.replace(secret, "[REDACTED]");
    // A long text was shortened before it came here, perhaps in the middle of the secret.
    let beginning = text.trim_end_matches(" … (cut)").to_owned();
    let part = (SHORTEST..secret.len())
        .rev()
        .filter_map(|end| secret.get(..end))
        .find(|part| beginning.ends_with(part));
    if let Some(part) = part {
        let kept = beginning.len() - part.len();
        *text = format!("{}[REDACTED]", &beginning[..kept]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Component, Kind};

    fn cleaned(said: String) -> String {
        let scrub = Scrub::basic("kcp", &"hunter2 &".to_owned().into());
        let error = Error::new(Component("ias"), Kind::Unauthorized, "trying").saying(said);
        scrub.clean(error).said.unwrap()
    }

    #[test]
    fn a_password_is_cut_as_it_is_and_as_it_was_sent() {
        let header = BASE64_STANDARD.encode("kcp:hunter2 &");

        assert_eq!(
            cleaned(format!("no hunter2 & and no {header}")),
            "no [REDACTED] and no [REDACTED]"
        );
    }

    #[test]
    fn a_value_is_cut_as_it_is_as_it_was_written_and_in_its_longer_words() {
        let value: SecretString = "user: {token: \"t0ken-of-a-runtime\"}\n".to_owned().into();
        let encoded = BASE64_STANDARD.encode(value.expose_secret());
        let said = format!("no {} nor {encoded} nor t0ken-of-a-runtime", value.expose_secret());
        let error = Error::new(Component("ias"), Kind::Unauthorized, "trying").saying(said);

        let cleaned = Scrub::values([&value]).clean(error).said.unwrap();

        assert_eq!(cleaned, "no [REDACTED] nor [REDACTED] nor [REDACTED]");
    }

    #[test]
    fn a_password_that_was_shortened_with_its_text_is_cut_too() {
        let text = format!("{}hunter2 & and more", "x".repeat(1_983));

        assert!(!cleaned(text).contains("hunt"));
    }
}
