//! Listening sockets and what is served on them.
//!
//! HTTP/1.1 only: nothing here needs HTTP/2, whose many streams a connection would escape the limits.

mod connection;
mod crowd;
pub(crate) mod tls;

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::{Context, anyhow};
use axum::{Router, http::Extensions};
use base::Clock;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use connection::Connections;
use crowd::Crowd;

/// How long to wait when no connection can be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// How many connections a listener has, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// How many at once.
    pub(crate) total: usize,
    /// How many at once from one address.
    pub(crate) per_peer: usize,
    /// How long the head of a request may take to come.
    pub(crate) header_time: Duration,
    /// How long a connection may be idle between requests, or not take what is written. Longer than what proxies and our own
    /// clients keep idle connections for: the side that closes first must not be the one that is sent a request.
    pub(crate) idle_time: Duration,
}

impl ConnectionLimits {
    /// Defaults for most listeners.
    #[cfg_attr(not(feature = "landscape"), expect(dead_code, reason = "only `kcp up` uses it"))]
    pub(crate) const DEFAULT: Self = Self {
        total: 1_024,
        per_peer: 512,
        header_time: Duration::from_secs(10),
        idle_time: Duration::from_secs(120),
    };

    /// Leaves most file descriptors of the process to databases and outside systems: a quarter is for one listener.
    pub(crate) fn within_descriptors(self, name: &str, descriptors: Option<usize>) -> Self {
        let Some(most) = descriptors.map(|all| (all / 4).max(1)) else { return self };
        if self.total > most {
            tracing::warn!(
                asked = self.total,
                total = most,
                "{name} holds fewer connections than the settings allow: the limit of open files (ulimit -n) is low"
            );
        }
        Self { total: self.total.min(most), per_peer: self.per_peer.min(most), ..self }
    }
}

/// How many files this process may open; none where that cannot be found out.
pub(crate) fn descriptors() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Opens a port on this machine only.
#[cfg_attr(not(feature = "landscape"), expect(dead_code, reason = "only `kcp up` uses it"))]
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

/// How connections are accepted.
#[derive(Clone)]
pub(crate) struct Acceptance {
    pub(crate) limits: ConnectionLimits,
    /// The certificate, if TLS is spoken.
    pub(crate) tls: Option<TlsAcceptor>,
    /// Put around each connection before anything is read from it.
    pub(crate) wrapper: Option<Wrapper>,
}

/// A connection with something around it, and what its requests carry because of that.
pub(crate) type Wrapper = fn(TcpStream) -> (Box<dyn Stream>, Extensions);

/// A byte stream.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Acceptance {
    /// Without TLS, for listeners that only this machine reaches.
    pub(crate) const fn plain(limits: ConnectionLimits) -> Self {
        Self { limits, tls: None, wrapper: None }
    }
}

/// Services that are being served.
pub(crate) struct Serving {
    tasks: JoinSet<()>,
    stop: CancellationToken,
    clock: Clock,
}

impl Serving {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self { tasks: JoinSet::new(), stop: CancellationToken::new(), clock: clock.clone() }
    }

    /// Serves one more.
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        listener: TcpListener,
        routes: Router,
        acceptance: Acceptance,
    ) {
        let Acceptance { limits, tls, wrapper } = acceptance;
        let limits = limits.within_descriptors(name, descriptors());
        let (clock, stop) = (self.clock.clone(), self.stop.clone());
        let crowd = Crowd::new(limits, clock.clone());
        let connections = Connections { routes, limits, tls, wrapper, clock, stop };
        self.tasks.spawn(accept(name, listener, crowd, connections));
    }

    /// Takes no new connections, lets requests finish within `grace`, cuts off the rest.
    pub(crate) async fn stop(mut self, grace: Duration) {
        self.stop.cancel();
        let finished = async { while self.tasks.join_next().await.is_some() {} };
        tokio::select! {
            () = finished => {}
            () = self.clock.sleep(grace) => tracing::debug!("requests are cut off"),
        }
    }
}

async fn accept(
    name: &'static str,
    listener: TcpListener,
    crowd: std::sync::Arc<Crowd>,
    connections: Connections,
) {
    let mut open = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = connections.stop.cancelled() => break,
            Some(_) = open.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => match crowd.enter(address.ip()) {
                Some(seat) => {
                    open.spawn(connections.clone().serve(stream, seat));
                }
                None => tracing::debug!(%address, "a connection to {name} was refused"),
            },
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "{name} cannot accept a connection; an idle one is closed");
                crowd.close_longest_idle();
                connections.clock.sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

fn concerns_one_connection(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod peers_tests;
#[cfg(test)]
mod tests;
