//! Every promise of the provisioner's store, always on both databases.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accepting;
mod accepting_new;
mod bench;
mod changes;
mod intents;
mod runtimes;
mod sealing;
mod tables;

store::promises! { bench::Bench on sqlite, postgres: {
    accepting_new:
        a_new_runtime_is_stored_with_its_operation_and_answers_its_intent,
        an_operation_that_cannot_be_stored_leaves_no_runtime_and_no_answer,
        an_operation_of_another_runtime_is_not_taken_over,
        an_operation_must_name_its_runtime,
        a_name_is_taken_until_its_runtime_is_deleted,
        of_fifty_orders_for_one_name_one_is_accepted,
        an_id_is_never_used_again,
        an_order_repeated_after_a_lost_answer_stores_nothing_more,
        an_order_whose_intent_is_gone_stores_nothing;
    accepting:
        of_fifty_operations_at_once_one_starts_and_the_others_are_refused,
        a_document_lands_with_its_operation_if_nothing_changed_in_between,
        what_changed_in_between_also_takes_a_cancellation_back,
        what_was_accepted_answers_its_repetition_whatever_became_of_the_runtime,
        nothing_is_accepted_on_a_runtime_that_is_deleted_or_unknown,
        acceptances_and_commits_of_one_runtime_do_not_lock_each_other_out,
        a_runtime_moves_with_the_operation_that_moves_it;
    runtimes:
        pages_of_a_tenant_and_of_all_follow_each_other_without_gaps,
        the_last_operation_is_the_newest,
        a_document_is_replaced_while_nothing_is_unfinished,
        of_a_replacement_and_an_acceptance_from_one_revision_one_wins,
        a_kubeconfig_is_kept_while_the_runtime_is_there,
        the_uid_of_a_shoot_is_kept_once,
        failures_are_listed_until_they_are_told;
    changes:
        a_change_lands_with_its_commit,
        a_fenced_commit_changes_no_runtime,
        deletion_forgets_the_kubeconfig_for_good,
        what_a_change_does_not_mean_is_refused_without_telling_it;
    intents:
        a_key_begins_one_intent_per_tenant,
        fifty_beginnings_with_one_key_are_one_intent,
        a_request_is_recognised_after_the_keys_were_rotated,
        an_intent_has_one_runtime,
        an_answered_intent_is_not_dropped,
        the_abandoned_are_listed_oldest_first_and_the_answered_trimmed,
        an_answered_intent_is_forgotten_with_its_operation_only,
        a_registration_that_nobody_wants_is_abandoned_from_the_start,
        a_request_without_a_key_has_one_of_its_own;
    sealing:
        s1_documents_and_kubeconfigs_are_nowhere_in_clear,
        s3_runtimes_are_read_without_the_old_key_after_a_rotation,
        a_document_opens_in_its_own_row_only;
    tables:
        migrations_run_twice_and_at_once_beside_the_engines;
}}
