//! A broker that says what the test wants.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
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
        Self::sending(answers.into_iter().map(|(status, body)| written(status, &body)).collect())
    }

    /// The same with answers as they are sent.
    pub(crate) fn sending(answers: Vec<String>) -> Self {
        let (count, mut answers) = (answers.len(), answers.into_iter());
        Self::serving(count, move |request| {
            let path = request.split(' ').nth(1).unwrap().to_owned();
            (path, answers.next().unwrap())
        })
    }

    /// A broker that answers each request, such as `GET /runtimes?page=1`, by what it is; it keeps methods, too.
    pub(crate) fn like(answer: impl Fn(&str) -> (u16, Value) + Send + 'static) -> Self {
        Self::serving(usize::MAX, move |request| {
            let (status, body) = answer(request);
            (request.to_owned(), written(status, &body))
        })
    }

    /// Answers so many requests; `answer` gives what is kept of one, and its answer.
    fn serving(
        count: usize,
        mut answer: impl FnMut(&str) -> (String, String) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        thread::spawn(move || {
            for _ in 0..count {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = BufReader::new(stream.try_clone().unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    assert_ne!(request.read_line(&mut head).unwrap(), 0, "{head}");
                }
                let line = head.split(" HTTP/").next().unwrap();
                let (line, answer) = answer(line);
                kept.lock().unwrap().push(line);
                // An answer may be lost when the connection is closed before the body is read.
                let head = head.to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length = length.map_or(0, |length| length.parse().unwrap());
                request.read_exact(&mut vec![0; length]).unwrap();
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

    /// The output of a command with tables of this width; it must succeed.
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

    /// The output of a command; it must succeed.
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let output = self.kcp(words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// An answer as it is sent; null is no body.
fn written(status: u16, body: &Value) -> String {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
