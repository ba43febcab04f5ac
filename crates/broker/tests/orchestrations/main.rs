//! Orchestrations from the request to their end, always on both databases. The engine and the driver are real; the upgrade of a
//! runtime is one step that the tests hold in their hands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod announcing;
mod asking;
mod ending;
mod generated;
mod pacing;
mod windows;
mod world;

store::promises! { world::World on sqlite, postgres: {
    asking:
        what_is_wrong_is_refused_and_nothing_is_stored,
        a_preview_tells_who_is_meant_and_creates_nothing,
        orchestrations_and_operations_are_told_page_by_page,
        other_workers_are_kept_when_they_come_while_runtimes_are_chosen;
    pacing:
        every_runtime_is_upgraded_once_and_no_more_than_the_workers_at_a_time,
        canaries_go_first_and_one_that_fails_pauses,
        a_paused_orchestration_starts_nothing_and_more_workers_start_more,
        a_runtime_waits_for_its_window,
        a_runtime_that_is_busy_in_its_window_is_not_queued_behind_what_may_outlast_it,
        what_is_removed_meanwhile_is_left_out;
    ending:
        a_canceled_orchestration_sees_through_what_runs_and_ends,
        failed_runtimes_are_tried_again_and_the_others_are_not,
        what_is_tried_again_is_paused_by_new_failures_only,
        fifty_runtimes_with_failures_and_a_killed_replica_end_with_the_right_counts;
}}
