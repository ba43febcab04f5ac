//! `GET /runtimes` over a real socket, always on both databases: who may ask, what is refused, what is told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asking;
mod document;
mod fleet;
#[path = "../support/mod.rs"]
mod support;

/// One test per promise and database.
macro_rules! promises {
    ($($database:ident),+: $themes:tt) => {
        $(promises! { @on $database $themes })+
    };
    (@on $database:ident {$($theme:ident: $($promise:ident),+ $(,)?;)+}) => {
        mod $database {
            $(mod $theme {$(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    crate::$theme::$promise(crate::fleet::Fleet::$database().await).await;
                }
            )+})+
        }
    };
}

promises! { sqlite, postgres: {
    asking:
        the_door_opens_with_its_scope_and_a_tenant_only,
        a_tenant_is_told_its_own_runtimes_alone,
        what_is_wrong_with_a_query_is_named,
        every_parameter_chooses,
        pages_are_numbered_from_one,
        a_database_that_is_away_is_no_empty_fleet;
    document:
        the_answer_is_as_the_document_says;
}}
