//! Peers that need no token, over real sockets: known by their address, or by the certificate that they show.

use std::path::PathBuf;

use api::{RequireScope, scope};
use axum::routing::get;
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType,
};
use tempfile::TempDir;

use super::*;
use crate::{access::Doors, settings::access::PeerSettings};

const URI: &str = "spiffe://cluster.test/ns/kcp-system/sa/broker";

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate with this name or URI, and its key.
    fn signs(&self, name: &str, purpose: ExtendedKeyUsagePurpose) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = if name.contains("://") {
            let mut params = CertificateParams::default();
            params.subject_alt_names = vec![SanType::URI(name.try_into().unwrap())];
            params
        } else {
            CertificateParams::new(vec![name.to_owned()]).unwrap()
        };
        params.extended_key_usages = vec![purpose];
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn client(&self, name: &str) -> reqwest::Identity {
        let (certificate, key) = self.signs(name, ExtendedKeyUsagePurpose::ClientAuth);
        reqwest::Identity::from_pem(format!("{certificate}{key}").as_bytes()).unwrap()
    }
}

/// A listener whose only route needs a scope of the provisioner.
async fn serve(peers: Vec<PeerSettings>, tls: Option<TlsAcceptor>) -> (u16, Serving) {
    let clock = Clock::running();
    let doors = Doors { issuers: Vec::new(), audience: "kcp".into(), peers };
    let verifier = doors.verifier(&base::PlaintextHosts::default(), &clock).unwrap();
    let routes = Router::new().route("/", get(async || "hello"));
    let routes = RequireScope::new(verifier, scope::PROVISIONER_READ).around(routes);
    let routes = api::router::shielded(routes, api::RequestLimits::DEFAULT);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut serving = Serving::new(&clock);
    let limits = ConnectionLimits::DEFAULT;
    serving.add("a test", listener, routes, Acceptance { tls, ..Acceptance::plain(limits) });
    (port, serving)
}

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn peer(text: &str) -> PeerSettings {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_peer_without_a_token_is_known_by_its_address_and_one_with_a_bad_token_is_refused() {
    let table = [
        (vec![], 401),
        (vec![peer("broker@127.0.0.0/8=provisioner:read")], 200),
        (vec![peer("broker@127.0.0.0/8=runtimes:read")], 403),
        (vec![peer("broker@10.0.0.0/8=provisioner:read")], 401),
        (vec![peer("a@10.0.0.1=runtimes:read"), peer("b@127.0.0.1=provisioner:read")], 200),
    ];
    for (peers, wanted) in table {
        let shown = format!("{peers:?}");
        let (port, serving) = serve(peers, None).await;
        let client = reqwest::Client::new();
        let ask = async |authorization: &[&str]| {
            let asked = client.get(format!("http://127.0.0.1:{port}/"));
            let asked =
                authorization.iter().fold(asked, |it, one| it.header("authorization", *one));
            asked.send().await.unwrap().status().as_u16()
        };

        assert_eq!(ask(&[]).await, wanted, "{shown}");
        for bad in
            [&["Bearer x"][..], &["Bearer "], &["Basic eDp4"], &[""], &["Bearer x", "Bearer x"]]
        {
            assert_eq!(ask(bad).await, 401, "{shown} with {bad:?}");
        }
        serving.stop(Duration::ZERO).await;
    }
}

#[tokio::test]
async fn a_peer_is_known_by_the_names_in_a_certificate_that_a_trusted_authority_signed() {
    let (authority, other) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = authority.signs("localhost", ExtendedKeyUsagePurpose::ServerAuth);
    let tls = tls::acceptor(
        &file(&folder, "api.crt", &certificate),
        &file(&folder, "api.key", &key),
        Some(&file(&folder, "ca.crt", &authority.pem)),
    );
    let peer = PeerSettings {
        addresses: Vec::new(),
        certificates: vec!["broker.test".into(), URI.into()],
        ..peer("broker@127.0.0.1=provisioner:read")
    };
    let (port, _serving) = serve(vec![peer], Some(tls.unwrap())).await;
    let ask = async |identity: Option<reqwest::Identity>| {
        let trusted = reqwest::Certificate::from_pem(authority.pem.as_bytes()).unwrap();
        let client = reqwest::Client::builder().tls_certs_only([trusted]);
        let client = identity.into_iter().fold(client, reqwest::ClientBuilder::identity);
        let client = client.build().unwrap();
        let answer = client.get(format!("https://localhost:{port}/")).send().await;
        answer.map(|answer| answer.status().as_u16()).ok()
    };

    assert_eq!(ask(Some(authority.client("broker.test"))).await, Some(200));
    assert_eq!(ask(Some(authority.client(URI))).await, Some(200));
    assert_eq!(ask(Some(authority.client("other.test"))).await, Some(401));
    assert_eq!(ask(None).await, Some(401), "a certificate is not needed for a connection");
    assert_eq!(ask(Some(other.client("broker.test"))).await, None, "nobody we trust has signed it");
}
