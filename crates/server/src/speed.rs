//! How fast the simulated world is.

use std::{str::FromStr, time::Duration};

/// How fast the simulated world is. Limits are never scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// This many times the watchable default.
    Times(f64),
    /// Without any simulated delay.
    Max,
}

/// Polling needs some interval, even when nothing takes time.
const FASTEST: f64 = 1_000.0;

impl Speed {
    /// A simulated delay at this speed.
    pub fn scaled(self, delay: Duration) -> Duration {
        match self {
            Self::Times(factor) => delay.div_f64(factor),
            Self::Max => Duration::ZERO,
        }
    }

    /// How many times faster steps poll.
    pub fn factor(self) -> f64 {
        match self {
            Self::Times(factor) => factor,
            Self::Max => FASTEST,
        }
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Max);
        }
        match text.parse::<f64>() {
            Ok(factor) if (0.01..=FASTEST).contains(&factor) => Ok(Self::Times(factor)),
            _ => Err(format!("not \"max\" and not a number from 0.01 to {FASTEST}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_sensible_number_or_max() {
        assert_eq!("2.5".parse(), Ok(Speed::Times(2.5)));
        assert_eq!("max".parse(), Ok(Speed::Max));
        for wrong in ["0", "-1", "NaN", "inf", "1e9", "fast", ""] {
            assert!(wrong.parse::<Speed>().is_err(), "{wrong}");
        }
    }
}
