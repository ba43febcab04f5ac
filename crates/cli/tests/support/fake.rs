//! A broker that says what the test wants.

#![allow(dead_code, reason = "each test program uses a part of it")]

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
pub(crate) struct Broker {
    pub(crate) folder: TempDir,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Broker {
    pub(crate) fn answering(answers: Vec<(u16, Value)>) -> Self {
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
    pub(crate) fn sending(answers: Vec<String>) -> Self {
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

    pub(crate) fn kcp(&self, words: &[&str]) -> Output {
        self.kcp_with(words, "")
    }

    /// The same with this on standard input, which is a pipe.
    pub(crate) fn kcp_with(&self, words: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kcp"));
        let command = command.arg("--data").arg(self.folder.path()).args(words);
        // What the machine says about terminals and contexts is not what is tested.
        let command = command.env_remove("COLUMNS").env_remove("KCP_CONTEXT");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = command.spawn().unwrap();
        // A command that reads nothing may have ended by now.
        let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
        running.wait_with_output().unwrap()
    }

    /// What the command prints where tables may be this wide; it must succeed.
    pub(crate) fn prints_in(&self, width: Option<u16>, words: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kcp"));
        command.arg("--data").arg(self.folder.path()).args(words).env_remove("COLUMNS");
        if let Some(width) = width {
            command.env("COLUMNS", width.to_string());
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What the command prints; it must succeed.
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let output = self.kcp(words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}
