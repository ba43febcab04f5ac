//! Rounds: baseline and system in turn, again where the machine was not quiet.

use base::Clock;

use super::{
    context::Bench,
    embedded,
    figures::{Figures, Round, median},
    latency, process, takeover, throughput, timers, waiting,
};

/// How far a baseline may be off its median.
const DEVIATION: f64 = 0.25;
/// How much of the machine others may use.
const OTHERS: f64 = 0.10;

/// Figures that are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Throughput,
    Latency,
    Timers,
    Takeover,
    Embedded,
    Waiting,
}

impl Group {
    pub(super) const ALL: [Self; 6] = [
        Self::Throughput,
        Self::Latency,
        Self::Timers,
        Self::Takeover,
        Self::Embedded,
        Self::Waiting,
    ];

    pub(super) fn targets(self) -> impl Iterator<Item = &'static str> {
        let ids: &[&str] = match self {
            Self::Throughput => &["B1", "B1a", "B2", "B13", "B14", "B15"],
            Self::Latency => &["B3", "B7a"],
            Self::Timers => &["B7"],
            Self::Takeover => &["B8", "B8a"],
            Self::Embedded => &["B18"],
            Self::Waiting => &["B6", "B6a", "B6b", "B6b2", "B6c"],
        };
        ids.iter().copied()
    }

    async fn round(self, bench: &mut Bench) -> anyhow::Result<Round> {
        match self {
            Self::Throughput => throughput::round(bench).await,
            Self::Latency => latency::round(bench).await,
            Self::Timers => timers::round(bench).await,
            Self::Takeover => takeover::round(bench).await,
            Self::Embedded => embedded::round(bench).await,
            Self::Waiting => waiting::round(bench).await,
        }
    }

    /// The waiting group takes minutes and is mostly waiting: once is enough.
    fn rounds(self, bench: &Bench) -> usize {
        if self == Self::Waiting { 1 } else { bench.scale.rounds.max(1) }
    }
}

/// Measures one group until its rounds are quiet, or gives up and calls its figures noisy.
pub(super) async fn measure(
    bench: &mut Bench,
    group: Group,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let mut rounds = Vec::new();
    for _ in 0..group.rounds(bench) {
        rounds.push(watched(bench, group).await?);
    }
    for _ in 0..bench.scale.repeats {
        for at in disturbed(&rounds) {
            eprintln!("round {} of {group:?} was disturbed and is repeated", at + 1);
            rounds[at] = watched(bench, group).await?;
        }
    }
    let noisy = !disturbed(&rounds).is_empty();
    for round in &mut rounds {
        round.samples.retain(|sample| bench.wants(sample.id));
    }
    figures.add(&rounds, noisy);
    Ok(())
}

/// One round, with what others did meanwhile.
async fn watched(bench: &mut Bench, group: Group) -> anyhow::Result<Round> {
    let clock = Clock::running();
    let before = process::snapshot(bench.server.pid())?;
    let mut round = group.round(bench).await?;
    let after = process::snapshot(bench.server.pid())?;
    round.others = process::others(&before, &after);
    for sample in &round.samples {
        let (id, ratio) = (sample.id, sample.system / sample.baseline);
        eprintln!("{id:>5} {:>12.3} ÷ {:>12.3} = {ratio:.3}", sample.system, sample.baseline);
    }
    for (name, value) in &round.details {
        eprintln!("      {name}: {value:.3}");
    }
    eprintln!(
        "      {group:?}: {:.1} s, others used {:.0} %",
        clock.monotonic().as_secs_f64(),
        round.others * 100.0
    );
    Ok(round)
}

/// Rounds that do not count: a baseline off its median, or a busy machine.
fn disturbed(rounds: &[Round]) -> Vec<usize> {
    let off = |round: &Round| {
        round.others > OTHERS
            || round.samples.iter().any(|sample| {
                let all: Vec<f64> = rounds
                    .iter()
                    .flat_map(|round| &round.samples)
                    .filter(|other| other.id == sample.id)
                    .map(|other| other.baseline)
                    .collect();
                let middle = median(&all);
                (sample.baseline - middle).abs() > middle * DEVIATION
            })
    };
    rounds.iter().enumerate().filter(|(_, round)| off(round)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::figures::Sample, *};

    fn round(baseline: f64, others: f64) -> Round {
        Round { samples: vec![Sample::new("B1", 1.0, baseline)], others, ..Round::default() }
    }

    #[test]
    fn a_round_is_disturbed_by_an_odd_baseline_or_a_busy_machine() {
        let rounds = [round(100.0, 0.0), round(110.0, 0.2), round(120.0, 0.0), round(160.0, 0.0)];

        assert_eq!(disturbed(&rounds), [1, 3]);
    }
}
