//! `kcp steps`: what operations do, step by step. Needs no running control plane.

use std::{path::PathBuf, process::ExitCode, str::FromStr};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use server::plans::{self, NamedPlan};

use crate::output::{self, Format, Head, Layout, style};

/// Show the plans of operations: stages, steps, conditions and limits.
#[derive(Args)]
#[command(visible_alias = "plan", alias = "plans")]
pub(crate) struct Steps {
    #[command(subcommand)]
    command: Command,
    /// table, wide, json, yaml, name, custom=HEADER:PATH[,…], or markdown.
    #[arg(short, long, value_name = "FORMAT", default_value = "table", global = true)]
    output: Form,
}

#[derive(Subcommand)]
enum Command {
    /// List all plans.
    List,
    /// Show a plan with default settings and every outside system configured.
    Show {
        /// The plan, as `kcp steps list` names it.
        #[arg(value_name = "NAME")]
        name: String,
        /// Show the plan of a service with this settings file.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// How a plan looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// For documents.
    Markdown,
    /// As every other answer.
    Usual(Format),
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "markdown" { Ok(Self::Markdown) } else { text.parse().map(Self::Usual) }
    }
}

const LIST: [&str; 6] = ["NAME", "SERVICE", "STAGES", "STEPS", "LIMIT", "WHAT IT DOES"];
const HEAD: [Head; 6] = [
    Head::Fixed("NAME"),
    Head::Fixed("SERVICE"),
    Head::Fixed("STAGES"),
    Head::Fixed("STEPS"),
    Head::Fixed("LIMIT"),
    Head::Text("WHAT IT DOES"),
];

impl Steps {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::List => list(&plans::all()?, self.output)?,
            Command::Show { name, config } => {
                show(&plans::find(&name, config.as_deref())?, self.output)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(all: &[NamedPlan], form: Form) -> anyhow::Result<()> {
    let rows = all.iter().map(|plan| {
        let NamedPlan { name, service, about, shape } = plan;
        let (stages, steps) = (shape.stages.len().to_string(), shape.steps().to_string());
        let (name, service, about) = (*name, service.as_str(), *about);
        vec![name.into(), service.into(), stages, steps, plans::span(shape.limit), about.into()]
    });
    match form {
        Form::Markdown => {
            let mut text = format!("| {} |\n|{}\n", LIST.join(" | "), "---|".repeat(LIST.len()));
            text.extend(rows.map(|row| format!("| {} |\n", row.join(" | "))));
            output::print(&text)
        }
        Form::Usual(format) => {
            let documents = all.iter().map(|plan| {
                json!({
                    "name": plan.name,
                    "service": plan.service.as_str(),
                    "kind": plan.shape.kind,
                    "stages": plan.shape.stages.len(),
                    "steps": plan.shape.steps(),
                    "about": plan.about,
                    "limit": plans::span(plan.shape.limit),
                })
            });
            let documents: Vec<Value> = documents.collect();
            let rows: Vec<Vec<String>> = rows.collect();
            let layout = Layout { head: &HEAD, name: "/name", empty: "" };
            let row = |item: &Value| {
                let name = item["name"].as_str().unwrap_or_default();
                rows.iter().find(|row| row[0] == name).cloned().unwrap_or_default()
            };
            format.list(&Value::Array(documents.clone()), &documents, &layout, row)
        }
    }
}

fn show(plan: &NamedPlan, form: Form) -> anyhow::Result<()> {
    match form {
        Form::Markdown => output::print(&plans::markdown(plan)),
        Form::Usual(format) => format.show(&plans::json(plan), plan.name, || {
            shown(plan, style::width().filter(|_| format != Format::Wide))
        }),
    }
}

/// A plan as a table, or as a list of its steps where the terminal has no room for all columns.
fn shown(plan: &NamedPlan, width: Option<usize>) -> String {
    let NamedPlan { name, service, about, shape } = plan;
    let title = format!("{name} ({}, kind {}): {about}", service.as_str(), shape.kind);
    let mut text = output::wrapped(&title, width, "") + "\n";
    let rows = plans::rows(shape);
    let head = plans::HEAD.map(str::to_uppercase).to_vec();
    let table = output::columns(head, rows.iter().map(|row| row.to_vec()));
    let fits = |width: usize| table.lines().all(|line| line.chars().count() <= width);
    if width.is_none_or(fits) {
        text.push_str(&table);
    } else {
        let mut stage = "";
        for row in &rows {
            // A stage that has a step of its own name needs no line.
            if row[0] != stage && row[0] != row[1] {
                text.push_str(&output::wrapped(&row[0], width, "  "));
            }
            stage = &row[0];
            text.push_str(&listed(row, width));
        }
    }
    for note in plans::notes(shape) {
        text.push('\n');
        text.push_str(&output::wrapped(&note, width, ""));
    }
    text
}

/// A step with what the columns say about it, in lines of this width.
fn listed(row: &[String; 9], width: Option<usize>) -> String {
    let [_, step, runs_if, failing, waiting, at_limit, retried, polled, run] = row;
    let facts = [
        format!("runs if: {runs_if}"),
        format!("may fail for {failing}, may wait for {waiting}; at the limit {at_limit}"),
        format!("tried again after {retried}, looks again after {polled}, one run {run}"),
    ];
    let facts = facts.map(|fact| output::wrapped(&format!("    {fact}"), width, "      "));
    format!("  {step}\n{}", facts.concat())
}
