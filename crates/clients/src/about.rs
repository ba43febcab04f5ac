//! What each outside system is to us, as a value: the table in the documents is printed from it.

/// One outside system in a few sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its name, the same as its [`crate::Component`].
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// The settings: the variable, and what it holds.
    pub settings: &'static [(&'static str, &'static str)],
    /// What is called when.
    pub called: &'static str,
    /// What happens while it is down.
    pub when_down: &'static str,
}

#[cfg(test)]
mod tests {
    use crate::{avs, edp, ias, lms, spc};

    #[test]
    fn every_system_has_a_name_a_purpose_and_settings_of_its_own() {
        let all = [avs::ABOUT, edp::ABOUT, ias::ABOUT, lms::ABOUT, spc::ABOUT];
        let mut variables: Vec<_> =
            all.iter().flat_map(|about| about.settings).map(|(variable, _)| variable).collect();

        let before = variables.len();
        variables.sort_unstable();
        variables.dedup();

        assert_eq!(variables.len(), before);
        assert!(variables.iter().all(|variable| variable.starts_with("KCP_")));
        for about in all {
            let sentences = [about.purpose, about.called, about.when_down];
            assert!(sentences.iter().all(|text| !text.is_empty() && !text.contains("  ")));
        }
    }
}
