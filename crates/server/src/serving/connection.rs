//! One connection: its requests are answered until it ends, is idle for too long, or its place is needed.

use std::{
    convert::Infallible,
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use api::{PeerAddress, Remote, router::Overloaded};
use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::Extensions,
};
use base::Clock;
use http_body::{Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{
    ConnectionLimits, Stream, Wrapper,
    crowd::{Member, Seat},
    tls,
};

/// State that all connections of a listener share.
#[derive(Clone)]
pub(super) struct Connections {
    pub(super) routes: Router,
    pub(super) limits: ConnectionLimits,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) wrapper: Option<Wrapper>,
    pub(super) clock: Clock,
    pub(super) stop: CancellationToken,
}

impl Connections {
    /// Serves one connection to its end.
    pub(super) async fn serve(self, stream: TcpStream, seat: Seat) {
        // Answers are written whole: there is nothing to wait for before they leave.
        let _ = stream.set_nodelay(true);
        // Without an address clients could not be distinguished; the connection is gone by now.
        let Ok(address) = stream.peer_addr() else { return };
        let remote = Remote { address: address.ip(), certificate: Vec::new() };
        match self.wrapper {
            Some(wrapper) => {
                let (stream, carried) = wrapper(stream);
                self.serve_stream(stream, carried, &seat, remote).await;
            }
            None => self.serve_stream(stream, Extensions::new(), &seat, remote).await,
        }
    }

    async fn serve_stream(
        &self,
        stream: impl Stream,
        carried: Extensions,
        seat: &Seat,
        mut remote: Remote,
    ) {
        let Some(tls) = self.tls.clone() else {
            return self.answer(stream, carried, seat, remote).await;
        };
        tokio::select! {
            encrypted = tls.accept(stream) => match encrypted {
                Ok(stream) => {
                    remote.certificate = tls::client_names(stream.get_ref().1);
                    self.answer(stream, carried, seat, remote).await;
                }
                Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
            },
            () = self.clock.sleep(self.limits.header_time) => {}
            () = seat.member.closed.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }

    async fn answer(&self, stream: impl Stream, carried: Extensions, seat: &Seat, remote: Remote) {
        let member = &seat.member;
        let service = service_fn(|request: Request<Incoming>| {
            let busy = Busy::new(member);
            let mut request = request.map(Body::new);
            request.extensions_mut().extend(carried.clone());
            request.extensions_mut().insert(PeerAddress(member.peer));
            request.extensions_mut().insert(remote.clone());
            if member.reserved {
                request.extensions_mut().insert(Overloaded);
            }
            let answered = self.routes.clone().oneshot(request);
            async move {
                let Ok(response) = answered.await;
                Ok::<_, Infallible>(response.map(|body| BusyBody { body, _busy: busy }))
            }
        });
        let mut builder = http1::Builder::new();
        // The limits for headers and idle connections are kept below, apart from each other.
        builder.header_read_timeout(None).keep_alive(!member.reserved);
        let tracked = TrackedStream { stream, member: member.clone() };
        let mut connection = pin!(builder.serve_connection(TokioIo::new(tracked), service));
        let mut stopping = false;
        loop {
            let left = member.time_left(&self.limits);
            if left.is_some_and(|left| left.is_zero()) {
                return tracing::debug!("a connection was idle, or slow, for too long");
            }
            let over = async {
                match left {
                    Some(left) => self.clock.sleep(left).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection broke");
                    }
                    return;
                }
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = member.closed.cancelled() => return,
                () = member.changed.notified() => {}
                () = over => {}
            }
        }
    }
}

/// A request is being answered, until this is dropped.
struct Busy(Arc<Member>);

impl Busy {
    fn new(member: &Arc<Member>) -> Self {
        member.busy();
        Self(member.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.idle();
    }
}

/// The body of an answer: with its end, the request is answered.
struct BusyBody {
    body: Body,
    _busy: Busy,
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that tells when bytes come, and when they do not go.
struct TrackedStream<S> {
    stream: S,
    member: Arc<Member>,
}

impl<S: AsyncRead + Unpin> AsyncRead for TrackedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.member.received();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TrackedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.member.written(written.is_ready());
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.member.written(written.is_ready());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
