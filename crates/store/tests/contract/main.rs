//! Every promise of the store, always on both databases, and on the simulated store of the engine's
//! own tests.
//!
//! A promise is written once, over `engine::Storage` where it can be, and runs on each store.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod abandoning;
mod accepting;
mod audit_entries;
mod auditing;
mod bench;
mod canceling;
mod changes;
mod claiming;
mod committing;
mod continuing;
mod dropping;
mod faults;
mod full;
mod full_postgres;
mod journal;
mod link;
mod planted;
mod reading;
mod replicas;
mod sealing;
mod tables;
mod timing;
mod waking;

/// One test per promise and store.
macro_rules! promises {
    ($store:ident: $($theme:ident: $($promise:ident),+ $(,)?;)+) => {
        mod $store {
            $(mod $theme {$(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $promise() {
                    crate::$theme::$promise(crate::bench::Bench::$store().await).await;
                }
            )+})+
        }
    };
}

mod every_store {
    /// The contract of the engine, for every store, the simulated one too.
    macro_rules! contract {
    ($($store:ident),+) => {$(
        promises! { $store:
            claiming:
                p05_fifty_operations_ten_claimers_at_once_none_claimed_twice,
                a_claim_tells_all_that_its_owner_needs,
                what_is_not_due_is_not_claimed_and_its_time_is_told,
                p19_lanes_share_fairly,
                many_lanes_take_turns,
                a_crowded_lane_is_passed_over,
                a_lone_operation_does_not_wait_behind_a_long_lane,
                p22_newer_versions_and_unknown_kinds_are_not_claimed,
                a_claim_by_the_same_owner_keeps_the_epoch,
                a_replica_without_a_lease_is_given_nothing;
            committing:
                a_commit_moves_the_operation_on,
                p06_stale_epoch_stale_serial_and_dead_lease_write_nothing,
                a_batch_is_fenced_row_by_row,
                p20_final_is_final,
                data_stays_as_it_is_when_a_commit_carries_none,
                p17_a_commit_that_was_written_twice_lands_once,
                p17_an_unknown_commit_can_be_looked_up;
            accepting:
                p04_one_runs_at_a_time_under_fifty_parallel_accepts,
                the_end_admits_the_next_in_order,
                an_accept_racing_with_an_end_strands_nobody,
                p03_a_repetition_is_answered_and_not_stored,
                p03_an_accept_repeated_after_a_lost_answer_stores_nothing_more,
                p03_what_was_stored_answers_its_repetition_whatever_came_since,
                a_request_in_the_way_is_refused,
                superseding_stops_the_running_one_and_ends_the_waiting_ones;
            canceling:
                canceling_a_sleeping_operation_makes_it_due,
                canceling_a_held_operation_is_told_with_its_next_commit,
                canceling_a_waiting_operation_ends_it_there,
                canceling_the_one_about_to_be_admitted_strands_nobody,
                a_final_or_unknown_operation_cannot_be_canceled,
                the_first_request_to_end_counts,
                skipping_a_step_of_a_sleeping_operation_makes_it_due,
                a_step_of_an_operation_that_ends_cannot_be_skipped,
                abandoning_a_held_operation_fences_its_owner_and_admits_the_next,
                nothing_of_the_instance_begins_until_the_step_of_an_abandoned_one_is_gone,
                a_replica_is_told_what_it_does_not_own_any_more,
                what_an_owner_without_a_lease_held_is_gone_at_once,
                p29_a_heartbeat_beside_an_abandonment_is_waited_for_or_finds_it,
                an_operation_that_waits_behind_another_can_be_abandoned,
                a_signal_wakes_those_who_wait_for_it;
            continuing:
                a_continuation_runs_only_what_was_not_completed,
                a_continuation_of_a_continuation_has_the_first_as_its_root,
                only_a_final_operation_can_be_continued;
            journal:
                p21_the_journal_tells_the_whole_story,
                repeated_waits_are_one_entry,
                a_wait_after_something_else_is_a_new_entry,
                old_journals_are_trimmed_once;
            replicas:
                a_lease_is_renewed_while_it_lives_and_never_after,
                a_new_incarnation_ends_the_one_before,
                what_a_leaver_held_is_due_at_once,
                the_dead_are_taken_over_with_a_higher_epoch,
                p06_a_stale_owner_writes_nothing_after_a_takeover,
                the_long_dead_are_forgotten,
                strays_are_let_go_and_what_is_in_hand_is_not;
        }
    )+};
}

    contract!(sqlite, postgres, simulated);
}

mod every_database {
    /// Promises that only a database can keep.
    macro_rules! databases {
    ($($store:ident),+) => {$(
        promises! { $store:
            claiming:
                sleepers_of_a_live_owner_are_left_to_it;
            committing:
                texts_that_no_database_stores_do_not_stop_a_commit;
            reading:
                a_snapshot_shows_what_was_committed,
                pages_follow_each_other_without_gaps,
                unfinished_operations_are_counted,
                the_newest_operations_of_each_instance_are_read_and_no_more,
                a_history_is_of_instances_or_operations_and_with_both_of_what_fits_both;
            continuing:
                only_the_newest_operation_of_an_instance_is_retried,
                newer_operations_that_changed_nothing_do_not_stand_in_the_way_of_a_retry,
                an_operation_abandoned_in_its_first_step_may_have_changed_something;
            changes:
                a_change_lands_with_its_commit,
                a_fenced_commit_changes_nothing_else,
                a_rejected_change_takes_only_its_own_commit_back,
                p02_a_service_accepts_beside_its_own_rows;
            auditing:
                entries_are_linked_once_their_result_is_known,
                what_is_changed_or_removed_in_the_audit_is_found,
                old_entries_are_removed_and_the_rest_can_be_verified,
                replicas_that_link_at_once_leave_no_gap,
                the_audit_is_paged_newest_first_and_filtered;
            audit_entries:
                an_entry_holds_everything_that_was_said,
                a_result_names_what_the_request_did_not_and_is_stored_once,
                what_is_too_long_for_the_audit_is_cut,
                every_field_of_an_entry_is_covered_by_the_chain,
                of_all_filters_together_each_counts,
                the_latest_entries_of_instances_and_operations_come_oldest_first;
            sealing:
                s1_sealed_columns_are_not_readable_in_the_database,
                what_cannot_be_opened_is_put_back_and_harms_no_other;
            tables:
                migrations_run_twice_and_at_once;
            dropping:
                p24_a_transaction_dropped_at_any_await_leaves_its_connection_clean,
                p24_a_commit_goes_on_when_its_caller_gives_up,
                p24_a_failed_commit_leaves_its_connection_clean;
            replicas:
                p29_heartbeats_and_looks_do_not_wait_for_a_full_pool;
            waking:
                accepting_and_signalling_wake_the_process,
                another_process_is_woken,
                another_process_gets_the_operations_that_have_changed;
            timing:
                p12_everything_works_by_the_databases_own_time;
            planted:
                p06_is_red_without_the_fence,
                p20_is_red_when_a_final_state_can_be_overwritten,
                p04_is_red_without_the_index,
                p21_is_red_when_takeovers_go_unrecorded,
                p22_is_red_when_anything_can_be_claimed,
                p24_is_red_when_a_transaction_is_left_open,
                orphans_are_admitted_at_recovery_unless_forgotten;
        }
    )+};
}

    databases!(sqlite, postgres);
}
