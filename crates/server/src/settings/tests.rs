//! Settings: what works, what is refused, and the sample file.

use super::*;

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
fn secrets_are_not_shown() {
    let settings = read("[database]\nurl = \"postgres://u:hush@h/d\"\n").unwrap();

    assert!(!format!("{settings:?}").contains("hush"));
}

#[test]
fn the_sample_file_is_made_of_the_comments() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/broker.toml");
    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        std::fs::write(path, sample()).unwrap();
    }

    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        kept,
        sample(),
        "run this test with KCP_UPDATE_SAMPLES=1 to write config/broker.toml"
    );
}
