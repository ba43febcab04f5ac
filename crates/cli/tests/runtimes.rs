//! `kcp runtimes` against a broker that says what the test wants: flags become parameters, pages become one table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A broker that gives these answers, one after the other, and keeps what it was asked for.
struct Broker {
    folder: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Broker {
    fn answering(answers: Vec<(u16, Value)>) -> Self {
        let written = answers.into_iter().map(|(status, body)| {
            let body = body.to_string();
            let length = body.len();
            format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
        });
        Self::sending(written.collect())
    }

    /// The same with answers as they are sent.
    fn sending(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                kept.lock().unwrap().push(first.split(' ').nth(1).unwrap().to_owned());
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let connection = json!({
            "broker": address, "provisioner": address, "landscape": address,
            "token": "x.eyJleHAiOjk5OTk5OTk5OTl9.x", "user": "admin", "password": "hush",
        });
        std::fs::write(folder.path().join("connection.json"), connection.to_string()).unwrap();
        Self { folder, asked }
    }

    fn kcp(&self, words: &[&str]) -> Output {
        self.kcp_with(words, "")
    }

    /// The same with this on standard input, which is a pipe.
    fn kcp_with(&self, words: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kcp"));
        let command = command.arg("--data").arg(self.folder.path()).args(words);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = command.spawn().unwrap();
        // A command that reads nothing may have ended by now.
        let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
        running.wait_with_output().unwrap()
    }

    /// What the command prints; it must succeed.
    fn prints(&self, words: &[&str]) -> String {
        let output = self.kcp(words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn runtime(n: usize, state: &str) -> Value {
    json!({
        "instanceID": format!("i-{n}"), "runtimeID": "r", "globalAccountID": "ga-1",
        "subscriptionGlobalAccountID": "payer", "subAccountID": "sa-1", "region": "eu-central-1",
        "subAccountRegion": "cf-eu11", "shootName": format!("c-{n}"), "servicePlanName": "aws",
        "kymaVersion": "2.12.0", "parameters": {"name": "dev"},
        "status": {
            "createdAt": "2026-01-02T03:04:05.678Z", "state": state,
            "provisioning": {"createdAt": "2026-01-02T03:04:05Z"},
            "update": {"data": [{"createdAt": "2026-01-03T03:04:05Z"}], "count": 1, "totalCount": 1},
        },
    })
}

fn page(runtimes: &[Value], total: usize) -> (u16, Value) {
    (200, json!({"data": runtimes, "count": runtimes.len(), "totalCount": total}))
}

#[test]
fn a_table_has_the_columns_that_operators_know() {
    let two = page(&[runtime(1, "succeeded"), runtime(22, "error")], 2);
    let broker = Broker::answering(vec![two.clone(), two]);

    let usual = broker.prints(&["runtimes"]);
    let more = broker.prints(&["rt", "-o", "wide", "--ops", "--subscription-global-account-id"]);

    assert_eq!(
        usual,
        "\
GLOBALACCOUNT ID   SUBACCOUNT ID   SHOOT    REGION         PLAN     CREATED AT            STATE            EU ACCESS
ga-1               sa-1            c-1      eu-central-1   aws      2026/01/02 03:04:05   succeeded        Yes
ga-1               sa-1            c-22     eu-central-1   aws      2026/01/02 03:04:05   error (update)   Yes
"
    );
    let head = more.lines().next().unwrap();
    assert!(
        head.starts_with("INSTANCE ID   NAME     GLOBALACCOUNT ID   SUBSCRIPTION GLOBALACCOUNT ID"),
        "{head}"
    );
    assert!(head.ends_with("EU ACCESS   KYMA VERSION"), "{head}");
    assert_eq!(
        broker.asked(),
        [
            "/runtimes?op_detail=last&page=1&page_size=100",
            "/runtimes?op_detail=all&page=1&page_size=100"
        ]
    );
}

#[test]
fn flags_become_parameters_and_lists_take_commas() {
    let broker = Broker::answering(vec![page(&[], 0)]);

    let nothing = broker.prints(&[
        "runtimes",
        "-c",
        "c-1,c-2",
        "-g",
        "ga",
        "-s",
        "sa",
        "-i",
        "i-1",
        "-i",
        "i-2",
        "-R",
        "eu",
        "-p",
        "aws",
        "-S",
        "FAILED,error",
        "--expired",
        "--kyma-config",
        "--cluster-config",
    ]);

    assert_eq!(nothing.lines().count(), 1, "{nothing}");
    assert_eq!(
        broker.asked(),
        [
            "/runtimes?shoot=c-1&shoot=c-2&account=ga&subaccount=sa&instance_id=i-1&instance_id=i-2&region=eu\
          &plan=aws&state=failed&state=error&op_detail=last&kyma_config=true&cluster_config=true&expired=true\
          &page=1&page_size=100"
        ]
    );
}

#[test]
fn pages_are_put_together_and_an_early_end_is_an_end() {
    let full: Vec<Value> = (0..100).map(|n| runtime(n, "succeeded")).collect();
    let broker = Broker::answering(vec![page(&full, 250), page(&full, 250), page(&full[..7], 250)]);

    let all: Value = serde_json::from_str(&broker.prints(&["runtimes", "-o", "json"])).unwrap();

    assert_eq!((&all["count"], &all["totalCount"]), (&json!(207), &json!(207)));
    assert_eq!(all["data"].as_array().unwrap().len(), 207);
    assert_eq!(broker.asked().len(), 3);
}

/// An answer of lines that come in pieces; whole, or broken off before the last one.
fn lines(whole: bool) -> String {
    let pieces: String = ["{\"n\":1}\n{\"n\"", ":2}\n"]
        .iter()
        .map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len()))
        .collect();
    let end = if whole { "0\r\n\r\n" } else { "" };
    format!(
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{pieces}{end}"
    )
}

#[test]
fn an_export_is_written_as_it_comes() {
    let broker = Broker::sending(vec![lines(true), lines(true), lines(true)]);
    let file = broker.folder.path().join("all.csv");
    let path = file.to_str().unwrap();

    let printed = broker.prints(&["runtimes", "--export", "-", "-p", "aws"]);
    let nothing = broker.prints(&["runtimes", "--export", path, "--ops"]);
    let also = broker.prints(&["runtimes", "-o", "csv"]);

    assert_eq!(printed, "{\"n\":1}\n{\"n\":2}\n");
    assert_eq!((nothing.as_str(), also), ("", printed.clone()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    assert_eq!(
        broker.asked(),
        [
            "/runtimes/export?plan=aws&op_detail=last&format=ndjson",
            "/runtimes/export?op_detail=all&format=csv",
            "/runtimes/export?op_detail=last&format=csv",
        ]
    );
}

#[test]
fn an_export_that_is_broken_off_fails_and_leaves_no_file() {
    let refusal = json!({"error": "while getting query parameters: shoot is wrong"});
    let body = refusal.to_string();
    let refused = format!(
        "HTTP/1.1 400 X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    let broker = Broker::sending(vec![lines(false), lines(false), refused]);
    let file = broker.folder.path().join("all.ndjson");
    std::fs::write(&file, "yesterday").unwrap();
    let path = file.to_str().unwrap();

    for (words, expected) in [
        (["runtimes", "--export", path], "the answer was broken off and is incomplete"),
        (["runtimes", "--export", "-"], "the answer was broken off and is incomplete"),
        (["runtimes", "--export", path], "shoot is wrong"),
    ] {
        let failed = broker.kcp(&words);
        let error = String::from_utf8(failed.stderr).unwrap();
        assert!(!failed.status.success() && error.contains(expected), "{words:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "yesterday");
    assert_eq!(std::fs::read_dir(broker.folder.path()).unwrap().count(), 2);
}

#[test]
fn columns_can_be_chosen() {
    let broker = Broker::answering(vec![page(&[runtime(1, "failed")], 1)]);

    let text = broker.prints(&["rt", "-o", "custom=ID:instanceID,STATE:{.status.state},NONE:x.y"]);

    assert_eq!(text, "ID       STATE    NONE\ni-1      failed\n");
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_anything_is_sent() {
    let broker = Broker::answering(vec![]);

    for (words, expected) in [
        (&["rt", "-S", "odd"][..], "invalid value for state: odd"),
        (&["rt", "-S", "deprovisioned"], "must provide some Instance IDs"),
        (&["rt", "-o", "yaml"], "invalid value for output: yaml"),
        (&["rt", "-o", "custom=x"], "unexpected custom spec: x"),
        (&["rt", "--export", "-", "-o", "wide"], "an export is ndjson or csv"),
        (&["deprovision"], "required"),
        (&["deprovision", "i-1", "--name", "dev"], "cannot be used with"),
        (&["provision", "--plan", "aws", "--name", "dev", "--param", "x"], "KEY=VALUE"),
    ] {
        let output = broker.kcp(words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{words:?}: {error}");
    }
    assert!(broker.asked().is_empty());
}

#[test]
fn a_name_that_several_runtimes_have_removes_none() {
    let two = [runtime(1, "succeeded"), runtime(2, "failed")];
    let broker = Broker::answering(vec![page(&two, 2), page(&two, 2)]);

    let several = broker.kcp(&["deprovision", "--name", "dev"]);
    let none = broker.kcp(&["deprovision", "--name", "other"]);

    let error = String::from_utf8(several.stderr).unwrap();
    assert!(error.contains("i-1, i-2") && !several.status.success(), "{error}");
    let error = String::from_utf8(none.stderr).unwrap();
    assert!(error.contains("there is no runtime of the name \"other\""), "{error}");
    assert!(broker.asked().iter().all(|asked| asked.starts_with("/runtimes?state=all")));
}

const ID: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";

#[test]
fn whatever_destroys_needs_an_answer_or_yes_and_no_terminal_is_no_answer() {
    let destroying: [&[&str]; 9] = [
        &["deprovision", "i-1"],
        &["operations", "cancel", ID],
        &["operations", "retry", ID, "--reason", "it is back"],
        &["operations", "skip", ID, "--step", "Step"],
        &["operations", "abandon", ID],
        &["leftovers", "settle", ID],
        &["landscape", "reset"],
        &["landscape", "reset", "director"],
        &["landscape", "objects", "director", "runtime", "r-1", "--delete"],
    ];
    let broker = Broker::answering(vec![]);

    for words in destroying {
        for input in ["", "n\n", "\n", "no\n", "yesterday\n", "n\ny\n"] {
            let refused = broker.kcp_with(words, input);
            let error = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(1), "{words:?} {input:?}: {error}");
            assert!(error.contains("Type [y/N]: Error: nothing was done"), "{words:?}: {error}");
            assert_eq!(error.contains("--yes"), input.is_empty(), "{words:?} {input:?}: {error}");
            assert!(refused.stdout.is_empty(), "{words:?} {input:?}");
        }
    }

    assert!(broker.asked().is_empty(), "{:?}", broker.asked());
}

#[test]
fn an_answer_through_a_pipe_counts_and_yes_asks_nothing() {
    for (words, input) in [
        (&["deprovision", "i-1"][..], "y\n"),
        (&["deprovision", "i-1"], " YES"),
        (&["deprovision", "i-1", "--yes"], ""),
        (&["deprovision", "-y", "i-1"], "n\n"),
    ] {
        let broker = Broker::answering(vec![(500, json!({}))]);

        let tried = broker.kcp_with(words, input);

        assert_eq!(broker.asked().len(), 1, "{words:?} {input:?}");
        let error = String::from_utf8(tried.stderr).unwrap();
        assert_eq!(error.contains("Type [y/N]"), words.len() == 2, "{words:?}: {error}");
    }
}

#[test]
fn a_refusal_is_told_in_the_brokers_words() {
    let body = json!({"error": "while getting query parameters: shoot \"?\" is not a name"});
    let broker = Broker::answering(vec![(400, body)]);

    let refused = broker.kcp(&["runtimes", "-c", "?"]);

    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && error.contains("shoot \"?\" is not a name"), "{error}");
}
