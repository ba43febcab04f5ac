//! The landscape as a process: driven from a terminal, killed, and there again.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Command,
};

use serde_json::Value;

use crate::support::{KCP, Running, free_ports, start};

fn landscape(data: &Path, port: u16) -> Running {
    start(&["landscape"], data, port)
}

fn said(data: &Path, words: &[&str]) -> String {
    let output = Command::new(KCP).arg("--data").arg(data).arg("landscape").args(words).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{words:?} {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(data: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&said(data, &[words, &["-o", "json"]].concat())).unwrap()
}

#[test]
fn it_is_looked_at_troubled_killed_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let mut killed = landscape(data, port);
    let systems = said(data, &["systems"]);
    assert!(systems.contains("issuer") && systems.contains("director"), "{systems}");
    said(data, &["trouble", "make", "director", "status", "--calls", "2", "--with", "status=502"]);
    let before = json(data, &["trouble"]);
    assert_eq!(before["troubles"][0]["trouble"]["status"], 502);
    assert_eq!(said(data, &["speed", "max"]), "max\n");
    killed.0.kill().unwrap();
    killed.0.wait().unwrap();
    fs::remove_file(data.join("connection.json")).unwrap();

    let _running = landscape(data, port);
    assert_eq!(json(data, &["trouble"]), before);
    assert_eq!(said(data, &["trouble", "end"]), "all trouble has ended\n");
    assert_eq!(json(data, &["trouble"])["troubles"], Value::Array(Vec::new()));
    assert!(said(data, &["objects", "issuer", "client"]).contains("kcp-provisioner"));
    assert_eq!(json(data, &["ledger"])["more"], false);
    let ordered = said(data, &["order", "director", "add-tenant", "{\"id\": \"ga-9\"}"]);
    assert_eq!(ordered, "director: add-tenant is done\n");
    said(data, &["order", "issuer", "expire-tokens"]);
    said(data, &["reset", "director", "--yes"]);

    // What changes something answers programs, too.
    assert_eq!(json(data, &["speed", "2"])["speed"], 2.0);
    assert_eq!(said(data, &["speed", "-o", "name"]), "2.0\n");
    assert_eq!(json(data, &["order", "issuer", "expire-tokens"])["order"], "expire-tokens");
    assert_eq!(json(data, &["reset", "director", "--yes"])["reset"], "director");
    let made = said(data, &["trouble", "make", "avs", "down", "--seconds", "60", "-o", "name"]);
    assert_eq!(json(data, &["trouble", "end", made.trim()])["ended"].to_string(), made.trim());
    let definitions = json(data, &["crds"]);
    let names = said(data, &["crds", "-o", "name"]);
    assert_eq!(definitions["items"].as_array().map(Vec::len), Some(names.lines().count()));
    assert!(names.contains("shoots.core.gardener.cloud\n"), "{names}");
    assert!(said(data, &["crds"]).starts_with("---\n"));
}

#[test]
fn trouble_of_another_kind_or_without_an_end_is_refused_with_what_there_is() {
    let refused = |words: &[&str]| {
        let mut command = Command::new(KCP);
        command.args(["landscape", "trouble", "make", "avs"]).args(words);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };

    assert!(refused(&["dwon", "--calls", "1"]).contains("'down'"));
    assert!(refused(&["down"]).contains("<--calls <N>|--seconds <N>|--nth <N>>"));
}

#[test]
fn trouble_from_a_terminal_resets_the_connections_it_is_meant_for() {
    let folder = tempfile::tempdir().unwrap();
    let (data, port) = (folder.path(), free_ports());
    let _running = landscape(data, port);
    let make = "trouble make issuer reset --with when=in-body --path /.well-known/*.json$ --nth 2";
    said(data, &make.split(' ').collect::<Vec<_>>());
    let flapping = "trouble make director down --seconds 60 --after-seconds 3600 --flap-ms 500 \
                    --body registerRuntime --probability 0.5";
    said(data, &flapping.split_whitespace().collect::<Vec<_>>());

    let ends: Vec<_> = (0..3).map(|_| end_of_answer(port + 2)).collect();

    assert_eq!(ends, [None, Some(ErrorKind::ConnectionReset), None]);
    let left = json(data, &["trouble"]);
    let left = left["troubles"].as_array().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!((&left[0]["flap_ms"], &left[0]["body"]), (&500.into(), &"registerRuntime".into()));
    let shown = said(data, &["trouble", "-o", "wide"]);
    assert!(shown.contains("FLAP") && shown.contains("registerRuntime"), "{shown}");
    assert!(said(data, &["systems"]).contains("troubled"));
}

/// How a connection ends on which the issuer was asked for its keys.
fn end_of_answer(port: u16) -> Option<ErrorKind> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = "GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).err().map(|error| error.kind())
}
