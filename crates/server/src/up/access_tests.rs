//! Every route of broker and provisioner, with every kind of token: who is let in, and who is not.
//!
//! What a reader would get wrong: the routes are read from the routers themselves, so a route without a row here fails
//! the test. There is no other way to list them than how routers print themselves.

use std::collections::{BTreeMap, BTreeSet};

use api::scope::{
    ALL, ANY_TENANT, BROKER_WRITE, CLD_READ, KUBECONFIG_READ, METRICS_READ, OPERATIONS_READ,
    OPERATIONS_WRITE, ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, PROVISIONER_READ,
    PROVISIONER_WRITE, RUNTIMES_READ,
};
use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode, header::AUTHORIZATION},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use tower::ServiceExt;

use super::*;
use crate::settings::{self, access::IssuerSettings};

/// Who is let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
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
type Row = (&'static str, &'static str, &'static str, Rule);

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
const PLATFORMS: [(&str, &str); 10] = [
    ("get", "/v2/catalog"),
    ("get", "/v2/service_instances/{instance_id}"),
    ("put", "/v2/service_instances/{instance_id}"),
    ("patch", "/v2/service_instances/{instance_id}"),
    ("delete", "/v2/service_instances/{instance_id}"),
    ("get", "/v2/service_instances/{instance_id}/last_operation"),
    ("get", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}"),
    ("put", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}"),
    ("delete", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}"),
    ("get", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}/last_operation"),
];

/// The groups of a person, and the scopes that they have for all tenants.
const PEOPLE: [(&[&str], &[&str]); 6] = [
    (&[], &[]),
    (&["runtimeadmin", "admin", ""], &[]),
    (&["runtimeAdmin"], &[RUNTIMES_READ, KUBECONFIG_READ]),
    (&["runtimeOperator"], &[RUNTIMES_READ]),
    (&["orchestrationsAdmin"], &[ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE]),
    (
        &["runtimeAdmin", "runtimeOperator", "orchestrationsAdmin"],
        &[RUNTIMES_READ, KUBECONFIG_READ, ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE],
    ),
];

/// The console of `kcp up`: open to this machine. What a form lacks is told with 400.
const CONSOLE: [Row; 38] = [
    ("get", "/", "", Open),
    ("get", "/console/assets/{name}", "", Open),
    ("get", "/console/events", "", Open),
    ("get", "/console/runtimes", "", Open),
    ("get", "/console/runtimes/export", "", Open),
    ("get", "/console/runtimes/{instance}", "", Open),
    ("get", "/console/runtimes/{instance}/kubeconfig", "", Open),
    ("get", "/console/runtimes/{instance}/delete", "", Open),
    ("post", "/console/runtimes/{instance}/delete", "", Open),
    ("get", "/console/runtimes/{instance}/change", "", Open),
    ("post", "/console/runtimes/{instance}/change", "", Open),
    ("get", "/console/order", "", Open),
    ("post", "/console/order", "", Open),
    ("get", "/console/operations", "", Open),
    ("get", "/console/operations/{id}", "", Open),
    ("get", "/console/operations/{id}/cancel", "", Open),
    ("post", "/console/operations/{id}/cancel", "", Open),
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
    ("get", "/console/landscape", "", Open),
    ("post", "/console/landscape/troubles", "", Open),
    ("get", "/console/landscape/systems/{system}", "", Open),
    ("post", "/console/landscape/systems/{system}/heal", "", Open),
];

pub(super) fn broker_rows() -> Vec<(String, String, &'static str, Rule)> {
    let owned = |(method, path, body, rule): Row| (method.into(), path.into(), body, rule);
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

pub(super) fn provisioner_rows() -> Vec<(String, String, &'static str, Rule)> {
    let owned = |(method, path, body, rule): Row| (method.into(), path.into(), body, rule);
    OPEN.into_iter().chain(WATCHING).chain(UNSTICKING).chain(PROVISIONER).map(owned).collect()
}

/// Method and path of each route, as the router prints itself.
fn routes(router: &Router) -> BTreeSet<(String, String)> {
    let printed = format!("{router:?}");
    let (mut methods, mut paths) = (BTreeMap::new(), BTreeMap::new());
    for part in printed.split("RouteId(").skip(1) {
        let Some((id, rest)) = part.split_once("): ") else { continue };
        if let Some(path) = rest.strip_prefix('"') {
            paths.entry(id.to_owned()).or_insert(path.split('"').next().unwrap().to_owned());
        } else if rest.contains("MethodRouter {") {
            let all = ["get", "post", "put", "patch", "delete"];
            let some = |method: &&str| {
                rest.split(&format!("{method}: ")).nth(1).is_some_and(|to| !to.starts_with("None"))
            };
            let mut found: Vec<String> =
                all.iter().filter(|m| some(m)).map(ToString::to_string).collect();
            if found.is_empty() {
                found.push("any".into());
            }
            methods.entry(id.to_owned()).or_insert(found);
        }
    }
    let of = |(id, path): (&String, &String)| {
        let methods = methods.get(id).unwrap_or_else(|| panic!("{path} has no methods"));
        methods.iter().map(|method| (method.clone(), path.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of).collect()
}

struct Entrance<'a> {
    up: &'a Up,
    router: Router,
}

impl Entrance<'_> {
    fn token(&self, scopes: &[&str], tenant: Option<&str>) -> String {
        let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        let issuer = self.up.landscape.issuer();
        let mut claims = serde_json::to_value(issuer.claims("kcp", "jo", &scopes, &[])).unwrap();
        if let Some(tenant) = tenant {
            claims["tenant"] = tenant.into();
        }
        format!("Bearer {}", issuer.sign(&claims).unwrap())
    }

    /// The ID token of a person: no scopes, only groups.
    fn id_token(&self, groups: &[&str], tenant: Option<&str>) -> String {
        let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
        let issuer = self.up.landscape.issuer();
        let mut claims = serde_json::to_value(issuer.claims("kcp", "jo", &[], &groups)).unwrap();
        let claims = claims.as_object_mut().unwrap();
        claims.retain(|name, _| !["scp", "scope", "client_id"].contains(&name.as_str()));
        if let Some(tenant) = tenant {
            claims.insert("tenant".into(), tenant.into());
        }
        format!("Bearer {}", issuer.sign(claims).unwrap())
    }

    async fn ask(
        &self,
        (method, path, body, _): &(String, String, &'static str, Rule),
        authorization: &[&str],
    ) -> StatusCode {
        let method = if method == "any" { "POST" } else { method };
        let path = path.replace("{region}", "cf-eu10").replace(['{', '}'], "");
        let mut request = Request::builder()
            .method(method.to_uppercase().as_str())
            .uri(path)
            .header("host", "127.0.0.1:1")
            .header("content-type", "application/json")
            .header("x-broker-api-version", "2.17");
        for value in authorization {
            request = request.header(AUTHORIZATION, *value);
        }
        let request = request.body(Body::from(*body)).unwrap();
        self.router.clone().oneshot(request).await.unwrap().status()
    }

    async fn check(&self, row: &(String, String, &'static str, Rule)) {
        let shown = format!("{} {} {}", row.0, row.1, row.2);
        let refused = async |what: &str, authorization: &[&str], wanted: u16| {
            let status = self.ask(row, authorization).await.as_u16();
            assert_eq!(status, wanted, "{shown} with {what}");
        };
        let let_in = async |what: &str, authorization: &[&str]| {
            let status = self.ask(row, authorization).await;
            assert!(![401, 403].contains(&status.as_u16()), "{shown} with {what}: {status}");
        };
        let (Operators(scope) | Tenants(scope) | Scope(scope)) = row.3 else {
            return self.check_without_scope(row, refused, let_in).await;
        };
        let others: Vec<&str> = ALL.into_iter().filter(|other| *other != scope).collect();
        let wrong = self.token(&others, None);
        let wrong_of_tenant = self.token(&others, Some("ga-1"));
        let plain = self.token(&[scope], None);
        let of_tenant = self.token(&[scope], Some("ga-1"));
        let of_both = self.token(&[scope, ANY_TENANT], Some("ga-1"));
        let of_nobody = self.token(&[scope, ANY_TENANT], Some(""));
        let any = self.token(&[scope, ANY_TENANT], None);

        refused("no token", &[], 401).await;
        refused("a token that is none", &["Bearer x"], 401).await;
        refused("two tokens", &[&any, &any], 401).await;
        refused("an empty tenant", &[&of_nobody], 401).await;
        refused("every other scope", &[&wrong], 403).await;
        refused("every other scope and a tenant", &[&wrong_of_tenant], 403).await;
        let_in("its scope and tenants:any", &[&any]).await;
        match row.3 {
            Operators(_) => {
                refused("its scope alone", &[&plain], 403).await;
                refused("its scope and a tenant", &[&of_tenant], 403).await;
                refused("its scope, a tenant and tenants:any", &[&of_both], 403).await;
            }
            Tenants(_) => {
                refused("its scope alone", &[&plain], 403).await;
                let_in("its scope and a tenant", &[&of_tenant]).await;
            }
            _ => let_in("its scope alone", &[&plain]).await,
        }
    }

    /// People are let in where their groups say, and nowhere else.
    async fn check_people(&self, row: &(String, String, &'static str, Rule)) {
        for (groups, scopes) in PEOPLE {
            for tenant in [None, Some("ga-1")] {
                let wanted = match row.3 {
                    // A token is no password, whosever it is; wrong ones are answered slowly.
                    Password => return,
                    Open => None,
                    Operators(_) if tenant.is_some() => Some(403),
                    Operators(scope) | Tenants(scope) | Scope(scope) => {
                        (!scopes.contains(&scope)).then_some(403)
                    }
                };
                let status = self.ask(row, &[&self.id_token(groups, tenant)]).await.as_u16();
                let refused = [401, 403].contains(&status).then_some(status);
                let shown = format!("{} {} {} of {groups:?} {tenant:?}", row.0, row.1, row.2);
                assert_eq!(refused, wanted, "{shown}: {status}");
            }
        }
    }

    /// Tokens of a platform's own issuer need their scope, and no `tenants:any`; one with a tenant speaks for that one.
    async fn check_platform(&self, row: &(String, String, &'static str, Rule)) {
        let (Operators(scope) | Tenants(scope) | Scope(scope)) = row.3 else { return };
        let others: Vec<&str> = ALL.into_iter().filter(|other| *other != scope).collect();
        let of_tenant = if matches!(row.3, Operators(_)) { Some(403) } else { None };
        for (scopes, tenant, wanted) in [
            (&[scope][..], None, None),
            (&[scope], Some("ga-1"), of_tenant),
            (&others, None, Some(403)),
            (&others, Some("ga-1"), Some(403)),
        ] {
            let status = self.ask(row, &[&self.token(scopes, tenant)]).await.as_u16();
            let refused = [401, 403].contains(&status).then_some(status);
            assert_eq!(refused, wanted, "{} {} {} {scopes:?} {tenant:?}", row.0, row.1, row.2);
        }
    }

    async fn check_without_scope(
        &self,
        row: &(String, String, &'static str, Rule),
        refused: impl AsyncFn(&str, &[&str], u16),
        let_in: impl AsyncFn(&str, &[&str]),
    ) {
        if row.3 == Open {
            return let_in("nothing", &[]).await;
        }
        let credentials = self.up.folder.credentials().unwrap();
        let basic = |password: &str| {
            let pair = format!("{}:{password}", credentials.user);
            format!("Basic {}", BASE64_STANDARD.encode(pair))
        };
        let right = basic(secrecy::ExposeSecret::expose_secret(&credentials.password));
        let every = self.token(&ALL, None);

        refused("nothing", &[], 401).await;
        refused("a token", &[&every], 401).await;
        refused("the password twice", &[&right, &right], 401).await;
        let_in("the password", &[&right]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_opens_to_those_of_its_row_and_every_route_has_a_row() {
    let data = tempfile::tempdir().unwrap();
    let up = Up::start(Options {
        port: free_ports(),
        data: data.path().to_owned(),
        database: None,
        speed: "max".parse().unwrap(),
        gardener: super::GardenerVersion::default(),
        settings: settings::load(None).unwrap(),
        provisioner: settings::provisioner::load(None).unwrap(),
    })
    .await
    .unwrap();
    let credentials = up.folder.credentials().unwrap();
    let entrances = |issuer: IssuerSettings| {
        let doors = Doors { issuers: vec![issuer], audience: "kcp".into(), peers: Vec::new() };
        let verifier = doors.verifier(&base::PlaintextHosts::default(), &up.clock).unwrap();
        let broker =
            broker::routes(&up.broker, &up.connection, &credentials, &up.landscape, &verifier);
        let provisioner = up.provisioner.router(&verifier, api::Limits::DEFAULT);
        [(broker, broker_rows()), (provisioner, provisioner_rows())]
    };
    let url = up.connection.landscape.clone();

    for (router, rows) in entrances(IssuerSettings::at(&url)) {
        let found = routes(&router);
        assert!(found.len() > 10, "routers print themselves differently: {router:?}");
        let listed: BTreeSet<_> =
            rows.iter().map(|(method, path, ..)| (method.clone(), path.clone())).collect();
        assert_eq!(found, listed, "the routes, and the rows of this test");
        let router = shielded(router, api::Limits::DEFAULT);
        let entrance = Entrance { up: &up, router };
        for row in &rows {
            entrance.check(row).await;
            entrance.check_people(row).await;
        }
    }
    for (router, rows) in entrances(landscape::trusted(&url, "kcp")) {
        let entrance = Entrance { up: &up, router: shielded(router, api::Limits::DEFAULT) };
        for row in &rows {
            entrance.check_platform(row).await;
            entrance.check_people(row).await;
        }
    }
    up.stop().await;
}

pub(super) fn free_ports() -> u16 {
    loop {
        let port = fastrand::u16(20_000..32_000);
        if (port..port + 4).all(|port| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return port;
        }
    }
}
