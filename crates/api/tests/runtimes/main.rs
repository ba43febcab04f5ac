//! `GET /runtimes` over a real socket, always on both databases: access, refusals, contents.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asking;
mod document;
mod exporting;
mod fleet;
mod metering;
#[path = "../support/mod.rs"]
mod support;

store::promises! { fleet::Fleet on sqlite, postgres: {
    asking:
        the_door_opens_with_its_scope_and_a_tenant_only,
        a_tenant_is_told_its_own_runtimes_alone,
        what_is_wrong_with_a_query_is_named,
        every_parameter_chooses,
        pages_are_numbered_from_one,
        a_database_that_is_away_is_no_empty_fleet;
    document:
        the_answer_is_as_the_document_says,
        export_and_metering_are_as_the_document_says;
    exporting:
        an_export_has_every_runtime_that_the_pages_have,
        the_same_filters_choose_what_is_exported,
        what_is_wrong_with_an_export_is_named,
        a_tenant_exports_its_own_runtimes_alone,
        a_table_has_a_header_and_a_row_for_each_runtime;
    metering:
        every_instance_is_listed_in_the_form_that_clients_know,
        only_its_scope_opens_the_list,
        a_failure_has_the_envelope_that_clients_know;
}}
