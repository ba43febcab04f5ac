//! A plan as a table for people, and as JSON for programs.

use std::{fmt::Write as _, time::Duration};

use engine::{
    AtLimit, Shape,
    plan::{OffShape, StageShape, StepShape},
};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::NamedPlan;

/// The columns of [`rows`].
pub const HEAD: [&str; 9] = [
    "Stage",
    "Step",
    "Runs if",
    "May fail for",
    "May wait for",
    "At the limit",
    "Tried again after",
    "Looks again after",
    "One run",
];

/// One row for each step.
pub fn rows(shape: &Shape) -> Vec<[String; 9]> {
    let weighed = shape.stages.iter().flat_map(|stage| &stage.steps).any(|step| step.weight != 1);
    let steps = shape.stages.iter().flat_map(|stage| stage.steps.iter().map(move |it| (stage, it)));
    steps.map(|(stage, step)| row(stage, step, weighed)).collect()
}

fn row(stage: &StageShape, step: &StepShape, weighed: bool) -> [String; 9] {
    let stage = match &step.label {
        Some(label) => format!("{label} (works in {})", stage.name),
        None => stage.name.clone(),
    };
    let name =
        if weighed { format!("{} (weight {})", step.name, step.weight) } else { step.name.clone() };
    let retry = &step.retry;
    let at_limit = match retry.at_limit {
        AtLimit::Fail => "the operation fails",
        AtLimit::Skip => "the step is skipped",
    };
    [
        stage,
        name,
        runs_if(step),
        span(retry.failing_for),
        retry.waiting_for.map_or_else(|| "–".into(), span),
        at_limit.into(),
        interval(retry.back_off, retry.back_off_most),
        interval(retry.poll, retry.poll_most),
        span(retry.deadline),
    ]
}

fn runs_if(step: &StepShape) -> String {
    let configured = step.needs.iter().map(|system| format!("{system} is configured"));
    let all: Vec<String> = step.conditions.iter().cloned().chain(configured).collect();
    if all.is_empty() { "always".into() } else { all.join(", and ") }
}

fn interval(first: Duration, most: Duration) -> String {
    if first >= most { span(most) } else { format!("{} to {}", span(first), span(most)) }
}

/// A duration as settings have it.
pub fn span(duration: Duration) -> String {
    format!("{:#}", SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX))
}

/// Notes below the table: the sum of the budgets beside the limit, and the disabled steps.
pub fn notes(shape: &Shape) -> Vec<String> {
    let (steps, budget, limit) = (shape.steps(), shape.budget(), shape.limit);
    let all = span(budget);
    let sum = if budget > limit {
        format!(
            "{steps} steps that all fail and wait for as long as they may take {all}; the operation's limit of {} comes \
             before that.",
            span(limit)
        )
    } else {
        format!(
            "{steps} steps that all fail and wait for as long as they may take {all}, within the operation's limit of {}.",
            span(limit)
        )
    };
    let off = shape.off.iter().map(|off| match &off.needs {
        Some(system) => format!("{} is switched off: {system} is not configured.", off.step),
        None => format!("{} is switched off.", off.step),
    });
    std::iter::once(sum).chain(off).collect()
}

/// The plan as a table in Markdown.
pub fn markdown(plan: &NamedPlan) -> String {
    let shape = &plan.shape;
    let mut text = format!("| {} |\n|{}\n", HEAD.join(" | "), "---|".repeat(HEAD.len()));
    for row in rows(shape) {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    for note in notes(shape) {
        let _ = writeln!(text, "\n{note}");
    }
    text
}

/// The plan for programs; durations are written as settings have them.
pub fn json(plan: &NamedPlan) -> Value {
    let shape = &plan.shape;
    let stages = shape.stages.iter().map(|stage| {
        let steps: Vec<Value> = stage.steps.iter().map(step).collect();
        json!({ "name": stage.name, "steps": steps })
    });
    let off = shape.off.iter().map(|off| {
        let OffShape { stage, step, needs } = off;
        json!({ "stage": stage, "step": step, "needs": needs })
    });
    json!({
        "name": plan.name,
        "service": plan.service.as_str(),
        "kind": shape.kind,
        "about": plan.about,
        "limit": span(shape.limit),
        "budget": span(shape.budget()),
        "stages": stages.collect::<Vec<_>>(),
        "off": off.collect::<Vec<_>>(),
    })
}

fn step(step: &StepShape) -> Value {
    let retry = &step.retry;
    json!({
        "name": step.name,
        "shown_in": step.label,
        "weight": step.weight,
        "runs_if": step.conditions,
        "needs": step.needs,
        "calls": step.calls,
        "failing_for": span(retry.failing_for),
        "waiting_for": retry.waiting_for.map(span),
        "at_limit": match retry.at_limit { AtLimit::Fail => "fail", AtLimit::Skip => "skip" },
        "back_off": { "first": span(retry.back_off), "most": span(retry.back_off_most) },
        "poll": { "first": span(retry.poll), "most": span(retry.poll_most) },
        "one_run": span(retry.deadline),
        "budget": span(retry.budget()),
    })
}
