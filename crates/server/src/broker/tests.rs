//! Effects of settings: one line of a file, and its effect.

mod access;

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
