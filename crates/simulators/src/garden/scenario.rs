//! Scenarios of a Shoot, in one of its annotations.
//!
//! A list separated by commas, such as `slow,fail=ERR_INFRA_QUOTA_EXCEEDED@40`. Words that are not
//! known are left aside.

/// The words that are known.
pub(crate) const WORDS: &[&str] = &[
    "slow",
    "no-seed",
    "fail",
    "error-then-recover",
    "stuck-delete",
    "disappear",
    "flapping",
    "kubeconfig-late",
    "domain-late",
    "hibernation-impossible",
];

/// A trouble that an operation meets when it has come so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The code in `lastErrors`; none if it is empty.
    pub(super) code: String,
    /// At how many percent.
    pub(super) at: i64,
}

/// What shall happen to a Shoot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct Scenario {
    /// Everything takes five times as long.
    pub(super) slow: bool,
    /// No seed is found for it.
    pub(super) no_seed: bool,
    /// Creating and reconciling fail for good.
    pub(super) fail: Option<Trouble>,
    /// Every operation fails once and is then retried.
    pub(super) recover: Option<Trouble>,
    /// Deleting fails, and is retried in vain.
    pub(super) stuck_delete: bool,
    /// It is deleted from outside when it has come so far.
    pub(super) disappear: Option<i64>,
    /// Its conditions come and go.
    pub(super) flapping: bool,
    /// Its addresses are announced only after it was reported ready.
    pub(super) kubeconfig_late: bool,
    /// It has no domain at first.
    pub(super) domain_late: bool,
    /// It may not be hibernated.
    pub(super) hibernation_impossible: bool,
}

impl Scenario {
    /// Reads it.
    pub(super) fn parse(text: &str) -> Self {
        let mut scenario = Self::default();
        for word in text.split(',').map(str::trim) {
            let (name, rest) = match word.split_once(['=', '@']) {
                // The rest of `disappear@50` begins where that of `fail=CODE@50` ends.
                Some((name, rest)) if word[name.len()..].starts_with('@') => {
                    (name, format!("@{rest}"))
                }
                Some((name, rest)) => (name, rest.to_owned()),
                None => (word, String::new()),
            };
            scenario.take(name, &trouble(&rest));
        }
        scenario
    }

    fn take(&mut self, name: &str, trouble: &Trouble) {
        match name {
            "slow" => self.slow = true,
            "no-seed" => self.no_seed = true,
            "fail" => self.fail = Some(trouble.clone()),
            "error-then-recover" => self.recover = Some(trouble.clone()),
            "stuck-delete" => self.stuck_delete = true,
            "disappear" => self.disappear = Some(trouble.at),
            "flapping" => self.flapping = true,
            "kubeconfig-late" => self.kubeconfig_late = true,
            "domain-late" => self.domain_late = true,
            "hibernation-impossible" => self.hibernation_impossible = true,
            _ => {}
        }
    }
}

/// `CODE@40`; half way where it does not say.
fn trouble(text: &str) -> Trouble {
    let (code, at) = text.split_once('@').unwrap_or((text, ""));
    let at = at.trim_end_matches('%').parse().unwrap_or(50);
    Trouble { code: code.to_owned(), at: i64::clamp(at, 0, 99) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_read_and_unknown_ones_are_left_aside() {
        let text = "slow, fail=ERR_INFRA_QUOTA_EXCEEDED@40,disappear@70, what=ever,domain-late";

        let scenario = Scenario::parse(text);

        let trouble = Trouble { code: "ERR_INFRA_QUOTA_EXCEEDED".to_owned(), at: 40 };
        let expected = Scenario {
            slow: true,
            fail: Some(trouble),
            disappear: Some(70),
            domain_late: true,
            ..Scenario::default()
        };
        assert_eq!(scenario, expected);
        assert_eq!(Scenario::parse(""), Scenario::default());
        assert!(WORDS.iter().all(|word| Scenario::parse(word) != Scenario::default()));
        assert_eq!(Scenario::parse("error-then-recover=X").recover.map(|t| t.at), Some(50));
    }
}
