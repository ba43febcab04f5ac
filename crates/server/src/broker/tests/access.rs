//! Settings of who may order, for which accounts, and which names an order may lead to.

use secrecy::ExposeSecret;

use super::{super::*, read};

#[test]
fn a_platform_speaks_for_its_tenant_alone_and_has_a_password_worth_the_name() {
    let access = |more: &str| {
        let text = format!("[access]\nplatform_user = \"cf\"\n{more}\n");
        from_settings::platforms(&read(&text).access)
    };

    let known = access("platform_password = \"twelve chars\"\nplatform_tenant = \"ga-1\"").unwrap();
    assert_eq!(known[0].tenant.as_deref(), Some("ga-1"));
    assert_eq!((known[0].user.as_str(), known[0].password.expose_secret()), ("cf", "twelve chars"));
    assert_eq!(access("platform_password = \"twelve chars\"").unwrap()[0].tenant, None);
    for (wrong, words) in [
        ("", "belong together"),
        ("platform_password = \"elevenchars\"", "12 are needed"),
        (
            "platform_password = \"twelve chars\"\nplatform_tenant = \"\"",
            "platform_tenant is empty",
        ),
    ] {
        let refused = access(wrong).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
        assert!(!refused.contains("chars\""), "{refused}");
    }
}

#[test]
fn a_platform_that_speaks_for_all_accounts_is_among_the_exceptions() {
    let exceptions = |more: &str| {
        let text = format!(
            "[access]\nplatform_user = \"cf\"\nplatform_password = \"twelve chars\"\n{more}"
        );
        read(&text).exceptions().unwrap()
    };

    let told = exceptions("");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("cf speaks for all global accounts"), "{told:?}");
    assert!(told[0].contains("access.platform_tenant"), "{told:?}");
    assert_eq!(exceptions("platform_tenant = \"ga-1\"\n"), [""; 0]);
    assert_eq!(read("").exceptions().unwrap(), [""; 0]);
}

/// Whether a cluster that an order brings, with a name of this machine as its address, is connected to.
async fn is_reached(line: &str) -> bool {
    let settings = read(&format!("[catalog]\n{line}\n"));
    let gates = Gates::unobserved(&Clock::running(), settings.transport.hosts());
    let clusters = from_settings::customer_clusters(&settings, &gates).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: a, users: [{{name: a, user: {{token: t}}}}], \
         clusters: [{{name: a, cluster: {{server: \"https://localhost:{}\"}}}}], \
         contexts: [{{name: a, context: {{cluster: a, user: a}}}}]}}",
        listener.local_addr().unwrap().port()
    );
    let Ok(cluster) = clusters.get(&kubeconfig.into()).await else { return false };
    tokio::select! {
        biased;
        connected = listener.accept() => connected.is_ok(),
        called = cluster.version() => called.is_ok(),
    }
}

#[tokio::test]
async fn a_name_of_an_order_leads_to_this_machine_only_where_the_settings_allow_it() {
    assert!(!is_reached("").await);
    assert!(is_reached("customer_networks = [\"127.0.0.0/8\", \"::1/128\"]").await);
}

#[test]
fn a_listener_that_others_reach_needs_tls_or_a_setting() {
    let acceptance = |text: &str| {
        let settings = read(text);
        settings.transport.acceptance(settings.listen, settings.connections.limits()).map(drop)
    };

    assert!(acceptance("").is_ok());
    assert!(acceptance("listen = \"[::1]:8080\"\n").is_ok());
    let refused = acceptance("listen = \"0.0.0.0:8080\"\n").unwrap_err().to_string();
    assert!(refused.contains("KCP_BROKER_PLAINTEXT_LISTENER"), "{refused}");
    let allowed = "listen = \"0.0.0.0:8080\"\n[transport]\nplaintext_listener = true\n";
    assert!(acceptance(allowed).is_ok());
    assert_eq!(read(allowed).check().unwrap(), ["the API listens on 0.0.0.0:8080 without TLS"]);
    let half = acceptance("[transport]\ncertificate = \"a.pem\"\n").unwrap_err().to_string();
    assert!(half.contains("belong together"), "{half}");
}
