//! Listening sockets and what is served on them.

mod limited;

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::{Context, anyhow};
use axum::Router;
use base::Clock;
use simulators::trouble::wire::{Line, Wires};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

/// How many connections one service holds at once.
const CONNECTIONS: usize = 1_024;

/// Opens a port on this machine only.
pub(crate) async fn listen(port: u16, what: &str) -> anyhow::Result<TcpListener> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Err(anyhow!(
            "port {port}, needed for {what}, is in use; choose another range with --port"
        )),
        Err(error) => {
            Err(error).with_context(|| format!("port {port} cannot be opened for {what}"))
        }
    }
}

/// Services that are being served.
#[derive(Default)]
pub(crate) struct Serving {
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl Serving {
    /// Serves one more.
    pub(crate) fn add(&mut self, name: &'static str, listener: TcpListener, routes: Router) {
        // Trouble of the landscape resets connections.
        let listener = Wires::new(limited::Limited::new(listener, CONNECTIONS));
        let routes = routes.into_make_service_with_connect_info::<Line>();
        let stop = self.stop.clone().cancelled_owned();
        self.tasks.spawn(async move {
            if let Err(error) = axum::serve(listener, routes).with_graceful_shutdown(stop).await {
                tracing::error!(%error, "{name} is not served any more");
            }
        });
    }

    /// Takes no new connections, lets requests finish within `grace`, cuts off the rest.
    pub(crate) async fn stop(mut self, clock: &Clock, grace: Duration) {
        self.stop.cancel();
        let finished = async { while self.tasks.join_next().await.is_some() {} };
        tokio::select! {
            () = finished => {}
            () = clock.sleep(grace) => tracing::debug!("requests are cut off"),
        }
    }
}
