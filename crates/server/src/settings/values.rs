//! Values as people write them, checked while they are read so that a mistake is named with its place.

use std::{fmt, str::FromStr, time::Duration};

use jiff::{Span, SpanRelativeTo};
use serde::{Deserialize, Deserializer, de::Error};

/// Reads a duration such as `24h`, `90 s` or `1d 6h`. A day is 24 hours.
pub(super) fn friendly<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(input)?;
    let wrong = || D::Error::custom(format!("\"{text}\" is not a duration such as \"24h\""));
    let span: Span = text.parse().map_err(|_| wrong())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    let duration = Duration::try_from(duration).map_err(|_| wrong())?;
    if duration.is_zero() { Err(wrong()) } else { Ok(duration) }
}

/// Reads how long a lease lives: shorter than a second, and it is lost for no reason.
pub(super) fn lease<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    let lease = friendly(input)?;
    if lease < Duration::from_secs(1) {
        return Err(D::Error::custom("a lease must live at least a second"));
    }
    Ok(lease)
}

/// Reads how many times faster steps poll.
pub(super) fn pace<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    let pace = f64::deserialize(input)?;
    if (0.001..=1_000.0).contains(&pace) {
        return Ok(pace);
    }
    Err(D::Error::custom("a pace must be between 0.001 and 1000"))
}

/// A module such as `istio/istio-system`: a component, and the namespace that it is installed in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Module {
    /// The component.
    pub component: String,
    /// Its namespace.
    pub namespace: String,
}

/// A text that is no module.
#[derive(Debug)]
pub struct NoModule(String);

impl fmt::Display for NoModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not a module such as \"istio/istio-system\"", self.0)
    }
}

impl std::error::Error for NoModule {}

impl FromStr for Module {
    type Err = NoModule;

    fn from_str(text: &str) -> Result<Self, NoModule> {
        let named = |text: &str| !text.is_empty() && !text.contains('/');
        match text.trim().split_once('/') {
            Some((component, namespace)) if named(component) && named(namespace) => {
                Ok(Self { component: component.into(), namespace: namespace.into() })
            }
            _ => Err(NoModule(text.into())),
        }
    }
}

impl TryFrom<String> for Module {
    type Error = NoModule;

    fn try_from(text: String) -> Result<Self, NoModule> {
        text.parse()
    }
}

/// Reads which log lines are written.
pub(super) fn log_filter<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    crate::telemetry::filter(&text).map_err(D::Error::custom)?;
    Ok(text)
}
