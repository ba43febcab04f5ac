//! Answers that are too long to be held: runtimes page by page, as the client takes them.
//!
//! What a reader would get wrong: the status says nothing about the end. When a page cannot be read, the connection is closed before
//! the last chunk, so that the client sees an incomplete answer and never a short one that looks whole. A client that hangs up drops
//! the stream, and nothing more is read.

use axum::body::{Body, Bytes};
use base::failure::chain;
use broker::{
    instances::Error,
    runtimes::{Export, Runtime},
};
use futures::stream;

/// Where runtimes come from, page by page.
pub(crate) trait Pages: Send + 'static {
    /// The next runtimes; none at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Vec<Runtime>>, Error>> + Send;
}

impl Pages for Export {
    async fn next(&mut self) -> Result<Option<Vec<Runtime>>, Error> {
        Self::next(self).await
    }
}

/// How runtimes are written.
pub(crate) trait Writer: Send + 'static {
    /// Bytes before the first item.
    fn head(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Some runtimes.
    fn page(&mut self, runtimes: Vec<Runtime>, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Bytes after the last item.
    fn tail(&self) -> &'static [u8] {
        b""
    }
}

struct Streaming<P, W> {
    pages: P,
    writer: W,
    /// The page that was read before the answer began.
    first: Option<Vec<Runtime>>,
    head: Vec<u8>,
}

/// The body of an answer. The first page is read at once: what fails then has a status of its own.
pub(crate) async fn body(mut pages: impl Pages, writer: impl Writer) -> Result<Body, Error> {
    let first = pages.next().await?;
    let head = writer.head();
    let start = Streaming { pages, writer, first, head };
    Ok(Body::from_stream(stream::try_unfold(Some(start), |streaming| async {
        let Some(streaming) = streaming else { return Ok(None) };
        streaming.next().await.inspect_err(|error| {
            tracing::error!(
                error = chain(error),
                "runtimes cannot be read, breaking off an answer"
            );
        })
    })))
}

impl<P: Pages, W: Writer> Streaming<P, W> {
    /// The next bytes, and what comes behind them.
    async fn next(mut self) -> Result<Option<(Bytes, Option<Self>)>, Error> {
        let page = match self.first.take() {
            Some(page) => Some(page),
            None => self.pages.next().await?,
        };
        let mut out = std::mem::take(&mut self.head);
        let Some(page) = page else {
            out.extend_from_slice(self.writer.tail());
            return Ok((!out.is_empty()).then(|| (out.into(), None)));
        };
        self.writer.page(page, &mut out)?;
        Ok(Some((out.into(), Some(self))))
    }
}

#[cfg(test)]
mod tests;
