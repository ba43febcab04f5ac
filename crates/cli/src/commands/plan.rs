//! `kcp plan`: what operations do, step by step. Needs no running control plane.

use std::{fmt::Write as _, path::PathBuf, process::ExitCode, str::FromStr};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use server::plans::{self, Named};

use crate::output::{self, Format, Head, Layout};

/// Show what operations do: stages, steps, conditions and limits.
#[derive(Args)]
#[command(visible_alias = "plans", visible_alias = "steps")]
pub(crate) struct Plan {
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
    /// Show one plan, with its defaults and as if every outside system were configured.
    Show {
        /// The plan, as `kcp plan list` names it.
        #[arg(value_name = "NAME")]
        name: String,
        /// Show it as the service with this settings file follows it.
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

impl Plan {
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

fn list(all: &[Named], form: Form) -> anyhow::Result<()> {
    let rows = all.iter().map(|plan| {
        let Named { name, service, about, shape } = plan;
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
            let told = all.iter().map(|plan| {
                json!({
                    "name": plan.name,
                    "service": plan.service.as_str(),
                    "kind": plan.shape.kind,
                    "about": plan.about,
                    "limit": plans::span(plan.shape.limit),
                })
            });
            let told: Vec<Value> = told.collect();
            let rows: Vec<Vec<String>> = rows.collect();
            let layout = Layout { head: &HEAD, name: "/name", empty: "" };
            let row = |item: &Value| {
                let name = item["name"].as_str().unwrap_or_default();
                rows.iter().find(|row| row[0] == name).cloned().unwrap_or_default()
            };
            format.list(&Value::Array(told.clone()), &told, &layout, row)
        }
    }
}

fn show(plan: &Named, form: Form) -> anyhow::Result<()> {
    match form {
        Form::Markdown => output::print(&plans::markdown(plan)),
        Form::Usual(format) => format.show(&plans::json(plan), plan.name, || {
            let head = plans::HEAD.map(str::to_uppercase);
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            let rows = plans::rows(&plan.shape).into_iter().map(Vec::from);
            let mut text = format!(
                "{} ({}, kind {}): {}\n\n",
                plan.name,
                plan.service.as_str(),
                plan.shape.kind,
                plan.about
            );
            text.push_str(&output::table(&head, rows));
            for note in plans::notes(&plan.shape) {
                let _ = write!(text, "\n{note}\n");
            }
            text
        }),
    }
}
