//! Durations as Go reads and writes them.

/// Nanoseconds of each unit; longer names first, so that `ms` is not read as `m`.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("h", 3_600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
];
const SECOND: i128 = 1_000_000_000;

/// The nanoseconds of a duration such as `1h30m`, `-40s` or `1.5s`.
pub(in crate::garden) fn nanoseconds(written: &str) -> Option<i128> {
    let (sign, mut rest) = match written.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, written.strip_prefix('+').unwrap_or(written)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, behind) = rest.split_at(end);
        let (unit, worth) = UNITS.iter().find(|(unit, _)| behind.starts_with(unit))?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && part.is_empty() || part.len() > 12 || whole.len() > 18 {
            return None;
        }
        let scale = 10_i128.pow(u32::try_from(part.len()).ok()?);
        let digits: i128 = format!("{whole}{part}").parse().ok()?;
        total = total.checked_add(digits.checked_mul(*worth)? / scale)?;
        rest = &behind[unit.len()..];
    }
    let total = sign * total;
    (!written.is_empty() && written != "-" && written != "+" && i64::try_from(total).is_ok())
        .then_some(total)
}

/// The seconds of a duration, with their part of a second.
pub(in crate::garden) fn seconds(written: &str) -> Option<f64> {
    // Durations in Shoots are far below 2^53 nanoseconds, but for nonsense, which needs no precision.
    #[expect(clippy::cast_precision_loss, reason = "limits are whole seconds")]
    nanoseconds(written).map(|nanoseconds| nanoseconds as f64 / SECOND as f64)
}

/// The same duration in Go's form: `1h` is `1h0m0s`.
pub(in crate::garden) fn normal(written: &str) -> Option<String> {
    let total = nanoseconds(written)?;
    let sign = if total < 0 { "-" } else { "" };
    let total = total.abs();
    if total != 0 && total < SECOND {
        let (unit, worth) = match total {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            _ => ("ms", 1_000_000),
        };
        return Some(format!("{sign}{}{unit}", decimal(total, worth)));
    }
    let (hours, minutes) = (total / (3_600 * SECOND), total / (60 * SECOND) % 60);
    let rest = decimal(total % (60 * SECOND), SECOND);
    Some(match (hours, minutes) {
        (0, 0) => format!("{sign}{rest}s"),
        (0, minutes) => format!("{sign}{minutes}m{rest}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{rest}s"),
    })
}

/// A number of units, without noughts at its end.
fn decimal(total: i128, worth: i128) -> String {
    let (whole, part) = (total / worth, total % worth);
    if part == 0 {
        return whole.to_string();
    }
    let width = worth.to_string().len() - 1;
    format!("{whole}.{part:0width$}").trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_writes_them() {
        for (written, expected) in [
            ("1h", Some("1h0m0s")),
            ("90m", Some("1h30m0s")),
            ("40s", Some("40s")),
            ("0s", Some("0s")),
            ("0", Some("0s")),
            ("2m", Some("2m0s")),
            ("-1m", Some("-1m0s")),
            ("1.5s", Some("1.5s")),
            ("1500ms", Some("1.5s")),
            ("100ms", Some("100ms")),
            ("1.5h", Some("1h30m0s")),
            ("", None),
            ("-", None),
            ("5", None),
            ("1d", None),
            ("foo", None),
            (".s", None),
        ] {
            assert_eq!(normal(written).as_deref(), expected, "{written}");
        }
    }
}
