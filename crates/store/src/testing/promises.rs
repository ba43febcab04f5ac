//! Promises that hold on both databases.

/// One test per promise and database: the modules `sqlite` and `postgres` call the same functions with a world of their own.
///
/// A theme is a module of the calling crate, a promise an `async fn` in it that takes the world.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the promises are in the crate that lists them")]
macro_rules! promises {
    ($module:ident::$world:ident on $($database:ident),+: $themes:tt) => {
        $($crate::promises! { @on $database, $module, $world $themes })+
    };
    (@on $database:ident, $module:ident, $world:ident {
        $($theme:ident: $($promise:ident),+ $(,)?;)+
    }) => {
        mod $database {
            $(mod $theme {$(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $promise() {
                    crate::$theme::$promise(crate::$module::$world::$database().await).await;
                }
            )+})+
        }
    };
}
