//! Times as the known client takes them.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// `2026/12/31 22:00:00` or `2026/12/31` in UTC, or RFC 3339.
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let plain = text.replace('/', "-");
    let plain = plain.parse::<DateTime>().ok();
    let time = plain.and_then(|it| it.to_zoned(TimeZone::UTC).ok()).map(|it| it.timestamp());
    time.ok_or_else(|| format!("{text} is no time: write 2026/12/31 22:00:00 or 2026/12/31"))
}

/// As the known client shows it.
pub(super) fn known(time: Timestamp) -> String {
    time.strftime("%Y/%m/%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_known_form_and_as_rfc_3339() {
        let read = |text: &str| time(text).map(|it| it.to_string());

        assert_eq!(read("2026/12/31 22:00:05").unwrap(), "2026-12-31T22:00:05Z");
        assert_eq!(read("2026/12/31").unwrap(), "2026-12-31T00:00:00Z");
        assert_eq!(read("2026-12-31T22:00:00+02:00").unwrap(), "2026-12-31T20:00:00Z");
        assert!(read("yesterday").is_err());
        assert_eq!(known(time("2026/12/31 22:00:05").unwrap()), "2026/12/31 22:00:05");
    }
}
