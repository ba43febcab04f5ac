//! Every promise of the broker's store, always on both databases.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accepting;
mod archiving;
mod bench;
mod bindings;
mod changes;
mod creations;
mod limits;
mod listing;
mod lms_tenants;
mod maintenances;
mod members;
mod orchestrations;
mod ordering;
mod removing;
mod retries;
mod sealing;
mod standing;
mod states;
mod tables;

store::promises! { bench::Bench on sqlite, postgres: {
    ordering:
        a_new_instance_is_stored_with_its_operation,
        an_operation_that_cannot_be_stored_leaves_no_instance,
        an_operation_of_another_instance_is_not_taken_over,
        an_operation_must_name_its_instance,
        a_request_is_told_from_another_under_the_same_id,
        a_request_is_recognised_after_the_keys_were_rotated,
        of_fifty_orders_under_one_id_one_is_accepted_and_the_others_are_told,
        an_order_repeated_after_a_lost_answer_stores_nothing_more,
        an_id_is_any_text_that_is_not_too_long,
        what_cannot_be_stored_is_refused_by_name;
    limits:
        of_fifty_orders_for_one_place_one_is_accepted,
        a_limit_counts_what_it_says,
        a_change_of_the_plan_counts_the_others_of_its_accounts_alone,
        a_repetition_is_recognised_when_the_limit_is_reached,
        orders_under_crossed_limits_do_not_lock_each_other_out;
    accepting:
        of_fifty_operations_at_once_one_starts_and_the_others_are_refused,
        an_order_lands_with_its_operation_if_nothing_changed_in_between,
        an_account_moves_with_its_operation_or_not_at_all,
        what_changed_in_between_also_takes_a_cancellation_back,
        what_was_accepted_answers_its_repetition_whatever_became_of_the_instance,
        nothing_is_accepted_on_an_instance_that_is_removed_or_unknown,
        what_is_left_over_can_be_worked_on,
        acceptances_and_commits_of_one_instance_do_not_lock_each_other_out;
    changes:
        a_change_lands_with_its_commit,
        a_runtime_is_taken_away_again,
        a_fenced_commit_changes_no_instance,
        a_runtime_belongs_to_one_instance,
        a_field_of_the_order_keeps_a_value_that_is_newer_than_the_change,
        what_a_change_does_not_mean_is_refused_without_telling_it;
    removing:
        what_is_left_over_is_marked_once_and_stays_readable,
        removal_keeps_the_operations_readable,
        an_id_is_never_used_again,
        an_order_and_the_removal_of_its_id_at_once_have_one_outcome;
    archiving:
        an_archived_instance_keeps_its_row_and_loses_its_operations,
        an_instance_that_is_there_is_not_archived,
        the_id_of_an_archived_instance_is_taken_until_it_is_forgotten,
        removals_that_ended_are_listed_behind_each_other,
        old_runs_of_a_job_are_forgotten_but_for_the_newest,
        a_job_is_known_since_it_was_first_asked_for;
    listing:
        pages_follow_each_other_without_gaps,
        pages_from_the_newest_back_follow_each_other_without_gaps,
        every_condition_chooses,
        conditions_hold_together_whichever_index_leads,
        names_that_fit_are_found_by_the_letters_they_begin_with,
        the_last_operation_is_the_newest_of_its_kinds,
        instances_are_counted_by_plan;
    standing:
        instances_are_chosen_by_their_newest_operation_that_counts,
        a_dry_run_of_an_upgrade_does_not_change_how_an_instance_stands,
        lists_of_several_states_are_put_together_by_age,
        what_has_no_row_is_found_by_the_operation_that_removed_it,
        an_operation_stopped_before_it_began_does_not_count_and_one_abandoned_in_its_first_step_does,
        operations_of_many_instances_are_read_together,
        the_latest_state_of_each_runtime_is_found;
    states:
        the_latest_state_is_found_by_what_it_holds,
        a_state_lands_with_its_commit_or_not_at_all,
        states_go_with_their_instance;
    creations:
        what_was_begun_stays_until_a_commit_keeps_its_result,
        what_was_answered_is_told_and_what_is_forgotten_is_not,
        calls_of_operations_in_progress_are_not_counted_as_abandoned,
        pages_of_creations_follow_each_other;
    bindings:
        a_binding_is_written_down_before_it_is_made_and_forgotten_after_it_is_gone,
        one_binding_id_is_one_binding_of_its_instance,
        of_twenty_bindings_at_once_only_as_many_are_begun_as_may_be,
        what_has_expired_or_goes_does_not_count_to_the_limit,
        what_went_with_a_runtime_neither_counts_to_the_limit_nor_is_gone_on_with,
        an_attempt_that_was_taken_over_neither_finishes_nor_forgets_a_binding,
        of_many_who_clean_up_one_gets_each_binding,
        a_binding_is_made_in_the_runtime_of_its_instance_only,
        bindings_go_with_their_instance,
        s1_credentials_of_bindings_are_nowhere_in_clear,
        s3_bindings_are_read_without_the_old_key_after_a_rotation;
    lms_tenants:
        one_operation_makes_the_tenant_and_the_others_get_it,
        of_fifty_claims_at_once_one_is_granted,
        who_does_not_come_back_is_taken_for_dead;
    maintenances:
        what_was_written_first_stays_until_it_is_forgotten,
        nothing_is_taken_back_before_its_operation_has_ended,
        only_what_was_stopped_before_it_began_was_left_out,
        what_was_abandoned_before_it_began_was_left_out,
        of_many_who_take_a_maintenance_back_one_gets_it,
        the_maintenance_of_an_operation_that_was_archived_is_taken_back,
        when_an_archived_operation_ended_does_not_move_while_it_is_tried_again,
        an_announcement_is_due_when_its_evaluations_are_restored,
        what_is_announced_of_a_runtime_is_written_with_its_operation,
        a_retry_has_no_announcement_before_it_begins,
        what_a_canceled_orchestration_left_out_is_not_announced_of_its_own,
        what_was_left_out_is_announced_of_its_own_when_the_driver_fails_in_a_cancel,
        that_an_upgrade_never_began_is_known_when_its_operation_is_archived,
        a_driver_that_fails_leaves_its_announcement_behind;
    orchestrations:
        runtimes_are_stored_all_together_and_once,
        of_twenty_starts_at_once_only_as_many_land_as_there_are_slots,
        a_runtime_is_started_once_and_not_while_paused_or_gone,
        how_far_a_runtime_is_is_told_by_its_operation_at_every_moment,
        a_driver_that_fails_ends_its_orchestration,
        what_was_changed_since_the_targets_were_read_stays,
        a_retry_and_other_workers_change_their_own_fields_only,
        a_runtime_that_starts_while_others_are_chosen_is_not_replaced;
    retries:
        what_failed_is_tried_again_behind_the_others,
        a_retry_of_what_has_ended_accepts_the_failures_that_stay,
        a_retry_of_what_runs_accepts_no_further_failure,
        to_resume_accepts_the_canaries_that_have_failed_and_no_later_one,
        to_resume_accepts_that_all_canaries_were_canceled,
        of_two_retries_the_first_driver_begins_both_and_the_second_ends_them,
        a_retry_goes_on_when_the_driver_before_it_dies_or_fails,
        a_cancel_before_a_retry_has_begun_lets_nothing_begin,
        a_pause_before_a_retry_has_begun_holds_it_until_it_is_resumed;
    members:
        a_runtime_is_told_as_it_was_stored,
        operations_of_dry_runs_are_told_from_others,
        runtimes_are_due_in_their_wave_once_their_window_has_opened,
        what_has_started_is_neither_moved_nor_left_out;
    sealing:
        s1_orders_details_and_states_are_nowhere_in_clear,
        s3_instances_are_read_without_the_old_key_after_a_rotation,
        an_order_opens_in_its_own_row_only,
        p26_a_row_that_cannot_be_read_does_not_fail_its_page,
        p26_content_that_cannot_be_read_does_not_fail_its_page,
        p26_keys_that_do_not_open_what_is_stored_are_refused,
        p26_of_two_keys_under_one_id_the_second_is_refused;
    tables:
        migrations_run_twice_and_at_once_beside_the_engines;
}}
