//! Orchestrations from the request to their end, always on both databases. The engine and the driver are real; the upgrade of a
//! runtime is one step that the tests hold in their hands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod announcing;
mod asking;
mod choices;
mod ending;
mod garden;
mod generated;
mod handed_over;
mod pacing;
mod shoots;
mod told_once;
mod upgrading;
mod windows;
mod world;

store::promises! { world::World on sqlite, postgres: {
    asking:
        what_is_wrong_is_refused_and_nothing_is_stored,
        windows_that_nobody_has_are_told_at_once_unless_it_begins_later,
        windows_that_cannot_be_read_refuse_nothing,
        runtimes_left_out_for_want_of_a_window_are_counted_in_the_description,
        a_preview_tells_who_is_meant_and_creates_nothing,
        orchestrations_and_operations_are_told_page_by_page,
        what_was_sent_for_a_runtime_is_told_with_its_operation_without_secrets,
        other_workers_are_kept_when_they_come_while_runtimes_are_chosen;
    choices:
        everything_of_an_operation_is_told,
        what_is_asked_for_is_the_request_of_each_upgrade,
        what_is_tried_again_waits_for_its_window_unless_it_shall_begin_at_once,
        what_was_upgraded_since_is_not_tried_again,
        what_failed_is_tried_again_after_a_dry_run,
        workers_are_between_one_and_a_thousand_and_only_before_the_end,
        an_end_is_expected_while_it_goes_on_and_not_when_it_is_paused_or_over;
    pacing:
        every_runtime_is_upgraded_once_and_no_more_than_the_workers_at_a_time,
        canaries_go_first_and_one_that_fails_pauses,
        a_canary_that_fails_after_another_was_accepted_pauses_again,
        canaries_that_are_all_removed_pause_until_that_is_accepted,
        a_paused_orchestration_starts_nothing_and_more_workers_start_more,
        a_runtime_waits_for_its_window,
        a_runtime_that_is_busy_in_its_window_is_not_queued_behind_what_may_outlast_it,
        what_is_removed_meanwhile_is_left_out,
        a_runtime_that_is_removed_while_it_is_upgraded_is_canceled_and_has_not_failed,
        a_runtime_that_is_suspended_before_its_turn_is_canceled_and_says_so;
    ending:
        a_canceled_orchestration_sees_through_what_runs_and_ends,
        what_waits_behind_another_operation_does_not_begin_after_a_cancel,
        a_driver_is_ended_by_its_orchestration_alone,
        failed_runtimes_are_tried_again_and_the_others_are_not,
        what_is_tried_again_is_paused_by_new_failures_only,
        fifty_runtimes_with_failures_and_a_killed_replica_end_with_the_right_counts;
}}
