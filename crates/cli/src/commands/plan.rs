//! `kcp plan`: what operations do, step by step. Needs no running control plane.

use std::{fmt::Write as _, path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use server::plans::{self, Named};

use crate::output;

/// Show what operations do: stages, steps, conditions and limits.
#[derive(Args)]
#[command(visible_alias = "plans")]
pub(crate) struct Plan {
    #[command(subcommand)]
    command: Command,
    /// How the answer looks.
    #[arg(short, long, value_enum, default_value_t, global = true)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
    /// For documents.
    Markdown,
}

const LIST: [&str; 6] = ["NAME", "SERVICE", "STAGES", "STEPS", "LIMIT", "WHAT IT DOES"];

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
        Form::Table => output::print(&output::table(&LIST, rows)),
        Form::Markdown => {
            let mut text = format!("| {} |\n|{}\n", LIST.join(" | "), "---|".repeat(LIST.len()));
            text.extend(rows.map(|row| format!("| {} |\n", row.join(" | "))));
            output::print(&text)
        }
        Form::Json => {
            let all = all.iter().map(|plan| {
                json!({
                    "name": plan.name,
                    "service": plan.service.as_str(),
                    "kind": plan.shape.kind,
                    "about": plan.about,
                    "limit": plans::span(plan.shape.limit),
                })
            });
            output::json(&Value::Array(all.collect()))
        }
    }
}

fn show(plan: &Named, form: Form) -> anyhow::Result<()> {
    match form {
        Form::Json => output::json(&plans::json(plan)),
        Form::Markdown => output::print(&plans::markdown(plan)),
        Form::Table => {
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
            output::print(&text)
        }
    }
}
