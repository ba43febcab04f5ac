//! Effects of settings: one line of a file, and its effect.

use secrecy::ExposeSecret;

use super::*;

fn read(text: &str) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker.toml");
    std::fs::write(&file, text).unwrap();
    crate::settings::load(Some(&file)).unwrap()
}

fn of_engine(line: &str) -> engine::Settings {
    let settings = read(&format!("[operations]\n{line}\n"));
    let speed = Speed::Times(settings.operations.pace);
    engine_settings(&settings.operations, Some("a".into()), speed)
}

#[test]
fn settings_of_operations_reach_the_engine() {
    assert_eq!(of_engine("keep_journal = \"3d\"").keep_journal, Duration::from_hours(72));
    assert_eq!(of_engine("lease = \"7s\"").lease, Duration::from_secs(7));
    assert_eq!(of_engine("workers = 3").workers, 3);
    assert!((of_engine("pace = 4.0").pace - 4.0).abs() < f64::EPSILON);
    assert_eq!(of_engine("").replica.as_deref(), Some("a"));
}

#[test]
fn settings_of_requests_reach_the_api() {
    let text = "[requests]\nbody = 2000\nbody_time = \"2s\"\ntime = \"3s\"\n";

    let limits = read(text).requests.limits().unwrap();

    assert_eq!(limits.body, 2_000);
    assert_eq!((limits.body_time, limits.time), (Duration::from_secs(2), Duration::from_secs(3)));
    let refused = read("[requests]\nbody_time = \"30s\"\n").requests.limits().unwrap_err();
    assert!(refused.to_string().contains("requests.body_time"), "{refused}");
}

#[test]
fn settings_of_connections_reach_the_listener() {
    let text = "[connections]\ntotal = 7\nper_peer = 5\nheader_time = \"3s\"\nidle_time = \"4s\"\n";

    let limits = read(text).connections.limits();

    assert_eq!((limits.total, limits.per_peer), (7, 5));
    assert_eq!(limits.header_time, Duration::from_secs(3));
    assert_eq!(limits.idle_time, Duration::from_secs(4));
}

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

#[test]
fn what_is_waited_for_must_end_before_the_operation_does() {
    let of = |limit: &str| {
        let text = format!(
            "[operations]\nlimit = \"{limit}\"\n[runtimes]\nlimit = \"6h\"\nreconciliation_limit = \"2h\"\n"
        );
        let settings = read(&text);
        from_settings::limits(&settings, &settings.systems)
    };

    let limits = of("9h").unwrap();
    assert_eq!(limits.provisioning, Duration::from_hours(9));
    assert_eq!(limits.runtime, Duration::from_hours(6));
    assert_eq!(limits.reconciler, Duration::from_hours(2));
    for too_short in ["8h", "7h"] {
        assert!(of(too_short).unwrap_err().to_string().contains("operations.limit"));
    }
}

#[test]
fn settings_of_answers_reach_those_who_ask() {
    let text = "[answers]\naddress = \"https://broker.example.test\"\n\
        dashboard = \"https://dashboard.example.test/a\"\ntrial_documentation = \"https://docs.example.test\"\n\
        [runtimes]\nshoot_domain = \"shoots.example.test\"\n";

    let answers = from_settings::answers(&read(text));

    assert_eq!(answers.kubeconfig_label.as_deref(), Some("https://broker.example.test"));
    assert_eq!(answers.dashboard, "https://dashboard.example.test/a");
    assert_eq!(answers.shoot_domain, "shoots.example.test");
    let notice = answers.trial_notice.unwrap();
    assert_eq!(notice.documentation, "https://docs.example.test");
    let without = from_settings::answers(&read(""));
    assert!(without.kubeconfig_label.is_none() && without.trial_notice.is_none());
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
fn settings_of_the_catalog_reach_the_offer() {
    let offer = |line: &str| {
        let settings = read(&format!("[catalog]\n{line}\n"));
        from_settings::catalog(&settings).unwrap().1
    };

    for given in [true, false] {
        let of = |name: &str| offer(&format!("{name} = {given}"));
        assert_eq!(of("on_demand_versions").on_demand_versions, given);
        assert_eq!(of("closed").closed, given);
        assert_eq!(of("additional_parameters").additional_parameters, given);
    }
    assert_eq!(offer("plans = [\"aws\"]").plans, ["aws"]);
    let settings = read(
        "[catalog]\noidc_issuer_url = \"https://people.example.test/\"\noidc_client_id = \"c-1\"\n",
    );
    let (catalog, _) = from_settings::catalog(&settings).unwrap();
    let printed = format!("{catalog:?}");
    assert!(printed.contains("https://people.example.test\"") && printed.contains("c-1"));
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
