//! Times, durations and names as people read them.

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

/// A duration in its two largest units: `1 h 20 min`, `4.2 s`, `12 ms`.
pub(crate) fn span(duration: SignedDuration) -> String {
    let millis = duration.as_millis().max(0);
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=9 => format!("{}.{} s", seconds, millis % 1000 / 100),
        10..=59 => format!("{seconds} s"),
        60..=3_599 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600..=86_399 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

fn two(large: i128, unit: &str, small: i128, other: &str) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {other}") }
}

/// How long ago, in one unit, for lists.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> Markup {
    let seconds = now.duration_since(at).as_secs();
    let text = match seconds {
        ..=4 => "just now".to_owned(),
        5..=59 => format!("{seconds} s ago"),
        60..=3_599 => format!("{} min ago", seconds / 60),
        3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    };
    html! { time.nowrap datetime=(at) title=(exact(at)) { (text) } }
}

/// A point in time to the second.
pub(crate) fn exact(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The time of day.
pub(crate) fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%S").to_string()
}

/// A time to come, which the script counts down.
pub(crate) fn until(at: Timestamp, now: Timestamp) -> Markup {
    let left = at.duration_since(now);
    html! {
        @if left.is_positive() {
            time datetime=(at) title=(exact(at)) data-until=(at.as_millisecond()) { "in " (span(left)) }
        } @else {
            time datetime=(at) title=(exact(at)) { "now" }
        }
    }
}

/// A time that goes on, which the script counts up.
pub(crate) fn since(at: Timestamp, now: Timestamp) -> Markup {
    html! {
        time datetime=(at) title=(exact(at)) data-since=(at.as_millisecond()) { (span(now.duration_since(at))) }
    }
}

/// The beginning of an id, which is enough to tell it from others; the whole one is copied.
pub(crate) fn id(id: &str) -> Markup {
    let short: String = id.chars().take(8).collect();
    html! {
        span.nowrap {
            code title=(id) { (short) }
            button.copy type="button" data-copy=(id) aria-label={ "Copy " (id) } { "copy" }
        }
    }
}

/// The name of a kind of operation.
pub(crate) fn kind(kind: &str) -> String {
    match kind {
        "provision" => "Provisioning".into(),
        "deprovision" => "Deprovisioning".into(),
        "update" => "Update".into(),
        "upgradeKyma" => "Upgrade of Kyma".into(),
        "upgradeCluster" => "Upgrade of the cluster".into(),
        "orchestration" => "Orchestration".into(),
        "job" => "Job".into(),
        other => other.into(),
    }
}

/// A count with its noun: `1 step`, `2 steps`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_their_two_largest_units() {
        let told = |millis| span(SignedDuration::from_millis(millis));

        assert_eq!(told(12), "12 ms");
        assert_eq!(told(4_260), "4.2 s");
        assert_eq!(told(59_999), "59 s");
        assert_eq!(told(400_000), "6 min 40 s");
        assert_eq!(told(7_200_000), "2 h");
        assert_eq!(told(93_600_000), "1 d 2 h");
        assert_eq!(told(-5), "0 ms");
    }
}
