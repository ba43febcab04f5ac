//! The present state of an operation, drawn in place below what has happened.

use std::{collections::HashMap, fmt::Write as _, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    output::{self, harmless, span, style},
    view::{Operation, Waiting},
};

/// Where nothing is known of the terminal.
const WIDTH: usize = 80;

/// What is drawn in place.
#[derive(Default)]
pub(super) struct Live {
    lines: usize,
    usual: UsualDurations,
}

/// How long operations of a kind usually take: the median as a whole, and of each step.
#[derive(Default)]
struct UsualDurations {
    whole: Option<SignedDuration>,
    steps: HashMap<String, SignedDuration>,
}

impl Live {
    /// Takes over usual times.
    pub(super) fn usually(&mut self, answer: &Value) {
        for it in answer["steps"].as_array().into_iter().flatten() {
            let median = it["median_seconds"].as_f64().map(Duration::try_from_secs_f64);
            let Some(Ok(median)) = median else { continue };
            let Ok(median) = SignedDuration::try_from(median) else { continue };
            if let Some(step) = it["step"].as_str() {
                self.usual.steps.insert(step.to_owned(), median);
            } else {
                self.usual.whole = Some(median);
            }
        }
    }

    /// Replaces what was drawn by lines that stay, and the present state below them.
    pub(super) fn draw(
        &mut self,
        above: &str,
        operation: &Operation,
        waiting: &Value,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let width = style::width().unwrap_or(WIDTH);
        let lines = state(operation, waiting, &self.usual, now, width);
        let mut text = String::new();
        if self.lines > 0 {
            let _ = write!(text, "\u{1b}[{}A\u{1b}[J", self.lines);
        }
        text.push_str(above);
        for (number, line) in lines.iter().enumerate() {
            let line = if number == 0 { style::state(line) } else { style::dim(line) };
            let _ = writeln!(text, "{line}");
        }
        self.lines = lines.len();
        output::print_styled(&text)
    }

    /// Leaves what is drawn where it is.
    pub(super) fn forget(&mut self) {
        self.lines = 0;
    }
}

/// The current work, the reason and the end of a wait; empty for an operation that has ended.
fn state(
    operation: &Operation,
    waiting: &Value,
    usual: &UsualDurations,
    now: Timestamp,
    width: usize,
) -> Vec<String> {
    let waiting = Waiting::deserialize(waiting).ok().filter(|it| it.kind != "ended");
    let Some(waiting) = waiting.filter(|_| operation.ended_at.is_none()) else {
        return Vec::new();
    };
    let step = waiting.step.as_deref().or(operation.step.as_deref()).unwrap_or("not begun");
    let place = waiting.place.as_deref().map(|place| format!(" ({place})")).unwrap_or_default();
    let percent = waiting.place.as_deref().and_then(percent);
    let percent = percent.map(|it| format!("{it} % ")).unwrap_or_default();
    let so_far = clock(now.duration_since(operation.created_at));
    let whole = usual.whole.map(|it| format!(", usually {}", clock(it))).unwrap_or_default();
    let mut lines = vec![format!("⏳ {percent}{step}{place}  {so_far}{whole}")];
    if !waiting.reason.is_empty() {
        lines.push(format!("   {}", waiting.reason));
    }
    let mut next = Vec::new();
    if let (Some(since), Some(usual)) = (waiting.since, usual.steps.get(step)) {
        let (since, usual) = (clock(now.duration_since(since)), clock(*usual));
        lines.push(format!("   in this step for {since}, usually {usual}"));
    }
    if let Some(next_try) = waiting.next_try.filter(|time| *time > now) {
        next.push(format!("next try in {}", clock(next_try.duration_since(now))));
    }
    if let (Some(limit), Some(then)) = (waiting.limit_at, &waiting.at_limit) {
        next.push(format!("limit in {}: then {then}", span(limit.duration_since(now))));
    }
    if !next.is_empty() {
        lines.push(format!("   {}", next.join(" · ")));
    }
    // The sign at the beginning is two columns wide.
    lines.iter().map(|line| output::cut(&harmless(line, ""), width.saturating_sub(2))).collect()
}

/// How much of an operation is done, from its place: `step 12 of 20`.
fn percent(place: &str) -> Option<u32> {
    let mut words = place.strip_prefix("step ")?.split(" of ");
    let (step, all) = (words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u32>().ok()?);
    (step >= 1 && step <= all).then(|| (step - 1) * 100 / all)
}

/// A time as clocks show it: `0:41`, `1:02:05`.
fn clock(time: SignedDuration) -> String {
    let seconds = time.as_secs().max(0);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        return format!("{hours}:{minutes:02}:{seconds:02}");
    }
    format!("{minutes}:{seconds:02}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_present_state_fits_the_terminal_and_counts_down() {
        let operation: Operation = serde_json::from_value(json!({
            "id": "01a1e15b-0000-7000-8000-000000000001", "kind": "provision", "instance": "i-1",
            "state": "in progress", "created_at": "2026-01-01T12:00:00Z",
        }))
        .unwrap();
        let waiting = json!({
            "kind": "waiting", "step": "Check_Runtime", "place": "step 12 of 20",
            "reason": "the cluster is being made: 62 %, waiting until the control plane is ready and more",
            "since": "2026-01-01T12:00:20Z", "next_try": "2026-01-01T12:02:00Z", "limit_at": "2026-01-01T13:01:19Z",
            "at_limit": "the operation fails",
        });
        let now: Timestamp = "2026-01-01T12:01:19Z".parse().unwrap();

        let mut live = Live::default();
        live.usually(&json!({"steps": [
            {"kind": "provision", "median_seconds": 160.4},
            {"kind": "provision", "step": "Check_Runtime", "median_seconds": 100.0},
        ]}));

        let unknown = state(&operation, &waiting, &UsualDurations::default(), now, 80);
        let lines = state(&operation, &waiting, &live.usual, now, 80);

        assert_eq!(unknown[0], "⏳ 55 % Check_Runtime (step 12 of 20)  1:19");
        assert_eq!(lines[0], "⏳ 55 % Check_Runtime (step 12 of 20)  1:19, usually 2:40");
        assert!(lines[1].starts_with("   the cluster is being made: 62 %"), "{lines:?}");
        assert_eq!(unknown[2], "   next try in 0:41 · limit in 1h: then the operation fails");
        assert_eq!(lines[2], "   in this step for 0:59, usually 1:40");
        assert_eq!(lines[3], unknown[2]);
        assert!(lines.iter().all(|line| line.chars().count() <= 78), "{lines:?}");
        let ended = json!({"kind": "ended", "reason": ""});
        assert!(state(&operation, &ended, &live.usual, now, 80).is_empty());
        assert_eq!(
            (percent("step 1 of 3"), percent("step 4 of 3"), percent("x")),
            (Some(0), None, None)
        );
    }
}
