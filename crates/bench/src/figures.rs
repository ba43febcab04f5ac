//! Ratios of rounds, and what they come to.

use std::collections::BTreeMap;

use super::targets::{self, Target};

/// One figure of one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) id: &'static str,
    pub(super) system: f64,
    /// One for absolute figures.
    pub(super) baseline: f64,
}

impl Sample {
    pub(super) fn new(id: &'static str, system: f64, baseline: f64) -> Self {
        Self { id, system, baseline }
    }

    pub(super) fn absolute(id: &'static str, system: f64) -> Self {
        Self::new(id, system, 1.0)
    }

    fn ratio(&self) -> f64 {
        self.system / self.baseline
    }
}

/// The measurements of one round.
#[derive(Debug, Clone, Default)]
pub(super) struct Round {
    pub(super) samples: Vec<Sample>,
    /// Details beside the figures.
    pub(super) details: Vec<(&'static str, f64)>,
    /// The part of the machine that processes outside this benchmark used.
    pub(super) others: f64,
}

/// One figure over all rounds.
#[derive(Debug, Clone)]
pub(super) struct Figure {
    pub(super) target: &'static Target,
    pub(super) samples: Vec<Sample>,
    pub(super) noisy: bool,
}

impl Figure {
    /// Smallest, median and largest ratio.
    pub(super) fn ratios(&self) -> [f64; 3] {
        let mut ratios: Vec<f64> = self.samples.iter().map(Sample::ratio).collect();
        ratios.sort_by(f64::total_cmp);
        [ratios.first(), Some(&median(&ratios)), ratios.last()]
            .map(|r| r.copied().unwrap_or(f64::NAN))
    }

    pub(super) fn system(&self) -> f64 {
        median(&self.samples.iter().map(|sample| sample.system).collect::<Vec<_>>())
    }

    pub(super) fn baseline(&self) -> f64 {
        median(&self.samples.iter().map(|sample| sample.baseline).collect::<Vec<_>>())
    }
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) each: Vec<Figure>,
    pub(super) details: BTreeMap<&'static str, Vec<f64>>,
    pub(super) others: Vec<f64>,
}

impl Figures {
    pub(super) fn add(&mut self, rounds: &[Round], noisy: bool) {
        for sample in rounds.iter().flat_map(|round| &round.samples) {
            let Some(target) = targets::find(sample.id) else { continue };
            match self.each.iter_mut().find(|figure| figure.target.id == sample.id) {
                Some(figure) => figure.samples.push(*sample),
                None => self.each.push(Figure { target, samples: vec![*sample], noisy }),
            }
        }
        for (name, value) in rounds.iter().flat_map(|round| &round.details) {
            self.details.entry(name).or_default().push(*value);
        }
        self.others.extend(rounds.iter().map(|round| round.others));
    }
}

/// The middle value.
pub(super) fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// The value that this part of all values does not exceed.
pub(super) fn percentile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into values that fit in memory"
    )]
    let at = ((sorted.len() as f64 * part).ceil() as usize).saturating_sub(1);
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values = [4.0, 1.0, 3.0, 2.0];

        assert!((percentile(&values, 0.5) - 2.0).abs() < f64::EPSILON);
        assert!((percentile(&values, 0.99) - 4.0).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
    }
}
