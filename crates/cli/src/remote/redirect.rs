//! Where a browser comes back to after a login: a listener on this machine, for one code.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};
use url::Url;

/// The ports of the known client, which its issuers know; any other if both are taken.
const PORTS: [u16; 3] = [8000, 18000, 0];
/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// No browser sends a longer line.
const LONGEST: u64 = 16 * 1024;
const GOOD: &str = "You are logged in. This page can be closed.";
const BAD: &str = "You are not logged in. The terminal says why.";

pub(super) struct Listener {
    listener: TcpListener,
    port: u16,
}

impl Listener {
    pub(super) async fn open() -> anyhow::Result<Self> {
        for port in PORTS {
            if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
                let port = listener.local_addr()?.port();
                return Ok(Self { listener, port });
            }
        }
        bail!("no free port for the redirect of the login")
    }

    /// As issuers know it: by name.
    pub(super) fn address(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// The code that comes with this state. What else comes is answered and forgotten.
    pub(super) async fn code(&self, state: &str) -> anyhow::Result<String> {
        let wait = async {
            loop {
                let (stream, _) = self.listener.accept().await?;
                if let Ok(Some(result)) = answer(stream, state).await {
                    return result;
                }
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        waited.context("login timed out after three minutes")?
    }
}

async fn answer(
    mut stream: TcpStream,
    state: &str,
) -> anyhow::Result<Option<anyhow::Result<String>>> {
    let (reader, mut writer) = stream.split();
    let mut line = String::new();
    let mut reader = BufReader::new(tokio::io::AsyncReadExt::take(reader, LONGEST));
    let read = reader.read_line(&mut line);
    tokio::time::timeout(Duration::from_secs(10), read).await??;
    let found = code_in(&line, state);
    let text = if matches!(found, Some(Ok(_))) { GOOD } else { BAD };
    let length = text.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    writer.write_all(format!("{head}{text}").as_bytes()).await?;
    writer.shutdown().await?;
    Ok(found)
}

/// The code in a request line, if it belongs to this login.
fn code_in(line: &str, state: &str) -> Option<anyhow::Result<String>> {
    let path = line.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse("http://localhost").ok()?.join(path).ok()?;
    let get = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, it)| it);
    if get("state")? != state {
        return None;
    }
    if let Some(error) = get("error") {
        let more = get("error_description").unwrap_or_default();
        return Some(Err(anyhow::anyhow!("login refused by the issuer: {error} {more}")));
    }
    get("code").map(|code| Ok(code.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_belongs_to_the_login_counts() {
        let code = |line: &str| code_in(line, "mine");

        assert_eq!(code("GET /?code=a%2Fb&state=mine HTTP/1.1\r\n").unwrap().unwrap(), "a/b");
        let denied = code("GET /?error=access_denied&state=mine HTTP/1.1").unwrap().unwrap_err();
        assert!(denied.to_string().contains("access_denied"));
        for other in ["GET /?code=x&state=other HTTP/1.1", "GET /favicon.ico HTTP/1.1", "POST /"] {
            assert!(code(other).is_none(), "{other}");
        }
    }
}
