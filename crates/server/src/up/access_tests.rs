//! Every route of broker, provisioner and landscape, with every kind of token: who is let in, and who is not.
//!
//! What a reader would get wrong: the routes are read from the routers themselves, so a route without a row in the table
//! fails the test. There is no other way to list them than how routers print themselves.

mod table;

use std::collections::{BTreeMap, BTreeSet};

use api::scope::{
    ALL, ANY_TENANT, KUBECONFIG_READ, ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, RUNTIMES_READ,
};
use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode, header::AUTHORIZATION},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use tower::ServiceExt;

use super::*;
use crate::settings::access::IssuerSettings;
pub(crate) use table::CONSOLE;
use table::{FullRow, landscape_rows};
pub(super) use table::{Rule, broker_rows, provisioner_rows};

use Rule::{Open, Operators, Password, Scope, Tenants};

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
/// Method and path of each route, as the router prints itself.
pub(crate) fn routes(router: &Router) -> BTreeSet<(String, String)> {
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
        let any = vec!["any".to_owned()];
        let methods = methods.get(id).unwrap_or(&any);
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

    async fn ask(&self, (method, path, body, _): &FullRow, authorization: &[&str]) -> StatusCode {
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

    async fn check(&self, row: &FullRow) {
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
    async fn check_people(&self, row: &FullRow) {
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
    async fn check_platform(&self, row: &FullRow) {
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

    /// The landscape knows no tenants.
    async fn check_landscape(&self, row: &FullRow) {
        let shown = format!("{} {}", row.0, row.1);
        let Scope(scope) = row.3 else {
            let status = self.ask(row, &[]).await.as_u16();
            return assert!(![401, 403].contains(&status), "{shown}: {status}");
        };
        let others = ALL.into_iter().chain(simulators::landscape::SCOPES);
        let others: Vec<&str> = others.filter(|other| *other != scope).collect();
        let (wrong, right) = (self.token(&others, None), self.token(&[scope], None));
        for (authorization, wanted) in [
            (&[][..], Some(401)),
            (&["Bearer x"], Some(401)),
            (&[wrong.as_str()], Some(403)),
            (&[right.as_str()], None),
        ] {
            let status = self.ask(row, authorization).await.as_u16();
            let refused = [401, 403].contains(&status).then_some(status);
            assert_eq!(refused, wanted, "{shown} with {authorization:?}: {status}");
        }
    }

    async fn check_without_scope(
        &self,
        row: &FullRow,
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
    let started = testing::start().await;
    let up = started.up();
    let credentials = up.folder.credentials().unwrap();
    let entrances = |issuer: IssuerSettings| {
        let doors = Doors { issuers: vec![issuer], audience: "kcp".into(), peers: Vec::new() };
        let verifier = doors.verifier(&base::PlaintextHosts::default(), &up.clock).unwrap();
        let broker =
            broker::routes(&up.broker, &up.connection, &credentials, &up.landscape, &verifier);
        let provisioner = up.provisioner.router(&verifier, api::RequestLimits::DEFAULT);
        [(broker, broker_rows()), (provisioner, provisioner_rows())]
    };
    let url = up.connection.landscape.clone();

    for (router, rows) in entrances(IssuerSettings::at(&url)) {
        let found = routes(&router);
        assert!(found.len() > 10, "routers print themselves differently: {router:?}");
        let listed: BTreeSet<_> =
            rows.iter().map(|(method, path, ..)| (method.clone(), path.clone())).collect();
        assert_eq!(found, listed, "the routes, and the rows of this test");
        let router = shielded(router, api::RequestLimits::DEFAULT);
        let entrance = Entrance { up, router };
        for row in &rows {
            entrance.check(row).await;
            entrance.check_people(row).await;
        }
    }
    for (router, rows) in entrances(landscape::trusted(&url)) {
        let entrance = Entrance { up, router: shielded(router, api::RequestLimits::DEFAULT) };
        for row in &rows {
            entrance.check_platform(row).await;
            entrance.check_people(row).await;
        }
    }
    started.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_of_the_landscape_needs_its_scope_and_has_a_row() {
    let started = testing::start().await;
    let up = started.up();
    let router = landscape::router(&up.landscape);
    let rows = landscape_rows();
    let listed: BTreeSet<_> =
        rows.iter().map(|(method, path, ..)| (method.clone(), path.clone())).collect();
    let found = routes(&router);
    let found: BTreeSet<_> = found
        .into_iter()
        .filter(|route| route.1.starts_with("/landscape") || listed.contains(route))
        .collect();
    assert_eq!(found, listed, "the routes, and the rows of this test");

    let entrance = Entrance { up, router };
    for row in &rows {
        entrance.check_landscape(row).await;
    }
    drop(entrance);
    started.stop().await;
}
