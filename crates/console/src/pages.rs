//! Pages that begin with the newest row, cut out of the store's pages, which begin with the oldest one.
//!
//! What a reader would get wrong: the store's last page may be short, so a page from the newest is cut out of two pages of the store.

use std::ops::Range;

/// Rows on a page of the store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The page, from 1.
    pub(crate) page: u32,
    rows: Range<usize>,
}

impl Piece {
    /// These rows of the page, newest first.
    pub(crate) fn cut<T>(&self, page: Vec<T>) -> Vec<T> {
        let Range { start, end } = self.rows;
        let mut rows: Vec<T> = page.into_iter().take(end).skip(start).collect();
        rows.reverse();
        rows
    }
}

/// The rows of a page that is counted from the newest, from 1, by their places from the oldest.
pub(crate) fn newest(total: u64, page: u32, size: u32) -> Range<u64> {
    let newer = u64::from(page.saturating_sub(1)) * u64::from(size);
    let end = total.saturating_sub(newer);
    end.saturating_sub(size.into())..end
}

/// Where rows are on the store's pages of this size, newest first.
pub(crate) fn pieces(rows: Range<u64>, size: u32) -> Vec<Piece> {
    let size = u64::from(size);
    let place = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
    let (mut pieces, mut end) = (Vec::new(), rows.end);
    while end > rows.start {
        let page = (end - 1) / size;
        let before = page * size;
        let start = before.max(rows.start);
        pieces.push(Piece {
            page: u32::try_from(page + 1).unwrap_or(u32::MAX),
            rows: place(start - before)..place(end - before),
        });
        end = start;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 5;

    /// A page from the newest of a store that has so many rows.
    fn page(total: u64, page: u32) -> Vec<u64> {
        let all: Vec<u64> = (0..total).collect();
        let of_store = |page: u32| {
            all.chunks(PAGE as usize).nth(page as usize - 1).unwrap_or_default().to_vec()
        };
        let pieces = pieces(newest(total, page, PAGE), PAGE);
        assert!(pieces.len() <= 2, "{pieces:?}");
        pieces.iter().flat_map(|piece| piece.cut(of_store(piece.page))).collect()
    }

    #[test]
    fn the_first_page_is_full_and_the_last_one_may_be_short() {
        let more = u64::from(PAGE) + 1;

        assert_eq!(page(more, 1), [5, 4, 3, 2, 1]);
        assert_eq!(page(more, 2), [0]);
        assert!(page(more, 3).is_empty());
        assert_eq!(page(more - 1, 1), [4, 3, 2, 1, 0]);
        assert!(page(0, 1).is_empty());
    }

    #[test]
    fn every_row_is_on_one_page_whatever_their_number_is() {
        for total in 0..4 * u64::from(PAGE) {
            let pages = u32::try_from(total).unwrap().div_ceil(PAGE);
            let all: Vec<u64> = (1..=pages).flat_map(|number| page(total, number)).collect();
            assert_eq!(all, (0..total).rev().collect::<Vec<_>>(), "{total}");
        }
    }
}
