//! Where pages of instances end, as it is stored with a run.

use base::Failure;
use engine::StepError;
use jiff::Timestamp;
use store::broker::PageKey;
use uuid::Uuid;

/// A failure of the store: tried again.
pub(super) fn store_failed(error: &store::Error) -> StepError {
    StepError::internal(error)
}

fn unreadable() -> StepError {
    StepError::fatal(Failure::new("broker", "internal", "the stored cursor cannot be read"))
}

/// The key of a page of instances, from its text.
pub(super) fn read_key(cursor: Option<&str>) -> Result<Option<PageKey>, StepError> {
    let Some(cursor) = cursor else { return Ok(None) };
    let (created_at, id) = cursor.split_once(' ').ok_or_else(unreadable)?;
    let created_at = created_at.parse().map_err(|_| unreadable())?;
    Ok(Some(PageKey { created_at, id: id.to_owned() }))
}

/// The key of a page of instances, as a text.
pub(super) fn write_key(key: &PageKey) -> String {
    format!("{} {}", key.created_at, key.id)
}

/// The key of a page of operations, from its text.
pub(super) fn read_operation(cursor: Option<&str>) -> Result<Option<(Timestamp, Uuid)>, StepError> {
    let key = read_key(cursor)?;
    let id = |key: PageKey| Ok((key.created_at, key.id.parse().map_err(|_| unreadable())?));
    key.map(id).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let created_at: Timestamp = "2026-01-01T12:00:00.123456Z".parse().unwrap();
        let key = PageKey { created_at, id: "an id with spaces".into() };

        assert_eq!(read_key(Some(&write_key(&key))).unwrap(), Some(key));
        assert_eq!(read_key(None).unwrap(), None);
        assert!(read_key(Some("nothing")).is_err());
        assert!(read_operation(Some("2026-01-01T12:00:00Z no-uuid")).is_err());
    }
}
