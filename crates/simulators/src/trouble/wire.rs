//! Connections that can be reset, and that are counted while they are open.
//!
//! What a reader would get wrong: a reset is not an error of the answer's body. The layer marks the
//! [`Line`] of a request; when the server then drops the connection, it goes without a farewell.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::watch,
};

/// A connection that can be made to end with a reset.
pub trait Resettable {
    /// From now on, closing it is a reset.
    fn reset_on_close(&self);
}

impl Resettable for TcpStream {
    fn reset_on_close(&self) {
        // On a connection that is gone already there is nothing left to reset.
        let _ = self.set_zero_linger();
    }
}

/// The handle of one connection, which requests carry as their connect info.
#[derive(Debug, Clone, Default)]
pub struct Line(Arc<AtomicBool>);

impl Line {
    /// Makes the end of the connection a reset.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A listener whose connections can be reset. Serve it with [`Line`] as connect info.
#[derive(Debug)]
pub struct Wires<L> {
    listener: L,
    open: Arc<watch::Sender<usize>>,
}

impl<L> Wires<L> {
    /// Connections of `listener`.
    pub fn new(listener: L) -> Self {
        Self { listener, open: Arc::new(watch::Sender::new(0)) }
    }

    /// How many connections are open, as it changes.
    pub fn open(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }
}

/// One connection.
#[derive(Debug)]
pub struct Wire<S: Resettable> {
    stream: S,
    line: Line,
    open: Arc<watch::Sender<usize>>,
}

impl<S: Resettable> Wire<S> {
    /// A connection that was accepted elsewhere, and its handle.
    pub fn new(stream: S) -> (Self, Line) {
        Self::counted(stream, Arc::new(watch::Sender::new(0)))
    }

    fn counted(stream: S, open: Arc<watch::Sender<usize>>) -> (Self, Line) {
        let line = Line::default();
        open.send_modify(|open| *open += 1);
        (Self { stream, line: line.clone(), open }, line)
    }
}

impl<L> Listener for Wires<L>
where
    L: Listener<Io: Resettable>,
{
    type Io = Wire<L::Io>;
    type Addr = Line;

    async fn accept(&mut self) -> (Self::Io, Line) {
        let (stream, _) = self.listener.accept().await;
        Wire::counted(stream, self.open.clone())
    }

    fn local_addr(&self) -> io::Result<Line> {
        self.listener.local_addr().map(|_| Line::default())
    }
}

impl<L> Connected<IncomingStream<'_, Wires<L>>> for Line
where
    L: Listener<Io: Resettable>,
{
    fn connect_info(stream: IncomingStream<'_, Wires<L>>) -> Self {
        stream.remote_addr().clone()
    }
}

impl<S: Resettable> Drop for Wire<S> {
    fn drop(&mut self) {
        if self.line.is_cut() {
            self.stream.reset_on_close();
        }
        self.open.send_modify(|open| *open -= 1);
    }
}

impl<S: Resettable + AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: Resettable + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.line.is_cut() {
            // A farewell before the reset would make it look like an orderly end.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
