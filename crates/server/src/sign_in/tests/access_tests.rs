//! Every route of the signed-in console: without a session, with one that does not count, and with one of some scopes.
//!
//! What a reader would get wrong: sessions are sealed here with the console's own key. How people get one is tested beside this file.

use std::collections::BTreeSet;

use super::*;
use crate::up::{
    access_tests::{CONSOLE, routes},
    console_tests::PAGES,
};

const ANY_TENANT: &str = "tenants:any";
/// Method and path of what needs no session: the way in, and the stylesheet.
const WITHOUT: [(&str, &str); 3] =
    [("get", SIGN_IN), ("get", SIGNED_IN), ("get", "/console/assets/{name}")];

impl Scene {
    /// The cookie of a session with these scopes, which ends after so many seconds.
    fn session_of(&self, scopes: &[&str], seconds: i64) -> String {
        let session = Session {
            name: "jo".into(),
            issuer: String::new(),
            scopes: scopes.iter().map(ToString::to_string).collect(),
            tenant: None,
            until: self.sign_in.clock.now() + SignedDuration::from_secs(seconds),
            form: "word".into(),
        };
        first_pair(&self.sign_in.cookies.sealed(SESSION, &session))
    }

    /// Status and location of a page; forms carry the session's word.
    async fn opened(&self, (method, path): (&str, &str), cookie: &str) -> (u16, String) {
        let path = path.replace("{action}", "retry").replace(['{', '}'], "");
        let form = if method == "post" { "form=word&do=create&include-0-all=on" } else { "" };
        let response = self.response(&method.to_uppercase(), &path, cookie, form).await;
        let location = response.headers().get(header::LOCATION);
        let location = location.map(|it| it.to_str().unwrap().to_owned()).unwrap_or_default();
        (response.status().as_u16(), location)
    }
}

fn first_pair(cookie: &HeaderValue) -> String {
    cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
}

fn leads_to_the_sign_in((status, location): &(u16, String)) -> bool {
    *status == 401 || (*status == 303 && location.starts_with("/console/sign-in"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_behind_the_sign_in_needs_a_session_with_each_of_its_scopes() {
    let scene = Scene::new("openid").await;
    let pages = CONSOLE.iter().map(|(method, path, ..)| (*method, *path));
    let pages = pages.filter(|(_, path)| !path.starts_with("/console/landscape"));
    let listed: BTreeSet<_> =
        pages.chain(WITHOUT).chain(["get", "post"].map(|it| (it, SIGN_OUT))).collect();
    let found = routes(&scene.router);
    let found: BTreeSet<_> = found.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    assert_eq!(found, listed, "the routes, and those of the table of access");
    let all: Vec<&str> = console::SCOPES.into_iter().chain([ANY_TENANT]).collect();
    let over = scene.session_of(&all, -1);
    let foreign = Cookies::new(Sealer::generate(), false).sealed(SESSION, &"jo");
    let session = scene.session_of(&all, 600);

    for route in listed {
        if WITHOUT.contains(&route) {
            let opened = scene.opened(route, "").await;
            assert!(!leads_to_the_sign_in(&opened), "{route:?}: {opened:?}");
            continue;
        }
        for (what, cookie) in [
            ("no session", ""),
            ("no cookie of ours", "kcp-session=x"),
            ("another key", &first_pair(&foreign)),
            ("a session that is over", &over),
        ] {
            let opened = scene.opened(route, cookie).await;
            assert!(leads_to_the_sign_in(&opened), "{route:?} with {what}: {opened:?}");
        }
        let opened = scene.opened(route, &session).await;
        let is_open = !leads_to_the_sign_in(&opened) && opened.0 != 403 && opened.0 < 500;
        assert!(is_open, "{route:?} with every scope: {opened:?}");
    }
    for (method, path, scopes, _) in PAGES {
        for missing in scopes {
            let others: Vec<&str> = all.iter().copied().filter(|it| it != missing).collect();
            let opened = scene.opened((method, path), &scene.session_of(&others, 600)).await;
            assert_eq!(opened.0, 403, "{method} {path} without {missing}");
        }
        let own: Vec<&str> = scopes.iter().copied().chain([ANY_TENANT]).collect();
        let opened = scene.opened((method, path), &scene.session_of(&own, 600)).await;
        let is_open = !leads_to_the_sign_in(&opened) && opened.0 != 403 && opened.0 < 500;
        assert!(is_open, "{method} {path} with its scopes: {opened:?}");
    }
    scene.up.stop().await;
}
