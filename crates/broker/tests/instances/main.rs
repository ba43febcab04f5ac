//! The use cases behind the Open Service Broker API, always on both databases. No engine runs: the tests say what
//! becomes of operations.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod activity;
mod changing_plans;
mod checking;
mod deprovisioning;
mod exporting;
mod finding;
mod following;
mod hanging_up;
mod limits;
mod listing;
mod paging;
mod provisioning;
mod repeating;
mod retrying;
mod suspending;
mod updating;
mod upgrading;
mod world;

store::promises! { world::World on sqlite, postgres: {
    provisioning:
        an_order_is_stored_with_its_operation,
        what_one_order_says_is_no_default_of_the_next,
        what_was_ordered_stands_in_the_input_with_whoever_asked,
        the_first_thing_that_is_wrong_is_told_and_nothing_is_stored,
        a_tenant_orders_for_itself_alone,
        what_can_only_fail_later_is_refused,
        a_cluster_that_an_order_brings_has_no_kubeconfig_of_ours,
        the_plan_of_the_older_documents_takes_what_it_can_provision;
    checking:
        an_order_that_is_checked_is_not_stored,
        a_change_that_is_checked_changes_nothing,
        a_suspension_that_is_checked_does_not_begin;
    retrying:
        an_instance_stands_as_the_retry_of_its_order_does,
        a_retry_of_a_failed_return_has_the_context_that_was_stored_since,
        a_removal_that_failed_is_retried_and_an_older_order_is_not;
    repeating:
        the_same_words_are_answered_with_the_same_operation,
        a_complete_instance_is_answered_without_an_operation,
        a_failed_order_is_answered_with_its_operation,
        other_words_under_the_same_id_are_a_conflict,
        an_instance_that_is_being_removed_is_in_the_way,
        an_id_is_not_used_again,
        others_are_not_told_whether_an_instance_is_still_there,
        of_twenty_orders_at_once_one_operation_answers_all;
    limits:
        a_global_account_has_one_trial,
        a_repeated_trial_is_no_second_one,
        of_twenty_trials_at_once_one_is_accepted,
        a_trial_beside_an_instance_of_another_plan_is_told_why;
    exporting:
        an_export_tells_what_all_pages_tell,
        removed_runtimes_come_behind_the_others;
    deprovisioning:
        an_unknown_instance_is_gone,
        a_platform_that_cannot_wait_is_told_so,
        a_removal_is_accepted_once_and_answered_again,
        a_removal_stops_a_running_order,
        a_removal_that_is_being_called_off_is_begun_anew,
        what_was_not_completed_is_gone_on_with,
        what_a_removal_has_left_is_gone_on_with,
        another_tenants_instance_is_not_there,
        of_twenty_removals_at_once_one_operation_answers_all;
    suspending:
        a_suspension_is_seen_from_the_moment_it_is_accepted,
        an_instance_comes_back_with_its_names,
        a_return_waits_for_the_suspension_and_need_not_begin,
        a_suspension_stops_a_return_and_waits_for_an_order,
        a_removal_goes_before_suspension_and_return,
        a_suspended_instance_is_removed_for_good,
        what_failed_is_tried_again,
        an_order_that_failed_is_not_brought_back,
        a_continued_suspension_is_still_one,
        an_expired_instance_never_comes_back,
        an_instance_expires_in_its_sleep,
        what_does_not_expire_is_told_so,
        of_twenty_suspensions_at_once_one_operation_answers_all,
        the_same_order_finds_a_suspended_instance_there,
        the_next_cluster_has_the_versions_of_the_catalog,
        a_next_cluster_keeps_a_kubernetes_that_is_newer_than_the_catalogs,
        values_that_no_change_carries_are_numbered_in_the_order;
    activity:
        a_trial_is_suspended_and_comes_back_by_its_context,
        the_context_of_a_suspension_is_kept_for_the_return,
        parameters_beside_a_suspension_are_refused,
        parameters_of_a_suspended_instance_are_refused,
        other_plans_ignore_whether_they_are_active,
        the_plans_are_those_that_the_settings_name,
        an_instance_of_a_plan_that_is_not_suspended_any_more_comes_back,
        a_failed_suspension_is_tried_again_with_any_change,
        a_trial_expires_by_its_parameters_and_is_only_removed_from_then_on,
        an_expired_instance_of_a_plan_that_is_never_suspended_cannot_be_active_again,
        what_cannot_expire_by_its_parameters_is_told_so,
        the_licence_of_a_suspension_or_return_is_that_of_the_next_cluster,
        what_needs_no_operation_needs_no_platform_that_can_wait,
        after_a_failed_return_only_the_context_is_taken_until_the_instance_is_back;
    hanging_up:
        a_change_that_is_dropped_at_any_await_lands_with_its_account_or_not_at_all,
        a_suspension_that_is_dropped_at_any_await_lands_with_its_context_or_not_at_all,
        nothing_of_a_suspension_is_stored_that_a_removal_has_overtaken,
        of_two_changes_at_once_the_later_one_is_judged_behind_the_plan_of_the_first,
        behind_a_change_of_the_plan_everything_is_judged_by_the_next_plan;
    changing_plans:
        an_instance_does_not_expire_while_its_plan_changes,
        nothing_expires_whose_plan_has_changed_since_it_was_looked_at,
        nothing_is_suspended_whose_plan_has_changed_since_it_was_looked_at,
        the_plan_that_the_platform_knows_is_refused_until_its_change_has_ended;
    updating:
        a_context_alone_is_stored_without_an_operation,
        a_change_that_says_nothing_changes_nothing,
        what_is_wrong_with_a_change_is_told_and_nothing_is_stored,
        more_zones_than_nodes_are_refused_before_anything_is_stored,
        unknown_parameters_and_wrong_types_are_told,
        an_instance_that_is_not_there_cannot_be_changed,
        an_instance_that_failed_or_is_removed_cannot_be_changed,
        an_account_moves_with_its_context,
        parameters_are_an_operation_that_is_told_from_its_acceptance,
        parameters_without_a_plan_are_a_change_of_the_plan_that_there_is,
        empty_parameters_credentials_and_a_licence_are_operations_too,
        the_same_change_again_is_answered_with_the_same_operation,
        changes_at_once_are_all_kept_one_after_the_other,
        a_change_waits_for_a_running_order_and_is_stopped_by_a_removal,
        what_the_context_says_meanwhile_survives_the_end_of_a_change,
        after_an_account_move_every_call_works_for_the_new_account,
        a_plan_changes_only_to_one_that_the_catalog_names_and_that_has_the_provider;
    upgrading:
        an_upgrade_is_stored_with_what_is_asked_for_and_told_as_upgrading,
        dry_runs_are_not_told_and_canceled_upgrades_do_not_set_the_version,
        an_upgrade_that_has_not_ordered_its_version_leaves_the_one_of_before,
        what_operators_upgrade_is_not_the_last_operation_of_the_platform,
        an_upgrade_under_the_same_id_is_begun_once,
        upgrades_wait_for_what_runs_and_are_stopped_by_a_removal,
        what_has_no_runtime_cannot_be_upgraded,
        an_order_that_failed_leaves_nothing_to_upgrade;
    finding:
        an_instance_is_found_once_it_is_complete,
        the_dashboard_has_one_address_in_every_answer,
        credentials_are_not_told,
        a_trial_tells_when_it_ends,
        what_is_left_over_is_not_found;
    following:
        a_new_order_is_in_progress,
        a_waiting_step_tells_its_place_its_reason_and_its_time,
        platforms_come_back_within_a_minute_however_long_a_step_sleeps,
        earlier_runs_tell_how_long_it_usually_takes,
        a_failure_is_told_in_short_with_an_error_id_and_whole_to_operators,
        texts_that_are_written_for_those_who_order_are_told_as_they_are,
        what_another_system_says_while_it_is_waited_for_is_told_to_operators_alone,
        the_newest_operation_is_told_when_none_is_named,
        a_removed_instance_still_tells_how_it_went,
        operations_of_others_are_not_told;
    listing:
        a_runtime_is_told_with_its_operations,
        every_word_chooses_the_runtimes_that_it_is_told_of,
        pages_are_asked_for_by_number_across_rows_and_what_is_left_of_others,
        what_is_removed_is_told_by_its_operations_and_forgets_who_ordered,
        a_tenant_sees_its_own_runtimes_alone,
        of_changes_the_newest_two_are_told_and_all_are_counted,
        configurations_are_told_on_request_without_secrets,
        the_kyma_that_the_provisioner_installs_is_told_in_the_same_form,
        a_pattern_finds_shoots_page_by_page,
        steps_that_were_not_completed_are_told_by_their_names_alone;
    paging:
        removed_runtimes_behind_a_long_list_are_not_passed_over_while_it_grows,
        from_the_newest_every_runtime_is_on_one_page_and_a_new_one_on_the_first,
        a_runtime_whose_row_cannot_be_read_is_on_its_page,
        a_runtime_that_came_since_a_long_list_was_counted_is_on_its_last_page,
        the_last_page_of_a_long_list_is_counted_anew_when_a_runtime_has_gone;
}}
