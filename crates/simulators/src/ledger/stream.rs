//! The ledger as it grows.

use std::sync::Arc;

use futures::{Stream, stream};

use super::{Entry, Filter, LARGEST_PAGE, Ledger};

/// Every line behind `after` that fits, without end and without a gap.
pub(crate) fn follow(
    ledger: Arc<Ledger>,
    after: u64,
    filter: Filter,
) -> impl Stream<Item = Entry> + Send + 'static {
    let last = ledger.last();
    let start = (ledger, after, filter, last, Vec::<Entry>::new().into_iter());
    stream::unfold(start, |(ledger, mut after, filter, mut last, mut ready)| async move {
        loop {
            if let Some(entry) = ready.next() {
                return Some((entry, (ledger, after, filter, last, ready)));
            }
            // Marked as seen before the file is read: a line that is written meanwhile wakes us.
            last.mark_unchanged();
            match ledger.page(after, &filter, LARGEST_PAGE) {
                Ok(page) => {
                    after = page.next;
                    let idle = page.entries.is_empty() && !page.more;
                    ready = page.entries.into_iter();
                    if idle && last.changed().await.is_err() {
                        return None;
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the ledger cannot be followed");
                    return None;
                }
            }
        }
    })
}
