//! Every route, and whether the audit tells of a request to it: in which word, of whom, and about what.
//!
//! What a reader would get wrong: the routes are those of the table of access. A route that is not listed here must not be in the audit,
//! so that one which changes something and has no entry has to be added by its author.

use std::{collections::BTreeSet, time::Duration};

use api::scope::ALL;
use axum::{
    Router,
    body::Body,
    http::{Request, header},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use store::{
    audit::{AuditEntry, AuditFilter, AuditLog},
    operations::Operations,
};
use tower::ServiceExt as _;
use uuid::Uuid;

use super::{
    Doors, Up,
    access_tests::{Rule, broker_rows, provisioner_rows},
    testing,
};
use crate::settings::access::IssuerSettings;

const INSTANCE: &str = "i-1";
const BINDING: &str = "b-1";
const ID: &str = "01a1e20e-a68a-74b9-9de2-2224a28abcff";
const TENANT: &str = "ga-1";

/// Method and path of everything that changes something or hands out credentials, below each place where platforms come in, and its word.
const AUDITED: [(&str, &str, &str); 23] = [
    ("put", "/v2/service_instances/{instance_id}", "provision"),
    ("patch", "/v2/service_instances/{instance_id}", "update"),
    ("delete", "/v2/service_instances/{instance_id}", "deprovision"),
    ("get", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}", "fetchBinding"),
    ("put", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}", "bind"),
    ("delete", "/v2/service_instances/{instance_id}/service_bindings/{binding_id}", "unbind"),
    ("put", "/expire/service_instance/{instance_id}", "expire"),
    ("get", "/kubeconfig/{instance_id}", "kubeconfig"),
    ("get", "/kubeconfig/{global_account}/{runtime_id}", "kubeconfig"),
    ("delete", "/kubeconfig/{global_account}/{runtime_id}", "unbind"),
    ("post", "/operations/{id}/cancel", "cancel"),
    ("post", "/operations/{id}/retry", "retry"),
    ("post", "/operations/{id}/skip", "skip"),
    ("post", "/operations/{id}/abandon", "abandon"),
    ("delete", "/may-exist/{id}", "settle"),
    ("post", "/upgrade/kyma", "upgradeKyma"),
    ("post", "/upgrade/cluster", "upgradeCluster"),
    ("put", "/orchestrations/{id}/cancel", "cancelOrchestration"),
    ("put", "/orchestrations/{id}/pause", "pauseOrchestration"),
    ("put", "/orchestrations/{id}/resume", "resumeOrchestration"),
    ("post", "/orchestrations/{id}/retry", "retryOrchestration"),
    ("patch", "/orchestrations/{id}/workers", "changeWorkers"),
    ("post", "/jobs/{name}/run", "runJob"),
];

/// The word for a route; none when its requests are not in the audit.
fn action(method: &str, path: &str, body: &str) -> Option<&'static str> {
    let below = path.strip_prefix("/oauth/{region}").or_else(|| path.strip_prefix("/oauth"));
    let below = below.unwrap_or(path);
    let found = AUDITED.iter().find(|row| (row.0, row.1) == (method, below)).map(|row| row.2);
    found.or_else(|| body.contains("mutation").then_some("deprovisionRuntime"))
}

/// Asks a service, and reads what its audit says about it.
struct Asked {
    router: Router,
    log: AuditLog,
    seen: BTreeSet<Uuid>,
}

impl Asked {
    fn new(router: Router, log: AuditLog) -> Self {
        Self { router, log, seen: BTreeSet::new() }
    }

    /// The entries of one request.
    async fn ask(
        &mut self,
        (method, path, body): (&str, &str, &str),
        who: &str,
    ) -> Vec<AuditEntry> {
        // Without the run that it ends, this request is refused before it is known what it is about.
        let ends = method == "delete" && path.ends_with("/{runtime_id}");
        let path = format!("{path}{}", if ends { "?run=r-1" } else { "" })
            .replace("{region}", "cf-eu10")
            .replace("{instance_id}", INSTANCE)
            .replace("{binding_id}", BINDING)
            .replace("{id}", ID)
            .replace(['{', '}'], "");
        let method = if method == "any" { "POST".into() } else { method.to_uppercase() };
        let request = Request::builder()
            .method(method.as_str())
            .uri(&path)
            .header(header::HOST, "127.0.0.1:1")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, "a-test/1")
            .header(header::AUTHORIZATION, who)
            .header("x-broker-api-version", "2.17");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let status = self.router.clone().oneshot(request).await.unwrap().status();
        assert!(![401, 403].contains(&status.as_u16()), "{method} {path}: {status}");
        let filter = AuditFilter { most: 1_000, ..AuditFilter::default() };
        let mut entries = self.log.page(&filter).await.unwrap().entries;
        entries.retain(|entry| self.seen.insert(entry.id));
        entries
    }
}

pub(super) fn bearer(up: &Up, tenant: Option<&str>) -> String {
    let issuer = up.landscape.issuer();
    let scopes: Vec<String> = ALL.map(str::to_owned).into();
    let mut claims = serde_json::to_value(issuer.claims("kcp", "jo", &scopes, &[])).unwrap();
    if let Some(tenant) = tenant {
        claims["tenant"] = tenant.into();
    }
    format!("Bearer {}", issuer.sign(&claims).unwrap())
}

/// What the entry of a request says besides its result.
fn said(entry: &AuditEntry) -> Value {
    json!({
        "action": entry.action, "subject": entry.subject, "issuer": entry.issuer,
        "tenant": entry.tenant, "agent": entry.agent, "instance": entry.instance,
        "operation": entry.operation_id,
        "details": serde_json::from_str::<Value>(&entry.details).unwrap(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_that_changes_something_is_in_the_audit_and_no_other_is() {
    let started = testing::start().await;
    let up = started.up();
    let credentials = up.folder.credentials().unwrap();
    let pair = format!("{}:{}", credentials.user, credentials.password.expose_secret());
    let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
    let issuer = IssuerSettings::at(&up.connection.landscape);
    let doors = Doors { issuers: vec![issuer], audience: "kcp".into(), peers: Vec::new() };
    let verifier = doors.verifier(&base::PlaintextHosts::default(), &up.clock).unwrap();
    let broker =
        super::broker::routes(&up.broker, &up.connection, &credentials, &up.landscape, &verifier);
    let broker = api::router::shielded(broker, api::RequestLimits::DEFAULT);
    let provisioner = up.provisioner.router(&verifier, api::RequestLimits::DEFAULT);
    let of_provisioner = Operations::new(up.provisioner.engine.clone()).audit();
    let logs = [up.broker.operations().audit(), of_provisioner.clone()];
    let mut audited = 0;

    for (mut service, rows) in [
        (Asked::new(broker, up.broker.operations().audit()), broker_rows()),
        (Asked::new(provisioner, of_provisioner), provisioner_rows()),
    ] {
        for (method, path, body, rule) in rows {
            // The console's entries are its own, and pages that are open change nothing.
            if rule == Rule::Open {
                continue;
            }
            let shown = format!("{method} {path} {body}");
            let (tenant, password) = (matches!(rule, Rule::Tenants(_)), rule == Rule::Password);
            let tenant = tenant.then_some(TENANT);
            let who = if password { basic.clone() } else { bearer(up, tenant) };

            let entries = service.ask((method.as_str(), path.as_str(), body), &who).await;

            let Some(action) = action(&method, &path, body) else {
                assert!(entries.is_empty(), "{shown}: {entries:#?}");
                continue;
            };
            assert_eq!(entries.len(), 1, "{shown}: {entries:#?}");
            let entry = &entries[0];
            let settles = action == "settle";
            let of_operator = path.ends_with("/{runtime_id}");
            let details = match action {
                _ if of_operator => json!({"account": "global_account", "runtime": "runtime_id"}),
                "bind" | "unbind" | "fetchBinding" => json!({"binding": BINDING}),
                "settle" => json!({"entry": ID}),
                "deprovisionRuntime" => json!({"tenant": TENANT}),
                _ => json!({}),
            };
            let instance = match action {
                "deprovisionRuntime" => Some("x"),
                _ => path.contains("{instance_id}").then_some(INSTANCE),
            };
            let issuer = up.connection.landscape.trim_end_matches('/');
            let expected = json!({
                "action": action,
                "subject": if password { credentials.user.as_str() } else { "jo" },
                "issuer": if password { "password".to_owned() } else { entry.issuer.clone() },
                "tenant": tenant,
                "agent": "a-test/1",
                "instance": instance,
                "operation": (path.contains("{id}") && !settles).then_some(ID),
                "details": details,
            });
            assert_eq!(said(entry), expected, "{shown}");
            assert!(password || entry.issuer.starts_with(issuer), "{shown}: {}", entry.issuer);
            assert!(entry.result.is_some() && entry.correlation.is_some(), "{shown}: {entry:#?}");
            audited += 1;
        }
    }

    assert!(audited > AUDITED.len(), "{audited}");
    for log in logs {
        let linked = async {
            loop {
                let told = log.verify().await.unwrap();
                assert!(told.whole, "{:?}", told.problem);
                if told.waiting == 0 && told.last > 0 {
                    return;
                }
                up.clock.sleep(Duration::from_millis(25)).await;
            }
        };
        let linked = tokio::time::timeout(Duration::from_mins(1), linked).await;
        linked.expect("every entry gets its place in the chain");
    }
    started.stop().await;
}
