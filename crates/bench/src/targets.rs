//! The measured figures, their baselines and targets.

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// One line of the table of targets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) id: &'static str,
    pub(super) measure: &'static str,
    /// The divisor; `absolute` without one.
    pub(super) against: &'static str,
    pub(super) better: Better,
    pub(super) floor: f64,
    pub(super) goal: f64,
    pub(super) moonshot: f64,
    /// The units of the two absolute values.
    pub(super) units: [&'static str; 2],
}

const fn higher(
    id: &'static str,
    measure: &'static str,
    against: &'static str,
    [floor, goal, moonshot]: [f64; 3],
    units: [&'static str; 2],
) -> Target {
    Target { id, measure, against, better: Better::Higher, floor, goal, moonshot, units }
}

const fn lower(
    id: &'static str,
    measure: &'static str,
    against: &'static str,
    [floor, goal, moonshot]: [f64; 3],
    units: [&'static str; 2],
) -> Target {
    Target { id, measure, against, better: Better::Lower, floor, goal, moonshot, units }
}

/// All figures, in the order in which they are printed.
pub(super) const ALL: [Target; 17] = [
    higher("B1", "step commits/s, 1000 in flight", "step8", [1.0, 2.5, 5.0], ["/s", "/s"]),
    higher("B1a", "the same", "update8", [0.8, 5.0, 10.0], ["/s", "/s"]),
    higher("B2", "operations/s of 11 steps", "refmodel", [4.0, 12.0, 25.0], ["/s", "/s"]),
    lower("B3", "request to final, idle, p50", "insert1 + 11 step1", [4.0, 2.0, 1.3], ["ms", "ms"]),
    lower("B6", "memory while all wait", "absolute", [512.0, 192.0, 96.0], ["MiB", ""]),
    lower("B6a", "their time beyond the wait", "steps at B1 rate", [4.0, 2.0, 1.3], ["s", "s"]),
    lower("B6b", "CPU of a core while all wait", "absolute", [10.0, 3.0, 1.0], ["%", ""]),
    lower("B6b2", "statements/s while all wait", "absolute", [100.0, 20.0, 5.0], ["/s", ""]),
    lower("B6c", "1000 waiting, until final", "refmodel", [0.1, 0.025, 1.0 / 49.0], ["s", "s"]),
    lower("B7", "due to run, p99, 1000/s", "notify p99", [400.0, 100.0, 20.0], ["ms", "ms"]),
    lower("B7a", "reply to first step, p99", "notify p99", [20.0, 5.0, 2.0], ["ms", "ms"]),
    lower("B8", "kill -9 to all taken up", "claim", [10.0, 4.0, 2.0], ["s", "s"]),
    lower("B8a", "the same", "refmodel", [1.0 / 12.0, 1.0 / 60.0, 0.01], ["s", "s"]),
    higher("B13", "operations/s, 3 replicas", "1 replica", [0.9, 1.0, 1.2], ["/s", "/s"]),
    lower("B14", "CPU of the replica", "CPU of the database", [3.0, 1.0, 0.5], ["ms/op", "ms/op"]),
    lower("B15", "WAL of a step commit", "step8", [3.0, 1.5, 1.1], ["B", "B"]),
    higher("B18", "step commits/s, embedded", "local1", [0.5, 1.5, 3.0], ["/s", "/s"]),
];

/// The targets of lists, which `kcp bench reads` measures.
pub(super) const B11: Target =
    lower("B11", "random page with the total, p50", "plain page", [10.0, 4.0, 2.0], ["ms", "ms"]);
pub(super) const B11A: Target =
    lower("B11a", "last page, p50", "first page", [3.0, 1.5, 1.1], ["ms", "ms"]);
pub(super) const B11B: Target =
    lower("B11b", "random page, p50", "refmodel page", [0.2, 0.05, 0.02], ["ms", "ms"]);

pub(super) fn find(id: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.id == id)
}

impl Target {
    /// The best mark that `ratio` reaches.
    pub(super) fn verdict(&self, ratio: f64) -> &'static str {
        let reaches = |mark: f64| match self.better {
            Better::Higher => ratio >= mark,
            Better::Lower => ratio <= mark,
        };
        match () {
            () if reaches(self.moonshot) => "moonshot",
            () if reaches(self.goal) => "goal",
            () if reaches(self.floor) => "floor",
            () => "below",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_best_mark_that_is_reached() {
        let verdict = |id, ratio| find(id).unwrap().verdict(ratio);

        assert_eq!(
            [0.9, 1.0, 2.5, 5.0].map(|r| verdict("B1", r)),
            ["below", "floor", "goal", "moonshot"]
        );
        assert_eq!(
            [4.1, 4.0, 2.0, 1.3].map(|r| verdict("B3", r)),
            ["below", "floor", "goal", "moonshot"]
        );
    }
}
