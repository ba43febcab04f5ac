//! Quantities as Kubernetes writes them: `4`, `500m`, `16Gi`, `100G`.

/// The number behind it, in thousandths so that `500m` is one too.
pub(super) fn thousandths(text: &str) -> Option<u128> {
    const UNITS: [(&str, u128); 11] = [
        ("Ki", 1_024_000),
        ("Mi", 1_024_000 << 10),
        ("Gi", 1_024_000 << 20),
        ("Ti", 1_024_000 << 30),
        ("Pi", 1_024_000 << 40),
        ("m", 1),
        ("k", 1_000_000),
        ("M", 1_000_000_000),
        ("G", 1_000_000_000_000),
        ("T", 1_000_000_000_000_000),
        ("", 1_000),
    ];
    let (number, unit) =
        UNITS.iter().find_map(|(unit, worth)| Some((text.strip_suffix(unit)?, *worth)))?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if part.len() > 6 || !part.chars().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    digits.checked_mul(unit).map(|all| all / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_both_kinds_are_read_and_nonsense_is_not() {
        for (text, expected) in [
            ("4", Some(4_000)),
            ("500m", Some(500)),
            ("1.5", Some(1_500)),
            ("16Gi", Some(16 * 1_024 * 1_024 * 1_024 * 1_000)),
            ("2k", Some(2_000_000)),
            ("", None),
            ("many", None),
            ("-1", None),
        ] {
            assert_eq!(thousandths(text), expected, "{text}");
        }
    }
}
