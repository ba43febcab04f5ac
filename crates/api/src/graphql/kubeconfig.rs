//! Which parts of a runtime's status a query selects, and who may have the kubeconfig.

use async_graphql::Context;
use provisioner::{Error, status::StatusFields};

use super::answer::failure;
use crate::auth::scope;

/// Whether the token allows to read kubeconfigs.
#[derive(Debug, Clone, Copy)]
pub(super) struct MayOpen(pub(super) bool);

/// The parts that the query selects. A kubeconfig that the caller may not have is null, and the answer has an error.
pub(super) fn wanted(ctx: &Context<'_>) -> StatusFields {
    let selected = ctx.look_ahead();
    let has = |field: &str| selected.field(field).exists();
    let kubeconfig = selected.field("runtimeConfiguration").field("kubeconfig").exists();
    let MayOpen(may) = *ctx.data_unchecked::<MayOpen>();
    if kubeconfig && !may {
        let text =
            format!("kubeconfig: the token lacks the scope {}", scope::PROVISIONER_KUBECONFIG);
        ctx.add_error(ctx.set_error_path(failure(&Error::forbidden(text))));
    }
    StatusFields {
        kubeconfig: kubeconfig && may,
        connection: has("runtimeConnectionStatus"),
        hibernation: has("hibernationStatus"),
    }
}
