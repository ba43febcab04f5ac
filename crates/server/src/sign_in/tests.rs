//! Someone signs in at the landscape's issuer, and sees what their token allows.

mod access_tests;

use std::collections::BTreeMap;

use axum::{Router, body::Body, http::Request};
use secrecy::ExposeSecret as _;
use tower::ServiceExt as _;

use super::*;
use crate::{
    access::Doors,
    settings::{self, access::IssuerSettings},
    up::testing::{TestControlPlane, start},
};

const HERE: &str = "http://127.0.0.1:1";

/// The console behind the sign-in, with an issuer that works.
struct Scene {
    up: TestControlPlane,
    sign_in: Arc<SignIn>,
    router: Router,
}

/// The response.
struct TestResponse {
    status: StatusCode,
    location: String,
    cookie: String,
    text: String,
}

impl Scene {
    async fn new(scopes: &str) -> Self {
        let up = start().await;
        let mut settings = settings::load(None).unwrap();
        // What the token says counts; groups would add to it.
        settings.access.issuers = vec![IssuerSettings { groups: BTreeMap::new(), ..up.issuer() }];
        settings.console = ConsoleSettings {
            url: Some(HERE.into()),
            client_id: Some("kcp".into()),
            client_secret: None,
            issuer: None,
            scopes: scopes.into(),
        };
        let doors = Doors { peers: Vec::new(), ..settings.access.doors() };
        let clock = Clock::running();
        let verifier = doors.verifier(&settings.transport.hosts(), &clock).unwrap();
        let sign_in =
            SignIn::new(&settings, &verifier, Sealer::generate(), &clock).unwrap().unwrap();
        let router = sign_in.around(up.console());
        Self { up, sign_in, router }
    }

    async fn ask(&self, method: &str, path: &str, cookie: &str) -> TestResponse {
        self.send(method, path, cookie, "").await
    }

    async fn send(&self, method: &str, path: &str, cookie: &str, form: &str) -> TestResponse {
        let response = self.response(method, path, cookie, form).await;
        let guarded = response.headers().contains_key(header::CONTENT_SECURITY_POLICY);
        assert!(guarded, "{path} has no security headers");
        let text = |name| {
            let value: Option<&HeaderValue> = response.headers().get(name);
            value.map(|it| it.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let (location, cookie) = (text(header::LOCATION), text(header::SET_COOKIE));
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        TestResponse { status, location, cookie, text }
    }

    async fn response(&self, method: &str, path: &str, cookie: &str, form: &str) -> Response {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:1");
        let request = request.header("cookie", cookie).body(Body::from(form.to_owned())).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// The cookie of a signed-in user, and the token of their forms.
    async fn signed_in(&self) -> (String, String) {
        let (back, cookie) = self.at_the_issuer().await;
        let session = self.ask("GET", &back, &cookie).await.cookie;
        let page = self.ask("GET", "/", &session).await.text;
        let (_, word) = page.split_once("name=\"form\" value=\"").unwrap();
        (session, format!("form={}", word.split('"').next().unwrap()))
    }

    /// The way to the issuer and the address that it sends back to, with the cookie that goes along.
    async fn at_the_issuer(&self) -> (String, String) {
        let begun = self.ask("GET", "/console/sign-in?to=%2Fconsole%2Fruntimes", "").await;
        assert!(begun.location.contains("code_challenge_method=S256"), "{}", begun.location);
        let (user, password) = self.up.user();
        let http = provider::client().unwrap();
        let form = [
            ("username", user.as_str()),
            ("password", password.expose_secret()),
            ("decision", "allow"),
        ];
        let answer = http.post(&begun.location).form(&form).send().await.unwrap();
        let back = answer.headers()[header::LOCATION].to_str().unwrap().to_owned();
        (back.strip_prefix(HERE).unwrap().to_owned(), begun.cookie)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn someone_signs_in_and_sees_what_the_token_allows() {
    let scene = Scene::new("openid runtimes:read tenants:any").await;
    let sent = scene.ask("GET", "/console/runtimes?plan=aws", "").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER);
    assert_eq!(sent.location, "/console/sign-in?to=%2Fconsole%2Fruntimes%3Fplan%3Daws");

    let (back, cookie) = scene.at_the_issuer().await;
    let signed_in = scene.ask("GET", &back, &cookie).await;
    assert_eq!(signed_in.location, "/console/runtimes", "{}", signed_in.text);
    let session = signed_in.cookie;

    let runtimes = scene.ask("GET", "/console/runtimes", &session).await;
    assert_eq!(runtimes.status, StatusCode::OK);
    assert!(runtimes.text.contains("No runtimes yet") && runtimes.text.contains("Sign out"));
    assert!(
        !runtimes.text.contains("/console/operations") && !runtimes.text.contains("/console/order")
    );
    for path in [
        "/console/operations",
        "/console/order",
        "/console/events",
        "/console/orchestrations",
        "/console/orchestrations/new",
        "/console/orchestrations/x",
        "/console/jobs",
        "/console/jobs/drift",
        "/console/audit",
        "/console/operations/x/retry",
    ] {
        assert_eq!(scene.ask("GET", path, &session).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    // The address of the form, opened like a page: nobody is signed out.
    let opened = scene.ask("GET", SIGN_OUT, &session).await;
    assert_eq!((opened.status, opened.location.as_str()), (StatusCode::SEE_OTHER, "/"));
    assert_eq!(opened.cookie, "");
    let refused = scene.ask("PUT", SIGN_OUT, &session).await;
    assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(refused.text.contains("/console/sign-out does not take PUT."), "{}", refused.text);
    // A foreign page could send this form, and does not know the word.
    let refused = scene.ask("POST", SIGN_OUT, &session).await;
    assert_eq!((refused.status, refused.cookie.as_str()), (StatusCode::BAD_REQUEST, ""));
    let (_, word) = runtimes.text.split_once("name=\"form\" value=\"").unwrap();
    let word = format!("form={}", word.split('"').next().unwrap());
    let out = scene.send("POST", SIGN_OUT, &session, &word).await;
    assert_eq!((out.status, out.cookie.as_str()), (StatusCode::OK, "kcp-session="));
    scene.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_session_nothing_opens_and_an_answer_of_another_sign_in_is_refused() {
    let scene = Scene::new("openid").await;

    for path in
        ["/", "/console/runtimes/x", "/console/runtimes/x/kubeconfig", "/console/operations/x"]
    {
        let sent = scene.ask("GET", path, "kcp-session=forged").await;
        assert!(sent.location.starts_with("/console/sign-in?to="), "{path}: {}", sent.status);
    }
    assert_eq!(scene.ask("GET", "/console/events", "").await.status, StatusCode::UNAUTHORIZED);
    for path in
        ["/console/order", "/console/runtimes/x/delete", "/console/operations/x/cancel", SIGN_OUT]
    {
        assert_eq!(scene.ask("POST", path, "").await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    let (back, cookie) = scene.at_the_issuer().await;
    let (other, _) = scene.at_the_issuer().await;
    // Nor is one that nobody can read; each is a page with the way to sign in.
    let twice = "/console/signed-in?state=a&state=b&code=%ff&code=c".to_owned();
    for (address, cookie) in [(&other, cookie.as_str()), (&back, ""), (&twice, cookie.as_str())] {
        let refused = scene.ask("GET", address, cookie).await;
        assert_eq!((refused.status, refused.cookie.as_str()), (StatusCode::BAD_REQUEST, ""));
        let parts = ["<!DOCTYPE html>", "You are not signed in", "href=\"/console/sign-in\""];
        assert!(parts.iter().all(|part| refused.text.contains(part)), "{}", refused.text);
    }
    let refused = scene.ask("POST", SIGN_IN, "").await;
    assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(refused.text.contains("/console/sign-in does not take POST."), "{}", refused.text);
    let begun = scene.ask("GET", "/console/sign-in?to=%ff&to=/console/jobs", "").await;
    assert!(begun.location.contains("code_challenge="), "{}", begun.text);
    scene.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_outlived_its_session_is_kept_in_the_page_that_asks_to_sign_in() {
    let scene = Scene::new("openid").await;
    let form = "form=word&name=%3Cdemo%3E%0Ab";

    let kept = scene.send("POST", "/console/order?plan=aws", "", form).await;

    assert_eq!(kept.status, StatusCode::UNAUTHORIZED);
    for part in [
        "Nothing was changed",
        "href=\"/console/sign-in?to=%2F\"",
        "action=\"/console/order?plan=aws\"",
        "name=\"form\" value=\"word\"",
        "name=\"name\" value=\"&lt;demo&gt;\nb\"",
    ] {
        assert!(kept.text.contains(part), "{part}: {}", kept.text);
    }
    let page = |referer: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:1"));
        headers.insert(header::REFERER, HeaderValue::from_str(referer).unwrap());
        page_of_form(&headers)
    };
    assert_eq!(
        page("http://127.0.0.1:1/console/order?plan=aws").unwrap(),
        "/console/order?plan=aws"
    );
    assert_eq!(page("http://127.0.0.1:2/console/order"), None);

    // What a foreign page sends is not shown, nor is what a page fetches.
    for (name, value, shown) in
        [("sec-fetch-site", "cross-site", true), ("sec-fetch-mode", "cors", false)]
    {
        let request = Request::builder().method("POST").uri("/console/order").header(name, value);
        let request = request.body(Body::from(form)).unwrap();
        let response = scene.router.clone().oneshot(request).await.unwrap();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!((text.contains("Sign in"), text.contains("demo")), (shown, false), "{text}");
    }
    scene.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_stay_good_when_the_same_user_signs_in_again() {
    let scene = Scene::new("openid runtimes:read tenants:any").await;
    let (session, word) = scene.signed_in().await;
    let word = word.strip_prefix("form=").unwrap().to_owned();
    let again = async |before: &str| {
        let (back, cookie) = scene.at_the_issuer().await;
        let session = scene.ask("GET", &back, &format!("{cookie}; {before}")).await.cookie;
        scene.ask("GET", "/", &session).await.text.contains(&word)
    };

    assert!(again(&session).await);
    assert!(!again("kcp-session=forged").await);
    scene.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_reads_does_not_change_anything() {
    let scene = Scene::new("openid operations:read orchestrations:read tenants:any").await;
    let (session, word) = scene.signed_in().await;

    for path in ["/console/orchestrations", "/console/orchestrations/new", "/console/jobs"] {
        assert_eq!(scene.ask("GET", path, &session).await.status, StatusCode::OK, "{path}");
    }
    let preview = format!("{word}&do=preview&include-0-all=on");
    let previewed = scene.send("POST", "/console/orchestrations/new", &session, &preview).await;
    assert!(previewed.text.contains("Preview: 0 runtimes"), "{}", previewed.text);
    assert!(!previewed.text.contains("id=\"create\""), "what is not allowed is not offered");
    let create = format!("{word}&do=create&include-0-all=on");
    for (path, form) in [
        ("/console/orchestrations/new", create.as_str()),
        ("/console/orchestrations/x/pause", &word),
        ("/console/orchestrations/x/resume", &word),
        ("/console/orchestrations/x/cancel", &word),
        ("/console/orchestrations/x/retry", &word),
        ("/console/orchestrations/x/workers", &word),
        ("/console/jobs/drift/run", &word),
        ("/console/operations/x/retry", &word),
        ("/console/operations/x/abandon", &word),
    ] {
        let refused = scene.send("POST", path, &session, form).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
        let foreign = scene.send("POST", path, &session, "form=guessed").await;
        assert_eq!(foreign.status, StatusCode::BAD_REQUEST, "{path}");
    }
    scene.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_so_many_live_pages_at_a_time() {
    let scene = Scene::new("openid operations:read tenants:any").await;
    let (session, _) = scene.signed_in().await;
    let open = async || scene.response("GET", "/console/events", &session, "").await;

    let mut streams = Vec::new();
    for _ in 0..16 {
        streams.push(open().await);
    }
    let refused = open().await;
    assert!(streams.iter().all(|it| it.status() == StatusCode::OK));
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);

    streams.pop();
    assert_eq!(open().await.status(), StatusCode::OK);
    drop(streams);
    scene.up.stop().await;
}

#[test]
fn only_pages_of_ours_are_gone_back_to() {
    for ours in ["/", "/console/runtimes?q=a"] {
        assert!(is_ours(ours), "{ours}");
    }
    for foreign in
        ["", "//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"]
    {
        assert!(!is_ours(foreign), "{foreign}");
    }
}

#[test]
fn settings_that_leave_something_out_are_refused_by_name() {
    let refused = |change: fn(&mut Settings)| {
        let mut settings = settings::load(None).unwrap();
        settings.access.issuers = vec!["https://issuer.test".parse().unwrap()];
        settings.console.url = Some("https://kcp.test".into());
        settings.console.client_id = Some("kcp".into());
        change(&mut settings);
        check(&settings).err().map(|error| format!("{error:#}")).unwrap_or_default()
    };

    assert_eq!(refused(|_| {}), "");
    assert!(refused(|it| it.console.client_id = None).contains("console.client_id"));
    assert!(refused(|it| it.console.url = Some("http://kcp.test".into())).contains("not https"));
    assert!(refused(|it| it.access.issuers.clear()).contains("access.issuers"));
    assert!(
        refused(|it| it.console.issuer = Some("https://x.test".into())).contains("console.issuer")
    );
}
