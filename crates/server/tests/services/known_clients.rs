//! Clients of the original, in our own words: what its operators' client and its broker send, in their order, and what
//! they need from the answers. All over sockets, against `kcp up`.

use std::{path::Path, time::Duration};

use base::Clock;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::{Method, RequestBuilder, Url, redirect};
use serde_json::{Value, json};
use server::{settings, up::Up};

use crate::platform::Platform;
use crate::support::{free_ports, options};

/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://localhost:8000";
/// The client asks for one of them twice.
const SCOPES: &str = "email openid openid";
const PEER: &str =
    "keb@127.0.0.0/8=provisioner:read,provisioner:write,provisioner:kubeconfig,tenants:any";

async fn start(data: &Path, peers: &[&str]) -> Up {
    let mut options = options(free_ports(), data, "max", settings::load(None).unwrap());
    options.provisioner.access.peers = peers.iter().map(|peer| peer.parse().unwrap()).collect();
    Up::start(options).await.unwrap()
}

async fn answer(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn claims(token: &str) -> Value {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

/// The operators' client.
struct Operator {
    broker: String,
    landscape: String,
    user: String,
    password: String,
    secret: String,
    http: reqwest::Client,
}

impl Operator {
    fn of(data: &Path) -> Self {
        let read = |file: &str| -> Value {
            serde_json::from_slice(&std::fs::read(data.join(file)).unwrap()).unwrap()
        };
        let (connection, credentials) = (read("connection.json"), read("credentials.json"));
        Self {
            broker: text(&connection["broker"]),
            landscape: text(&connection["landscape"]),
            user: text(&connection["user"]),
            password: text(&connection["password"]),
            secret: text(&credentials["client_secret"]),
            http: reqwest::Client::builder().redirect(redirect::Policy::none()).build().unwrap(),
        }
    }

    /// Asks for a token as the public client `kcp`: its name and an empty secret in the header.
    async fn tokens(&self, form: &[(&str, &str)]) -> (u16, Value) {
        let asked = self.http.post(format!("{}/oauth2/token", self.landscape));
        answer(asked.basic_auth("kcp", Some("")).form(form)).await
    }

    /// Submits the login page as a browser does, and returns the code.
    async fn code(&self, decision: &str, password: &str) -> Result<String, u16> {
        let (_, discovery) =
            answer(self.http.get(format!("{}/.well-known/openid-configuration", self.landscape)))
                .await;
        assert_eq!(discovery["issuer"], self.landscape, "compared as a text");
        let fields = [
            ("access_type", "offline"),
            ("client_id", "kcp"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("nonce", "n-1"),
            ("redirect_uri", REDIRECT),
            ("response_type", "code"),
            ("scope", SCOPES),
            ("state", "s-1"),
        ];
        let endpoint = text(&discovery["authorization_endpoint"]);
        let page = Url::parse_with_params(&endpoint, fields).unwrap();
        assert_eq!(self.http.get(page.clone()).send().await.unwrap().status(), 200);
        let typed = [("username", &*self.user), ("password", password), ("decision", decision)];
        let back = self.http.post(page).form(&typed).send().await.unwrap();
        if back.status() != 303 {
            return Err(back.status().as_u16());
        }
        let back = Url::parse(back.headers()["location"].to_str().unwrap()).unwrap();
        assert!(back.as_str().starts_with(REDIRECT), "{back}");
        let found = |name: &str| {
            back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        assert_eq!(found("state").as_deref(), Some("s-1"));
        Ok(found("code").or(found("error")).unwrap())
    }

    async fn login_in_the_browser(&self) -> Value {
        let code = self.code("allow", &self.password).await.unwrap();
        let form = [
            ("code", &*code),
            ("code_verifier", VERIFIER),
            ("grant_type", "authorization_code"),
            ("redirect_uri", REDIRECT),
        ];
        let (status, tokens) = self.tokens(&form).await;
        assert_eq!(status, 200, "{tokens}");
        assert_eq!(self.tokens(&form).await.0, 400, "a code works once");
        tokens
    }

    async fn login_with_password(&self, user: &str, password: &str) -> String {
        let form = [
            ("grant_type", "password"),
            ("password", password),
            ("scope", SCOPES),
            ("username", user),
        ];
        let (status, tokens) = self.tokens(&form).await;
        assert_eq!(status, 200, "{tokens}");
        text(&tokens["id_token"])
    }

    /// A token for removals: client credentials with one scope.
    async fn machine(&self) -> String {
        let form = [("grant_type", "client_credentials"), ("scope", "broker:write")];
        let asked = self.http.post(format!("{}/oauth2/token", self.landscape));
        let asked = asked.basic_auth("kcp-broker", Some(&self.secret)).form(&form);
        text(&answer(asked).await.1["access_token"])
    }

    async fn get(&self, address: &str, token: &str) -> (u16, Value) {
        answer(self.http.get(address).bearer_auth(token)).await
    }

    /// One page of the list.
    async fn page(&self, query: &str, token: &str) -> Value {
        let address = format!("{}/runtimes?{query}", self.broker);
        let (status, page) = self.get(&address, token).await;
        assert_eq!(status, 200, "{query}: {page}");
        page
    }

    /// The plans of what fits these filters, by name.
    async fn plans(&self, filters: &str, token: &str) -> Vec<String> {
        let page =
            self.page(&format!("{filters}&op_detail=last&page=1&page_size=100"), token).await;
        let data = page["data"].as_array().unwrap();
        assert_eq!((&page["count"], &page["totalCount"]), (&json!(data.len()), &json!(data.len())));
        let mut plans: Vec<_> = data.iter().map(|one| text(&one["servicePlanName"])).collect();
        plans.sort();
        plans
    }

    /// Removes as the client does, with a service and a plan that nobody has.
    async fn remove(&self, instance: &str, token: &str) -> u16 {
        let path = format!("/oauth/v2/service_instances/{instance}");
        let query = "accepts_incomplete=true&service_id=made-up&plan_id=made-up-too";
        let asked = self.http.delete(format!("{}{path}?{query}", self.broker));
        answer(asked.bearer_auth(token).header("x-broker-api-version", "2.14")).await.0
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_client_of_the_original_logs_in_in_every_way_that_it_has() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), &[]).await;
    let operator = Operator::of(data.path());
    let list = format!("{}/runtimes?op_detail=last&page=1&page_size=100", operator.broker);

    let tokens = operator.login_in_the_browser().await;
    let claimed = claims(&text(&tokens["id_token"]));
    for (claim, wanted) in [("iss", &*operator.landscape), ("aud", "kcp"), ("nonce", "n-1")] {
        assert_eq!(claimed[claim], wanted, "{claimed}");
    }
    assert!(claimed["email"].is_string() && claimed["login_name"].is_string(), "{claimed}");
    assert_eq!(tokens["scope"], "email openid", "once each");
    assert_eq!(operator.get(&list, &text(&tokens["id_token"])).await.0, 200);

    // A token that has run out is renewed; the one that renewed it is used up.
    let old = text(&tokens["refresh_token"]);
    let form = [("grant_type", "refresh_token"), ("refresh_token", &*old)];
    let (_, renewed) = operator.tokens(&form).await;
    assert_eq!(operator.get(&list, &text(&renewed["id_token"])).await.0, 200);
    assert_eq!(operator.tokens(&form).await.0, 400);

    assert_eq!(operator.code("allow", "wrong").await, Err(401));
    assert_eq!(operator.code("deny", &operator.password).await.as_deref(), Ok("access_denied"));
    let person = operator.login_with_password(&operator.user, &operator.password).await;
    assert_eq!(operator.get(&list, &person).await.0, 200);
    // An address that ends with a slash is sent to the clean path.
    let doubled = list.replace("/runtimes", "//runtimes");
    let moved = operator.http.get(doubled).bearer_auth(&person).send().await.unwrap();
    assert_eq!(moved.status(), 301);
    up.stop().await;
}

/// A kubeconfig with a token, for people whose group may have one; the account must be the runtime's.
async fn kubeconfigs_are_for_people(operator: &Operator, person: &str, shoot: &str, runtime: &str) {
    let kubeconfig = async |account: &str, token: &str| {
        let address = format!("{}/kubeconfig/{account}/{runtime}", operator.broker);
        operator.get(&address, token).await
    };
    let (status, file) = kubeconfig("ga-aws", person).await;
    assert_eq!(status, 200, "{file}");
    assert!(text(&file).contains("token: ") && text(&file).contains(shoot), "{file}");
    let address = format!("{}/kubeconfig/ga-aws/{runtime}", operator.broker);
    let asked = operator.http.get(address).bearer_auth(person);
    let headers = asked.send().await.unwrap().headers().clone();
    assert_eq!(headers["cache-control"], "no-store", "nobody in between keeps credentials");
    assert_eq!(kubeconfig("ga-gcp", person).await.0, 404);
    assert_eq!(kubeconfig("ga-aws", &operator.machine().await).await.0, 403);
}

/// A list with events: a page with all operations, and then what happened to its instances, which is shown below each operation.
async fn events_are_in_the_known_form(
    operator: &Operator,
    person: &str,
    [first, second]: [&str; 2],
    runtime: &str,
) {
    let events = async |query: &str| {
        let address = format!("{}/events?{query}", operator.broker);
        let (status, events) = operator.get(&address, person).await;
        assert_eq!(status, 200, "{query}: {events}");
        events.as_array().unwrap().clone()
    };
    let page = format!("instance_id={first}&op_detail=all&page=1&page_size=100");
    let page = operator.page(&page, person).await["data"][0].clone();
    let operation = text(&page["status"]["provisioning"]["operationID"]);

    let own = events(&format!("instance_ids={first}")).await;
    let shown = own.iter().filter(|event| event["OperationID"] == operation);
    let messages: Vec<_> = shown.map(|event| text(&event["Message"])).collect();
    let expected = ["processing step: Starting", "operation processing succeeded"];
    assert!(expected.iter().all(|it| messages.iter().any(|own| own == it)), "{messages:#?}");
    for event in &own {
        let texts = ["ID", "InstanceID", "OperationID", "Message", "CreatedAt"];
        assert!(texts.iter().all(|field| event[field].is_string()), "{event}");
        assert!(["info", "error"].contains(&&*text(&event["Level"])), "{event}");
        assert_eq!(event["InstanceID"], first);
    }
    let time = |event: &Value| text(&event["CreatedAt"]).parse::<jiff::Timestamp>().unwrap();
    assert!(own.is_sorted_by_key(time), "{own:#?}");
    let both = events(&format!("instance_ids={first},{second}")).await;
    assert!(both.len() > own.len() && own.iter().all(|event| both.contains(event)));

    // By the id of a runtime: those of its instance, and none for a runtime that nobody has.
    assert_eq!(events(&format!("runtime_ids={runtime}")).await, own);
    assert!(events("runtime_ids=11111111-1111-4111-8111-111111111111").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_client_of_the_original_lists_with_every_filter_and_removes() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), &[]).await;
    let platform = Platform::of(&up).await;
    let operator = Operator::of(data.path());
    let ids = [
        ("aws", "11111111-1111-4111-8111-11111111aaaa"),
        ("gcp", "11111111-1111-4111-8111-11111111bbbb"),
    ];
    let path = |id: &str| format!("/oauth/v2/service_instances/{id}");
    for (plan, id) in ids {
        let asked = format!("{}?accepts_incomplete=true", path(id));
        let order = platform.order(plan, &json!({}));
        assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202, "{plan}");
    }
    for (_, id) in ids {
        platform.succeeded(&path(id)).await;
    }
    let person = operator.login_with_password(&operator.user, &operator.password).await;
    let aws = format!("instance_id={}", ids[0].1);
    let one =
        operator.page(&format!("{aws}&page=1&page_size=100"), &person).await["data"][0].clone();
    let (shoot, runtime) = (text(&one["shootName"]), text(&one["runtimeID"]));
    assert!(one["kymaVersion"].is_string(), "all operations unless it says otherwise: {one}");

    let both = ["aws", "gcp"].as_slice();
    let all = "state=succeeded&state=failed&state=error&state=provisioning&state=deprovisioning\
               &state=upgrading&state=suspended&state=deprovisionincomplete&state=all";
    let filters: [(&str, &[&str]); 16] = [
        ("", both),
        ("account=ga-aws&account=ga-gcp&account=ga-3", both),
        ("subaccount=sa-gcp", &["gcp"]),
        (&format!("shoot={shoot}&shoot=nosuch"), &["aws"]),
        ("shoot=.%2A", both),
        (&aws, &["aws"]),
        (&format!("runtime_id={runtime}"), &["aws"]),
        ("plan=aws&plan=trial&region=eu-central-1", &["aws"]),
        ("region=nowhere", &[]),
        ("state=succeeded", both),
        ("state=failed&state=error", &[]),
        (all, both),
        ("state=suspended", &[]),
        ("expired=true", &[]),
        ("account=ga-aws&subaccount=sa-aws", &["aws"]),
        (&format!("{aws}&state=deprovisioned"), &[]),
    ];
    for (filter, wanted) in filters {
        assert_eq!(operator.plans(filter, &person).await, wanted, "{filter}");
    }
    let pages = async |page: u8| {
        let page = operator.page(&format!("page={page}&page_size=1"), &person).await;
        (page["count"].clone(), page["totalCount"].clone())
    };
    assert_eq!((pages(1).await, pages(3).await), ((json!(1), json!(2)), (json!(0), json!(2))));

    let wide =
        format!("{aws}&kyma_config=true&cluster_config=true&op_detail=all&page=1&page_size=100");
    let wide = operator.page(&wide, &person).await["data"][0].clone();
    assert!(
        wide["kymaVersion"].is_string() && wide["clusterConfig"]["provider"] == "aws",
        "{wide}"
    );
    // The client reads each value as a text; one that is none breaks its whole list.
    let kyma = &wide["kymaConfig"];
    let components = kyma["components"].as_array().unwrap().iter();
    let entries =
        components.chain([kyma]).filter_map(|one| one["configuration"].as_array()).flatten();
    let values: Vec<_> = entries.map(|entry| &entry["value"]).collect();
    assert!(!values.is_empty() && values.iter().all(|value| value.is_string()), "{kyma}");

    // The Reconciler, with the same token: what is empty counts as not given.
    let state = format!("clusters/state?correlationID=&runtimeID={runtime}&schedulingID=");
    for part in [&*state, &format!("reconciliations?runtimeID={runtime}")] {
        let address = format!("{}/reconciler/v1/{part}", operator.landscape);
        assert_eq!(operator.get(&address, &person).await.0, 200, "{part}");
    }

    events_are_in_the_known_form(&operator, &person, ids.map(|(_, id)| id), &runtime).await;
    kubeconfigs_are_for_people(&operator, &person, &shoot, &runtime).await;

    // Removal: a person may not, broker:write is enough, and the runtime can still be looked up by its id.
    let (machine, id) = (operator.machine().await, ids[0].1);
    assert_eq!(operator.remove(id, &person).await, 403);
    assert_eq!(operator.remove(id, &machine).await, 202);
    platform.succeeded(&path(id)).await;
    assert_eq!(operator.plans("", &person).await, ["gcp"]);
    let gone = format!("{aws}&op_detail=last&page=1&page_size=100&state=deprovisioned");
    let gone = operator.page(&gone, &person).await["data"][0].clone();
    assert_eq!(
        (&gone["runtimeID"], &gone["status"]["state"]),
        (&json!(runtime), &json!("deprovisioned"))
    );
    up.stop().await;
}

/// The broker, which leaves tokens to its mesh.
struct Broker {
    http: reqwest::Client,
    url: String,
}

impl Broker {
    async fn ask(&self, tenant: &str, query: &str) -> Value {
        let asked = self.http.post(format!("{}/graphql", self.url)).header("tenant", tenant);
        let asked = asked.json(&json!({"query": query, "variables": null}));
        let (status, answer) = answer(asked).await;
        assert!(status == 200 && answer["errors"].is_null(), "{query}: {status} {answer}");
        answer["data"]["result"].clone()
    }

    /// Follows an operation, and tells its message.
    async fn success(&self, tenant: &str, operation: &str) -> String {
        let query = format!(
            "query {{ result: runtimeOperationStatus(id: \"{operation}\") \
             {{ id operation state message runtimeID lastError {{ errMessage reason component }} }} }}"
        );
        for _ in 0..1_200 {
            let status = self.ask(tenant, &query).await;
            match &*text(&status["state"]) {
                "InProgress" => Clock::running().sleep(Duration::from_millis(50)).await,
                "Succeeded" => return text(&status["message"]),
                _ => panic!("{status}"),
            }
        }
        panic!("{operation} does not end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_broker_of_the_original_is_served_without_a_token_from_order_to_removal() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), &[PEER]).await;
    let broker = Broker { http: reqwest::Client::new(), url: up.connection.provisioner.clone() };
    let status = "id operation state message runtimeID lastError { errMessage reason component }";
    let made = broker
        .ask(
            "ga-1",
            &format!(
                "mutation {{ result: provisionRuntime(config: {{ \
                 runtimeInput: {{ name: \"one-abcde\", labels: {{ broker_instance_id: \"i-1\", global_subaccount_id: \"sa-1\", }}, }}, \
                 clusterConfig: {{ gardenerConfig: {{ name: \"c-1a2b3c4\", kubernetesVersion: \"1.32.4\", volumeSizeGB: 50, \
                 machineType: \"m5.xlarge\", machineImage: \"gardenlinux\", region: \"eu-central-1\", provider: \"aws\", \
                 purpose: \"development\", diskType: \"gp2\", targetSecret: \"aws-free-1\", workerCidr: \"10.250.0.0/16\", \
                 autoScalerMin: 3, autoScalerMax: 10, maxSurge: 1, maxUnavailable: 0, \
                 enableKubernetesVersionAutoUpdate: false, enableMachineImageVersionAutoUpdate: false, \
                 providerSpecificConfig: {{ awsConfig: {{ vpcCidr: \"10.250.0.0/16\", awsZones: [ {{ name: \"eu-central-1a\", \
                 workerCidr: \"10.250.0.0/19\", publicCidr: \"10.250.32.0/20\", internalCidr: \"10.250.48.0/20\", }} ] }}, }} \
                 oidcConfig: {{ clientID: \"people\", issuerURL: \"https://issuer.example.test\", groupsClaim: \"groups\", \
                 signingAlgs: [\"RS256\"], usernameClaim: \"sub\", usernamePrefix: \"-\", }} \
                 dnsConfig: {{ domain: \"c-1a2b3c4.kyma.example.test\", }} euAccess: false, }}, \
                 administrators: [\"jo@example.test\"], }}, }}) {{ {status} }} }}"
            ),
        )
        .await;
    let id = text(&made["runtimeID"]);
    broker.success("ga-1", &text(&made["id"])).await;

    // The kubeconfig is read through the same door.
    let look = format!(
        "query {{ result: runtimeStatus(id: \"{id}\") {{ runtimeConfiguration {{ kubeconfig clusterConfig {{ kubernetesVersion autoScalerMax }} }} }} }}"
    );
    let seen = broker.ask("ga-1", &look).await["runtimeConfiguration"].clone();
    assert!(text(&seen["kubeconfig"]).contains("apiVersion"));

    // Its configured version comes with every upgrade, also where the cluster has a higher one by now.
    let upgrade = format!(
        "mutation {{ result: upgradeShoot(id: \"{id}\", config: {{ gardenerConfig: {{ kubernetesVersion: \"1.32.1\", \
         machineImage: \"gardenlinux\", autoScalerMin: 3, autoScalerMax: 12, }}, administrators: [\"jo@example.test\"], }}) {{ {status} }} }}"
    );
    let begun = broker.ask("ga-1", &upgrade).await;
    let message = broker.success("ga-1", &text(&begun["id"])).await;
    assert!(message.contains("1.32.4"), "{message}");
    let seen = broker.ask("ga-1", &look).await["runtimeConfiguration"]["clusterConfig"].clone();
    assert_eq!(seen, json!({"kubernetesVersion": "1.32.4", "autoScalerMax": 12}));

    // The account has moved: the removal comes from the new one.
    let removal = format!("mutation {{ result: deprovisionRuntime(id: \"{id}\") }}");
    let removal = text(&broker.ask("ga-2", &removal).await);
    broker.success("ga-2", &removal).await;
    let platform = Platform::of(&up).await;
    let left = platform.things().await;
    assert!(!left.iter().any(|thing| thing.1 == "shoot" || thing.1 == "runtime"), "{left:?}");
    up.stop().await;
}
