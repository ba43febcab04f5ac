//! Settings: what works, what is refused, and the sample file.

use super::{access::Audience, *};

fn read(text: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker.toml");
    std::fs::write(&file, text).unwrap();
    load(Some(&file)).map_err(|error| format!("{error:#}"))
}

#[test]
fn the_defaults_work_and_a_file_changes_them() {
    let settings = read("[operations]\nlimit = \"1d 6h\"\nworkers = 3\n").unwrap();

    assert_eq!(settings.operations.limit, Duration::from_hours(30));
    assert_eq!(settings.operations.workers.get(), 3);
    assert_eq!(settings.operations.lease, Duration::from_secs(10));
    assert_eq!(settings.telemetry.format, Format::Text);
}

#[test]
fn mistakes_name_the_file_the_line_and_the_key() {
    let table = [
        ("[operations]\nworkerz = 3\n", "line 2", "workerz"),
        ("[operations]\nworkers = 0\n", "line 2", "workers"),
        ("[operations]\n\nlimit = \"soon\"\n", "line 3", "limit"),
        ("listen = \"here\"\n", "line 1", "listen"),
        ("[telemetry]\nformat = \"xml\"\n", "line 2", "format"),
        ("[operations]\nlease = \"10ms\"\n", "line 2", "lease"),
        ("[operations]\nlimit = \"0s\"\n", "line 2", "limit"),
        ("[operations]\npace = 0.0\n", "line 2", "pace"),
        ("[operations]\npace = -1.0\n", "line 2", "pace"),
        ("[operations]\npace = 1001.0\n", "line 2", "pace"),
        ("[connections]\ntotal = 0\n", "line 2", "total"),
        ("[systems.lifecycle_manager]\ntemplate = \"a\"\n", "line 2", "template"),
        ("[telemetry]\nlog = \"info,=\"\n", "line 2", "log"),
        ("[nonsense]\n", "line 1", "nonsense"),
    ];

    for (text, line, key) in table {
        let error = read(text).unwrap_err();
        assert!(error.contains("broker.toml"), "{error}");
        assert!(error.contains(line), "{error}");
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn an_issuer_is_a_table_or_a_text() {
    let settings = read(
        "[access]\naudience = \"us\"\nissuers = [\"https://a.test\", {url = \"https://b.test\", any_tenant = true}]\n",
    );
    let issuers = settings.unwrap().access.issuers;
    assert_eq!(issuers[0], IssuerSettings::at("https://a.test"));
    assert_eq!(
        issuers[1],
        IssuerSettings { any_tenant: true, ..IssuerSettings::at("https://b.test") }
    );

    let settings = read(
        "[[access.issuers]]\nurl = \"https://a.test\"\naudience = \"any\"\ntenant_claim = \"zid\"\n\
         [access.issuers.groups]\nviewers = [\"runtimes:read\"]\n\
         [[access.issuers]]\nurl = \"https://b.test\"\naudience = [\"x\", \"y\"]\ngroups = {}\n",
    )
    .unwrap();
    let [first, second] = settings.access.issuers.as_slice() else { panic!("{settings:?}") };
    assert_eq!((&first.audience, &*first.tenant_claim), (&Some(Audience::Any), "zid"));
    assert_eq!(first.groups.keys().collect::<Vec<_>>(), ["viewers"]);
    assert_eq!(second.audience, Some(Audience::OneOf(vec!["x".into(), "y".into()])));
    assert!(second.groups.is_empty());
    let said = settings.check().unwrap();
    assert_eq!(said, ["tokens of https://a.test are accepted whatever their audience"]);
}

#[test]
fn issuers_that_cannot_be_meant_are_refused() {
    let with = |line: &str| format!("[[access.issuers]]\nurl = \"https://a.test\"\n{line}\n");
    let table = [
        (with("audiences = \"x\""), "audiences"),
        (with("audience = []"), "an audience is missing"),
        (with("audience = \"\""), "an audience is missing"),
        (with("groups = {a = [\"runtimes:reed\"]}"), "\"runtimes:reed\" is no scope"),
        (with("tenant_claim = \"sub\""), "cannot have the tenant in the claim \"sub\""),
        (with("tenant_claim = \"\""), "cannot have the tenant in the claim"),
        (with(&with("")), "https://a.test is there twice"),
        ("[[access.issuers]]\naudience = \"x\"\n".into(), "url"),
        ("[access]\nissuers = [7]\n".into(), "the table of an issuer, or its url"),
    ];

    for (text, wanted) in table {
        let refused = read(&text)
            .and_then(|settings| settings.check().map(drop).map_err(|error| format!("{error:#}")));
        let said = refused.unwrap_err();
        assert!(said.contains(wanted), "{text}: {said}");
    }
}

#[test]
fn peers_are_shown_as_exceptions_and_those_that_anybody_could_be_are_refused() {
    let with = |lines: &str| {
        let text = format!("[[access.peers]]\nname = \"keb\"\n{lines}\n");
        let checked = read(&text).and_then(|it| it.check().map_err(|error| format!("{error:#}")));
        checked.map(|said| said.join("\n"))
    };

    let said = with(
        "addresses = [\"127.0.0.0/8\", \"::1\"]\nscopes = [\"runtimes:read\", \"tenants:any\"]",
    );
    assert_eq!(
        said.unwrap(),
        "requests without a token from 127.0.0.0/8 or ::1 count as keb: runtimes:read tenants:any"
    );
    for (lines, wanted) in [
        ("scopes = [\"runtimes:read\"]", "anybody could be it"),
        ("addresses = [\"::1\"]\nscopes = []", "keb has no scopes"),
        ("addresses = [\"::1\"]", "scopes"),
        ("addresses = [\"here\"]\nscopes = [\"runtimes:read\"]", "\"here\" is no network"),
        ("addresses = [\"::1\"]\nscopes = [\"all\"]", "\"all\" is no scope"),
        (
            "certificates = [\"a.test\"]\nscopes = [\"runtimes:read\"]",
            "transport.client_authorities",
        ),
    ] {
        let refused = with(lines).unwrap_err();
        assert!(refused.contains(wanted), "{lines}: {refused}");
    }
    let defaults = read("").unwrap();
    assert!(defaults.access.peers.is_empty() && defaults.check().unwrap().is_empty());
}

#[test]
fn secrets_are_not_shown() {
    let settings = read("[database]\nurl = \"postgres://u:hush@h/d\"\n").unwrap();

    assert!(!format!("{settings:?}").contains("hush"));
}

#[test]
fn the_sample_file_is_made_of_the_comments() {
    is_kept_as("broker.toml", &sample());
}

/// Fails unless the file of samples has this text.
pub(super) fn is_kept_as(file: &str, sample: &str) {
    let path = format!("{}/../../config/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        std::fs::write(&path, sample).unwrap();
    }

    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(kept, sample, "run this test with KCP_UPDATE_SAMPLES=1 to write config/{file}");
}
