//! Steps that wait: what clears their clock, what wakes them, how often they are polled.

use super::{super::*, MINUTE, begin, boom, noon, reading, shape, waits};
use crate::retry::Retry;

#[test]
fn waiting_clears_the_failing_clock_and_failing_does_not_clear_the_waiting_one() {
    let shape = shape(&[1], Retry::DEFAULT);
    let (position, at) = begin(&shape);

    let position = decide(&shape, at, &position, &waits(), &reading(noon())).position;
    let position = decide(&shape, at, &position, &boom(), &reading(noon() + MINUTE)).position;
    let clock = position.clock("step 0.0");
    assert_eq!(clock.waiting_since, Some(noon()));
    assert_eq!(clock.failing_since, Some(noon() + MINUTE));

    let position = decide(&shape, at, &position, &waits(), &reading(noon() + 2 * MINUTE)).position;
    let clock = position.clock("step 0.0");
    assert_eq!(clock.waiting_since, Some(noon()));
    assert_eq!(clock.failing_since, None);
}

#[test]
fn a_signal_given_while_the_step_ran_wakes_it_at_once() {
    let shape = shape(&[1], Retry::DEFAULT);
    let (position, at) = begin(&shape);

    let signalled = Reading { signalled: true, ..reading(noon()) };
    let moved = decide(&shape, at, &position, &waits(), &signalled);

    assert!(matches!(moved.then, AfterCommit::Sleep { until, .. } if until == noon()));
}

#[test]
fn what_waits_for_long_is_not_polled_without_pause_at_the_fastest_pace() {
    let shape = shape(&[1], Retry::every(Duration::from_secs(10)));
    let (mut position, at) = begin(&shape);
    let (mut now, mut polls) = (noon(), 0_u32);

    while now < noon() + 30 * MINUTE {
        let moved =
            decide(&shape, at, &position, &waits(), &Reading { pace: 1_000.0, ..reading(now) });
        position = moved.position;
        let AfterCommit::Sleep { until, .. } = moved.then else { panic!("{:?}", moved.then) };
        assert!(until.duration_since(now) <= jiff::SignedDuration::from_secs(10));
        assert!(polls > 0 || until.duration_since(now) < jiff::SignedDuration::from_millis(20));
        (now, polls) = (until, polls + 1);
    }

    assert!((200..1_000).contains(&polls), "{polls}");
}
