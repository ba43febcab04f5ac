//! The known name nearest to a misspelt one.

/// How many letters may be wrong.
const MOST: usize = 2;

/// The known name that differs least from what was written, if it differs little: in capitals, or in a letter or two.
pub(super) fn nearest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Nobody means a name by something much longer.
    let written: Vec<char> = written.to_lowercase().chars().take(64).collect();
    let distances = known.into_iter().map(|name| {
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        (distance(&written, &letters), name)
    });
    let most = MOST.min(written.len() / 2);
    distances.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// How many letters have to be changed, added or taken away.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, compared) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != compared);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keys_is_recognised_and_another_word_is_not() {
        let known = ["name", "machineType", "autoScalerMin", "autoScalerMax", "region"];
        for (written, meant) in [
            ("machinetype", Some("machineType")),
            ("MachineTypes", Some("machineType")),
            ("autoscalermix", Some("autoScalerMax")),
            ("regoin", Some("region")),
            ("nam", Some("name")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
    }
}
