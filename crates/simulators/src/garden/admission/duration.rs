//! Durations as Go writes them.

/// The seconds of a duration such as `1h30m` or `40s`; parts of a second are left out.
pub(in crate::garden) fn seconds(written: &str) -> Option<i64> {
    let (mut total, mut number) = (0_i64, String::new());
    for letter in written.chars() {
        let unit = match letter {
            '0'..='9' => {
                number.push(letter);
                continue;
            }
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(unit)?)?;
        number.clear();
    }
    (number.is_empty() && !written.is_empty()).then_some(total)
}

/// The same duration in Go's form: `1h` is `1h0m0s`.
pub(in crate::garden) fn normal(written: &str) -> Option<String> {
    let total = seconds(written)?;
    let (hours, minutes, rest) = (total / 3_600, total / 60 % 60, total % 60);
    Some(match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{rest}s"),
    })
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
            ("2m", Some("2m0s")),
            ("", None),
            ("5", None),
            ("1d", None),
            ("100ms", None),
        ] {
            assert_eq!(normal(written).as_deref(), expected, "{written}");
        }
    }
}
