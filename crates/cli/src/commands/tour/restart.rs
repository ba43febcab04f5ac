//! The part that only a person can do: kill the control plane, and start it again.
//!
//! What a reader would get wrong: a restart may be quicker than two looks at it. Each start writes a new token into the
//! connection file, and that is what tells one process from the next.

use std::{path::Path, time::Duration};

use base::Clock;
use secrecy::ExposeSecret;

use super::guide::Guide;
use crate::{client::Client, connection, output};

const PAUSE: Duration = Duration::from_millis(300);

/// Waits until another process answers; `false` when the traveller does not want to.
pub(super) async fn wait(
    guide: &mut Guide,
    data: Option<&Path>,
    before: &str,
) -> anyhow::Result<bool> {
    let clock = Clock::running();
    loop {
        if guide.was_interrupted() {
            return Ok(false);
        }
        if token(data).is_some_and(|token| token != before) && answers(data).await {
            output::print("It is back.\n")?;
            return Ok(true);
        }
        clock.sleep(PAUSE).await;
    }
}

/// The token in the connection file.
pub(super) fn token(data: Option<&Path>) -> Option<String> {
    Some(connection::find(data).ok()?.token.expose_secret().to_owned())
}

async fn answers(data: Option<&Path>) -> bool {
    let Ok(client) = Client::connect(data) else { return false };
    client.list(&[("limit", "1".to_owned())]).await.is_ok()
}
