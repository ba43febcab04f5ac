//! Every route of broker, provisioner and landscape, and the rule of each.
//!
//! What a reader would get wrong: nothing is asked here. Other tests go through the same rows: the audit, tenants, the published documents.

use api::scope::{
    BROKER_WRITE, CLD_READ, KUBECONFIG_READ, METRICS_READ, OPERATIONS_READ, OPERATIONS_WRITE,
    ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, PROVISIONER_READ, PROVISIONER_WRITE, RUNTIMES_READ,
};
use simulators::landscape::{READ, WRITE};

/// The access rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// Everybody.
    Open,
    /// A token with this scope that is for all tenants.
    Operators(&'static str),
    /// A token with this scope that is for a tenant, or for all of them.
    Tenants(&'static str),
    /// A token with this scope.
    Scope(&'static str),
    /// A user and a password.
    Password,
}

use Rule::{Open, Operators, Password, Scope, Tenants};

const READ_QUERY: &str = r#"{"query": "{ runtimeOperationStatus(id: \"x\") { id } }"}"#;
const CHANGE_QUERY: &str = r#"{"query": "mutation { deprovisionRuntime(id: \"x\") }"}"#;

/// Method, path, body, rule.
pub(crate) type Row = (&'static str, &'static str, &'static str, Rule);

const OPEN: [Row; 3] =
    [("get", "/healthz", "", Open), ("get", "/readyz", "", Open), ("get", "/version", "", Open)];
const WATCHING: [Row; 9] = [
    ("get", "/operations", "", Operators(OPERATIONS_READ)),
    ("get", "/operations/events", "", Operators(OPERATIONS_READ)),
    ("get", "/operations/{id}", "", Operators(OPERATIONS_READ)),
    ("get", "/operations/{id}/journal", "", Operators(OPERATIONS_READ)),
    ("get", "/operations/{id}/waiting", "", Operators(OPERATIONS_READ)),
    ("get", "/answers/stuck", "", Operators(OPERATIONS_READ)),
    ("get", "/answers/steps", "", Operators(OPERATIONS_READ)),
    ("get", "/answers/success", "", Operators(OPERATIONS_READ)),
    ("get", "/metrics", "", Operators(METRICS_READ)),
];
const UNSTICKING: [Row; 5] = [
    ("post", "/operations/{id}/cancel", "", Operators(OPERATIONS_WRITE)),
    ("post", "/operations/{id}/retry", "", Operators(OPERATIONS_WRITE)),
    ("post", "/operations/{id}/skip", "", Operators(OPERATIONS_WRITE)),
    ("post", "/operations/{id}/abandon", "", Operators(OPERATIONS_WRITE)),
    ("get", "/audit/verify", "", Operators(OPERATIONS_READ)),
];
const BROKER: &[Row] = &[
    ("get", "/events", "", Operators(RUNTIMES_READ)),
    ("get", "/archive", "", Operators(OPERATIONS_READ)),
    ("get", "/archive/{instance}", "", Operators(OPERATIONS_READ)),
    ("get", "/leftovers", "", Operators(OPERATIONS_READ)),
    ("get", "/leftovers/{instance}", "", Operators(OPERATIONS_READ)),
    ("get", "/may-exist", "", Operators(OPERATIONS_READ)),
    ("delete", "/may-exist/{id}", "", Operators(OPERATIONS_WRITE)),
    ("get", "/jobs", "", Operators(OPERATIONS_READ)),
    ("get", "/jobs/{name}", "", Operators(OPERATIONS_READ)),
    ("get", "/jobs/{name}/details", "", Operators(OPERATIONS_READ)),
    ("post", "/jobs/{name}/run", "{}", Operators(OPERATIONS_WRITE)),
    ("get", "/drift", "", Operators(OPERATIONS_READ)),
    ("get", "/answers/pool", "", Operators(OPERATIONS_READ)),
    ("get", "/answers/capacity", "", Operators(OPERATIONS_READ)),
    ("get", "/answers/status", "", Operators(OPERATIONS_READ)),
    ("get", "/runtimes", "", Tenants(RUNTIMES_READ)),
    ("get", "/runtimes/export", "", Tenants(RUNTIMES_READ)),
    ("get", "/info/runtimes", "", Tenants(CLD_READ)),
    ("put", "/expire/service_instance/{instance_id}", "", Tenants(BROKER_WRITE)),
    ("get", "/bindings/{instance_id}", "", Tenants(RUNTIMES_READ)),
    ("get", "/kubeconfig/", "", Tenants(KUBECONFIG_READ)),
    ("get", "/kubeconfig/{instance_id}", "", Tenants(KUBECONFIG_READ)),
    ("get", "/kubeconfig/{global_account}/{runtime_id}", "", Operators(KUBECONFIG_READ)),
    ("delete", "/kubeconfig/{global_account}/{runtime_id}", "", Operators(KUBECONFIG_READ)),
    ("get", "/orchestrations", "", Operators(ORCHESTRATIONS_READ)),
    ("get", "/orchestrations/{id}", "", Operators(ORCHESTRATIONS_READ)),
    ("get", "/orchestrations/{id}/progress", "", Operators(ORCHESTRATIONS_READ)),
    ("get", "/orchestrations/{id}/operations", "", Operators(ORCHESTRATIONS_READ)),
    ("get", "/orchestrations/{id}/operations/{operation}", "", Operators(ORCHESTRATIONS_READ)),
    ("post", "/upgrade/kyma/preview", "", Operators(ORCHESTRATIONS_READ)),
    ("post", "/upgrade/cluster/preview", "", Operators(ORCHESTRATIONS_READ)),
    ("post", "/upgrade/kyma", "", Operators(ORCHESTRATIONS_WRITE)),
    ("post", "/upgrade/cluster", "", Operators(ORCHESTRATIONS_WRITE)),
    ("put", "/orchestrations/{id}/cancel", "", Operators(ORCHESTRATIONS_WRITE)),
    ("put", "/orchestrations/{id}/pause", "", Operators(ORCHESTRATIONS_WRITE)),
    ("put", "/orchestrations/{id}/resume", "", Operators(ORCHESTRATIONS_WRITE)),
    ("post", "/orchestrations/{id}/retry", "", Operators(ORCHESTRATIONS_WRITE)),
    ("patch", "/orchestrations/{id}/workers", "", Operators(ORCHESTRATIONS_WRITE)),
    ("get", "/openapi/answers.yaml", "", Open),
    ("get", "/openapi/osb.yaml", "", Open),
    ("get", "/openapi/runtimes.yaml", "", Open),
    ("get", "/openapi/orchestrations.yaml", "", Open),
    ("get", "/openapi/operators.yaml", "", Open),
];
const PROVISIONER: [Row; 7] = [
    ("get", "/events", "", Operators(OPERATIONS_READ)),
    ("get", "/", "", Open),
    ("get", "/explorer.js", "", Open),
    ("get", "/explorer.css", "", Open),
    ("get", "/openapi/provisioner.yaml", "", Open),
    ("any", "/graphql", READ_QUERY, Tenants(PROVISIONER_READ)),
    ("any", "/graphql", CHANGE_QUERY, Tenants(PROVISIONER_WRITE)),
];
/// The routes of platforms, below `/oauth`, `/oauth/{region}` and without either.
const PLATFORMS: [(&str, &str); 12] = [
    ("get", "/v2/catalog"),
    ("get", "/v2/service_instances/{instance_id}"),
    ("put", "/v2/service_instances/{instance_id}"),
    ("patch", "/v2/service_instances/{instance_id}"),
    ("delete", "/v2/service_instances/{instance_id}"),
    ("get", "/v2/service_instances/{instance_id}/last_operation"),
    ("put", "/v2/service_instances/{instance_id}/dry_run"),
    ("patch", "/v2/service_instances/{instance_id}/dry_run"),
    ("get", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}"),
    ("put", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}"),
    ("delete", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}"),
    ("get", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}/last_operation"),
];

/// The console of `kcp up`: open to this machine. A form with missing fields is answered with 400.
pub(crate) const CONSOLE: [Row; 49] = [
    ("get", "/", "", Open),
    ("get", "/console", "", Open),
    ("get", "/console/", "", Open),
    ("get", "/console/assets/{name}", "", Open),
    ("get", "/console/events", "", Open),
    ("get", "/console/runtimes", "", Open),
    ("get", "/console/runtimes/export", "", Open),
    ("get", "/console/runtimes/{instance}", "", Open),
    ("get", "/console/runtimes/{instance}/kubeconfig", "", Open),
    ("post", "/console/runtimes/{instance}/kubeconfig", "", Open),
    ("get", "/console/runtimes/{instance}/bindings/{binding}/end", "", Open),
    ("post", "/console/runtimes/{instance}/bindings/{binding}/end", "", Open),
    ("get", "/console/runtimes/{instance}/delete", "", Open),
    ("post", "/console/runtimes/{instance}/delete", "", Open),
    ("get", "/console/runtimes/{instance}/change", "", Open),
    ("post", "/console/runtimes/{instance}/change", "", Open),
    ("get", "/console/runtimes/{instance}/suspend", "", Open),
    ("post", "/console/runtimes/{instance}/suspend", "", Open),
    ("get", "/console/runtimes/{instance}/resume", "", Open),
    ("post", "/console/runtimes/{instance}/resume", "", Open),
    ("get", "/console/order", "", Open),
    ("post", "/console/order", "", Open),
    ("get", "/console/operations", "", Open),
    ("get", "/console/operations/{id}", "", Open),
    ("get", "/console/operations/{id}/{action}", "", Open),
    ("post", "/console/operations/{id}/{action}", "", Open),
    ("get", "/console/orchestrations", "", Open),
    ("get", "/console/orchestrations/new", "", Open),
    ("post", "/console/orchestrations/new", "", Open),
    ("get", "/console/orchestrations/{id}", "", Open),
    ("get", "/console/orchestrations/{id}/cancel", "", Open),
    ("post", "/console/orchestrations/{id}/cancel", "", Open),
    ("post", "/console/orchestrations/{id}/pause", "", Open),
    ("post", "/console/orchestrations/{id}/resume", "", Open),
    ("post", "/console/orchestrations/{id}/retry", "", Open),
    ("post", "/console/orchestrations/{id}/workers", "", Open),
    ("get", "/console/jobs", "", Open),
    ("get", "/console/jobs/{name}", "", Open),
    ("post", "/console/jobs/{name}/run", "", Open),
    ("get", "/console/pool", "", Open),
    ("get", "/console/audit", "", Open),
    ("get", "/console/may-exist", "", Open),
    ("get", "/console/may-exist/{id}/settle", "", Open),
    ("post", "/console/may-exist/{id}/settle", "", Open),
    ("get", "/console/{*rest}", "", Open),
    ("get", "/console/landscape", "", Open),
    ("post", "/console/landscape/troubles", "", Open),
    ("get", "/console/landscape/systems/{system}", "", Open),
    ("post", "/console/landscape/systems/{system}/heal", "", Open),
];

/// The landscape's own routes. Those of its systems have doors of their own, as the real ones do.
const LANDSCAPE: [Row; 17] = [
    ("get", "/landscape/systems", "", Scope(READ)),
    ("get", "/landscape/systems/{system}", "", Scope(READ)),
    ("get", "/landscape/systems/{system}/objects", "", Scope(READ)),
    ("get", "/landscape/systems/{system}/objects/{kind}/{id}", "", Scope(READ)),
    ("delete", "/landscape/systems/{system}/objects/{kind}/{id}", "", Scope(WRITE)),
    ("post", "/landscape/systems/{system}/orders/{order}", "{}", Scope(WRITE)),
    ("post", "/landscape/systems/{system}/reset", "", Scope(WRITE)),
    ("post", "/landscape/reset", "", Scope(WRITE)),
    ("get", "/landscape/troubles", "", Scope(READ)),
    ("post", "/landscape/troubles", "{}", Scope(WRITE)),
    ("delete", "/landscape/troubles", "", Scope(WRITE)),
    ("get", "/landscape/troubles/{id}", "", Scope(READ)),
    ("delete", "/landscape/troubles/{id}", "", Scope(WRITE)),
    ("get", "/landscape/speed", "", Scope(READ)),
    ("put", "/landscape/speed", "{}", Scope(WRITE)),
    ("get", "/landscape/ledger", "", Scope(READ)),
    ("get", "/landscape/ledger/stream", "", Scope(READ)),
];

/// A row with its path in full.
pub(crate) type FullRow = (String, String, &'static str, Rule);

fn owned((method, path, body, rule): Row) -> FullRow {
    (method.into(), path.into(), body, rule)
}

pub(crate) fn broker_rows() -> Vec<FullRow> {
    let routes =
        OPEN.into_iter().chain(WATCHING).chain(UNSTICKING).chain(BROKER.to_vec()).chain(CONSOLE);
    let mut rows: Vec<_> = routes.map(owned).collect();
    for (prefix, token) in [("/oauth", true), ("/oauth/{region}", true), ("", false)] {
        for (method, path) in PLATFORMS {
            let rule = match (token, path) {
                (false, _) => Password,
                (true, "/v2/catalog") => Scope(BROKER_WRITE),
                (true, _) => Tenants(BROKER_WRITE),
            };
            rows.push((method.into(), format!("{prefix}{path}"), "{}", rule));
        }
    }
    rows
}

pub(crate) fn provisioner_rows() -> Vec<FullRow> {
    OPEN.into_iter().chain(WATCHING).chain(UNSTICKING).chain(PROVISIONER).map(owned).collect()
}

pub(super) fn landscape_rows() -> Vec<FullRow> {
    OPEN.into_iter().chain(LANDSCAPE).map(owned).collect()
}
