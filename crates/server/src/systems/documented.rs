//! The table of all outside systems, printed from their descriptions and from the plans.

use std::fmt::Write as _;

use engine::{
    AtLimit,
    plan::{PlanError, StepShape},
};

use super::{ALL, About, Usage};
use crate::plans::{self, NamedPlan, span};

const HEAD: &str = "\
# Outside systems

Printed from the code by `cargo test -p kcp-server` with `KCP_UPDATE_SAMPLES=1`; do not edit it here.

Every system is reached through a gate of its own: a limit for calls at once, a deadline, and a pause after many failures in
a row. Clients never try again by themselves; the operation does, and it remembers. `kcp check` reaches every system that is
configured and says what is wrong. What the plans know is printed from the plans, with their default limits. Where each setting stands in a file is shown by [config/broker.toml](../config/broker.toml) and
[config/provisioner.toml](../config/provisioner.toml).

| System | What it is for |
|---|---|
";

/// A step that calls a system: its plan, its name, and what happens when the system stays down.
fn steps<'a>(system: &str, plans: &'a [NamedPlan]) -> Vec<(&'static str, &'a StepShape)> {
    let of_plan = |plan: &'a NamedPlan| {
        let steps = plan.shape.stages.iter().flat_map(|stage| &stage.steps);
        steps.map(|step| (plan.name, step)).collect::<Vec<_>>()
    };
    let calls = |(_, step): &(&str, &StepShape)| step.calls.iter().any(|one| one == system);
    plans.iter().flat_map(of_plan).filter(calls).collect()
}

/// The calls of a system, and what happens while it is down.
fn usage(about: &About, plans: &[NamedPlan]) -> String {
    let mut text = String::new();
    let steps = steps(about.name, plans);
    if !steps.is_empty() {
        text.push_str("| Plan | Step | While it is down |\n|---|---|---|\n");
    }
    for (plan, step) in &steps {
        let end = match step.retry.at_limit {
            AtLimit::Fail => "fails",
            AtLimit::Skip => "goes on without",
        };
        let limit = span(step.retry.failing_for);
        let _ = writeln!(text, "| {plan} | {} | {end} after {limit} |", step.name);
    }
    let (first, called, when_down) = match about.usage {
        Usage::Steps => return text,
        Usage::StepsAndMore { called, when_down } => ("\nAlso called", called, when_down),
        Usage::Described { called, when_down } => ("Called", called, when_down),
        Usage::Unused => ("Called", "by `kcp check` alone", "nothing else notices"),
    };
    let _ = writeln!(text, "{first}: {called}.\n\nWhile it is down: {when_down}.");
    text
}

/// The whole document.
pub fn table() -> Result<String, PlanError> {
    let plans = plans::all()?;
    let mut text = HEAD.to_owned();
    for About { name, purpose, .. } in ALL {
        let _ = writeln!(text, "| [{name}](#{}) | {purpose} |", name.replace(' ', "-"));
    }
    text.push_str("\n## Calls and settings\n");
    for about in ALL {
        let _ = writeln!(text, "\n### {}\n\n{}", about.name, usage(about, &plans));
        let variables = about.variables();
        if variables.is_empty() {
            text.push_str("No settings.\n");
            continue;
        }
        text.push_str("| Variable | What |\n|---|---|\n");
        for (variable, what) in variables {
            let _ = writeln!(text, "| `{variable}` | {what} |");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_document_is_what_the_code_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/systems.md");
        if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
            std::fs::write(path, table().unwrap()).unwrap();
        }

        let kept = std::fs::read_to_string(path).unwrap_or_default();
        let how = "run this test with KCP_UPDATE_SAMPLES=1 to write docs/systems.md";
        assert_eq!(kept, table().unwrap(), "{how}");
    }

    #[test]
    fn every_setting_of_the_systems_is_in_the_document() {
        let samples = crate::settings::sample();
        let (_, systems) = samples.split_once("\n[systems]\n").unwrap();
        let document = table().unwrap();

        let variables = systems.split("environment variable `").skip(1);
        let variables: Vec<_> = variables.filter_map(|text| text.split('`').next()).collect();
        assert!(variables.len() > 50, "{variables:?}");
        for variable in variables {
            assert!(document.contains(&format!("| `{variable}` | ")), "{variable}");
        }
    }

    #[test]
    fn what_the_plans_know_is_not_described_and_what_they_do_not_know_is() {
        let plans = plans::all().unwrap();
        let all = plans.iter().flat_map(|plan| &plan.shape.stages).flat_map(|stage| &stage.steps);
        let called: BTreeSet<&str> = all.flat_map(|step| &step.calls).map(String::as_str).collect();
        let computed =
            |about: &&About| matches!(about.usage, Usage::Steps | Usage::StepsAndMore { .. });
        let computed: BTreeSet<&str> =
            ALL.iter().filter(computed).map(|about| about.name).collect();

        assert_eq!(computed, called);
    }

    #[test]
    fn no_system_and_no_setting_is_told_of_twice() {
        let names: BTreeSet<_> = ALL.iter().map(|about| about.name).collect();
        let settings: Vec<_> = ALL.iter().flat_map(About::variables).collect();
        let distinct: BTreeSet<_> = settings.iter().map(|(variable, _)| variable).collect();

        assert_eq!(names.len(), ALL.len());
        assert_eq!(distinct.len(), settings.len());
    }
}
