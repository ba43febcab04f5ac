//! The table for people and the JSON for machines.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    Options,
    context::Machine,
    figures::{Figure, Figures, median},
    targets,
};

/// The report of a benchmark.
#[derive(Debug)]
pub struct Report {
    machine: Machine,
    rounds: usize,
    seconds: f64,
    short: bool,
    figures: Figures,
}

impl Report {
    pub(super) fn new(options: &Options, machine: &Machine, mut figures: Figures) -> Self {
        let place =
            |figure: &Figure| targets::ALL.iter().position(|target| target.id == figure.target.id);
        figures.each.sort_by_key(place);
        let Options { rounds, seconds, short, .. } = *options;
        Self { machine: machine.clone(), rounds, seconds, short, figures }
    }

    /// Whether every figure reaches its floor. A short run proves the harness and judges nothing.
    pub fn passes(&self) -> bool {
        self.short || self.figures.each.iter().all(|figure| verdict(figure) != "below")
    }

    /// One line per figure, as cells under [`Report::HEAD`].
    pub fn rows(&self) -> Vec<Vec<String>> {
        self.figures.each.iter().map(row).collect()
    }

    /// The heads of the columns.
    pub const HEAD: [&str; 10] = [
        "id", "measure", "against", "ratio", "min..max", "floor", "goal", "moonshot", "verdict",
        "absolute",
    ];

    /// The summary below the table.
    pub fn summary(&self) -> String {
        let Machine { cores, memory_gib, postgres, profile } = &self.machine;
        let mut text = format!(
            "{cores} cores, {memory_gib:.0} GiB, PostgreSQL {postgres}, {profile} build, {} rounds of {} s; \
             others used {:.0} % of the machine\n",
            self.rounds,
            self.seconds,
            median(&self.figures.others) * 100.0
        );
        for (name, values) in &self.figures.details {
            let _ = writeln!(text, "{name}: {:.3}", median(values));
        }
        text
    }

    /// Everything, for machines.
    pub fn json(&self) -> Value {
        let figures: Vec<Value> = self.figures.each.iter().map(object).collect();
        let details: serde_json::Map<String, Value> = self
            .figures
            .details
            .iter()
            .map(|(name, values)| {
                ((*name).to_owned(), json!({ "median": median(values), "all": values }))
            })
            .collect();
        json!({
            "machine": self.machine, "rounds": self.rounds, "seconds": self.seconds,
            "short": self.short, "passes": self.passes(), "figures": figures,
            "details": details, "others": self.figures.others,
        })
    }
}

fn verdict(figure: &Figure) -> &'static str {
    let [_, median, _] = figure.ratios();
    let reached = figure.target.verdict(median);
    if figure.noisy && reached != "below" { "noisy" } else { reached }
}

fn row(figure: &Figure) -> Vec<String> {
    let target = figure.target;
    let [least, median, most] = figure.ratios();
    let [unit, baseline_unit] = target.units;
    let absolute = if target.against == "absolute" {
        format!("{} {unit}", short(figure.system()))
    } else {
        format!("{} {unit} / {} {baseline_unit}", short(figure.system()), short(figure.baseline()))
    };
    vec![
        target.id.into(),
        target.measure.into(),
        target.against.into(),
        short(median),
        format!("{}..{}", short(least), short(most)),
        short(target.floor),
        short(target.goal),
        short(target.moonshot),
        if figure.noisy {
            format!("{} (noisy)", target.verdict(median))
        } else {
            verdict(figure).into()
        },
        absolute,
    ]
}

fn object(figure: &Figure) -> Value {
    let target = figure.target;
    let [least, median, most] = figure.ratios();
    json!({
        "id": target.id, "measure": target.measure, "baseline": target.against,
        "ratio": median, "min": least, "max": most,
        "floor": target.floor, "goal": target.goal, "moonshot": target.moonshot,
        "verdict": verdict(figure),
        "system": { "value": figure.system(), "unit": target.units[0] },
        "baseline_value": { "value": figure.baseline(), "unit": target.units[1] },
        "rounds": figure.samples.iter().map(|s| json!([s.system, s.baseline])).collect::<Vec<_>>(),
    })
}

/// Three digits that say something.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
