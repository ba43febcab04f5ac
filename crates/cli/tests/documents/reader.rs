//! Runs the commands of a page, and compares their output.

use std::{
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    page::{Block, Page},
    shape::{Ids, is_id, same_answer, same_lines},
    support::{KCP, Running, free_ports, start},
};

/// Where `kcp up` listens when nobody says otherwise.
const PORT: u16 = 8080;
/// The account in the examples of the provisioner's page.
const TENANT: &str = "my-account";

/// A page, a shell and a running control plane.
struct Reader<'a> {
    folder: TempDir,
    port: u16,
    instead: &'a [(&'a str, &'a str)],
    ids: Ids,
    /// Definitions of earlier blocks.
    definitions: String,
    /// The provisioner's operation that has begun last.
    begun: Option<String>,
    _running: Running,
}

/// Runs the examples of a page.
pub(crate) fn follow(page: &Page, instead: &[(&str, &str)]) {
    let mut reader = Reader::sit_down(instead);
    let mut followed = 0;
    for (place, block) in page.blocks.iter().enumerate() {
        let answer = page.blocks.get(place + 1).filter(|next| next.language == "json");
        match block.language.as_str() {
            "sh" => reader.shell(block, answer),
            "graphql" => reader.ask(block, answer),
            "console" => reader.session(block),
            "json" | "text" | "toml" | "yaml" => continue,
            other => panic!("{}: what is {other:?}?", block.place),
        }
        followed += 1;
    }
    assert!(followed > 0, "there is nothing to follow");
}

impl<'a> Reader<'a> {
    fn sit_down(instead: &'a [(&'a str, &'a str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_ports();
        let running = start(&["up"], &folder.path().join(".kcp"), port);
        let programs = folder.path().join("bin");
        std::fs::create_dir(&programs).unwrap();
        symlink(KCP, programs.join("kcp")).unwrap();
        let ids = Ids::new();
        let (definitions, begun) = (String::new(), None);
        Self { folder, port, instead, ids, definitions, begun, _running: running }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A text of the page as it is meant here: the ports and ids of this run.
    fn meant(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for offset in 0..4 {
            let (shown, here) = (PORT + offset, self.port + offset);
            text = text.replace(&format!("127.0.0.1:{shown}"), &format!("127.0.0.1:{here}"));
        }
        for (shown, here) in &self.ids {
            text = text.replace(shown, here);
        }
        text
    }

    /// A line of commands as it is given here; nothing when it is left out.
    fn given(&self, line: &str) -> Option<String> {
        let mut line = self.meant(line);
        for (old, new) in self.instead {
            if line.contains(old) && new.is_empty() && !old.starts_with(' ') {
                return None;
            }
            line = line.replace(old, new);
        }
        Some(line)
    }

    /// The output of these commands, which must not fail.
    fn run(&self, commands: &str, place: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        let programs: PathBuf = self.path().join("bin");
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &format!("{}\n{commands}", self.definitions)])
            .env("PATH", format!("{}:{path}", programs.display()))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{place}:\n{commands}\n{said}\n{error}");
        said
    }

    fn shell(&mut self, block: &Block, answer: Option<&Block>) {
        let lines: Vec<String> = block.text.lines().filter_map(|line| self.given(line)).collect();
        let said = self.run(&lines.join("\n"), &block.place);
        for line in lines.iter().filter(|line| defines(line)) {
            self.definitions.push_str(line);
            self.definitions.push('\n');
        }
        if let Some(answer) = answer {
            let came =
                serde_json::from_str(&said).unwrap_or_else(|_| panic!("{}: {said}", block.place));
            self.compare(answer, &came);
        }
    }

    /// A session: each command with the lines that it prints.
    fn session(&mut self, block: &Block) {
        for part in block.text.split("$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            let Some(command) = self.given(command) else { continue };
            let came = self.run(&command, &block.place);
            let same = same_lines(shown, &came, &mut self.ids);
            same.unwrap_or_else(|error| panic!("{}: {error} in\n{came}", block.place));
        }
    }

    fn ask(&mut self, block: &Block, answer: Option<&Block>) {
        if block.text.trim_start().starts_with("mutation") {
            self.wait();
        }
        let came = self.query(&self.meant(&block.text));
        match answer {
            Some(answer) => self.compare(answer, &came),
            None => assert_eq!(came.get("errors"), None, "{}: {came:#}", block.place),
        }
        if block.text.trim_start().starts_with("mutation") {
            self.begun = operation(&came["data"]);
        }
    }

    fn compare(&mut self, answer: &Block, came: &Value) {
        let shown: Value = serde_json::from_str(&self.meant(&answer.text))
            .unwrap_or_else(|error| panic!("{}: {error}", answer.place));
        // What was learnt is about the page's own ids.
        let mut learnt = Ids::new();
        let plain: Value = serde_json::from_str(&answer.text).unwrap();
        let same = same_answer(&plain, came, &mut learnt);
        if let Err(error) = same {
            panic!("{}: {error}\n{came:#}\ninstead of\n{shown:#}", answer.place);
        }
        self.ids.extend(learnt);
    }

    /// Waits until what has begun last is done, which must end well.
    fn wait(&mut self) {
        let Some(id) = self.begun.take() else { return };
        self.run(&format!("kcp operations show {id} --follow --provisioner"), "what has begun");
    }

    fn query(&self, query: &str) -> Value {
        let text = std::fs::read_to_string(self.path().join(".kcp/connection.json")).unwrap();
        let connection: Value = serde_json::from_str(&text).unwrap();
        let token = connection["token"].as_str().unwrap();
        let mut curl = Command::new("curl")
            .args([
                "-s",
                "-H",
                "Content-Type: application/json",
                "-H",
                &format!("tenant: {TENANT}"),
            ])
            .args(["-H", &format!("Authorization: Bearer {token}"), "--data-binary", "@-"])
            .arg(format!("{}/graphql", connection["provisioner"].as_str().unwrap()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let body = json!({ "query": query }).to_string();
        curl.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
        let output = curl.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// Whether a line defines something for those after it.
fn defines(line: &str) -> bool {
    let name = line.split(['=', '(']).next().unwrap_or_default();
    !name.is_empty()
        && name.len() < line.len()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// The operation that a mutation has begun.
fn operation(data: &Value) -> Option<String> {
    let result = data.as_object()?.values().next()?;
    let id = result.as_str().or_else(|| result["id"].as_str())?;
    is_id(id).then(|| id.to_owned())
}
