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
    /// What is called when, and what happens while it is down.
    pub usage: Usage,
}

/// How a system is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// By the steps of plans that say they call it: the plans know which, and how long each waits.
    Steps,
    /// By such steps, and besides.
    StepsAndMore {
        /// What is called besides, and when.
        called: &'static str,
        /// What happens besides while it is down.
        when_down: &'static str,
    },
    /// By no step of a plan.
    Described {
        /// What is called when.
        called: &'static str,
        /// What happens while it is down.
        when_down: &'static str,
    },
    /// By nothing yet: there is a client, and `kcp check` reaches it.
    Unused,
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
            assert!(!about.purpose.is_empty() && !about.purpose.contains("  "));
        }
    }
}
