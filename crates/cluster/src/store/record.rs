//! Records of the log: clusters that come and go, and changes of objects.
//!
//! A record is its length, the first bytes of its SHA-256 and JSON. A record that is cut short or
//! damaged ends the reading; only the end of the newest file may look like that.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Record {
    /// There is a cluster; in a snapshot, with the version it has reached.
    Cluster { name: String, uid: String, version: u64 },
    /// The cluster is gone.
    Removed { name: String, uid: String },
    /// Changes that belong together.
    Changes { cluster: String, uid: String, changes: Vec<Change> },
}

/// One change of one object.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change {
    /// The resourceVersion it made.
    pub(crate) version: u64,
    /// Such as `shoots.core.gardener.cloud`.
    pub(crate) resource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The new object; none if it was deleted.
    #[serde(serialize_with = "write_shared", deserialize_with = "read_shared")]
    pub(crate) object: Option<Arc<Value>>,
}

#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn write_shared<S: Serializer>(object: &Option<Arc<Value>>, to: S) -> Result<S::Ok, S::Error> {
    object.as_deref().serialize(to)
}

fn read_shared<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<Value>>, D::Error> {
    Ok(Option::<Value>::deserialize(from)?.map(Arc::new))
}

const HEAD: usize = 12;

impl Record {
    /// The bytes in the file.
    pub(crate) fn encode(&self) -> std::io::Result<Vec<u8>> {
        let body = serde_json::to_vec(self)?;
        let length = u32::try_from(body.len()).map_err(std::io::Error::other)?;
        let mut bytes = Vec::with_capacity(HEAD + body.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&checksum(&body));
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// The record at the start of `bytes` and how long it is; nothing if it is cut or damaged.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let length: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        let end = HEAD.checked_add(usize::try_from(u32::from_le_bytes(length)).ok()?)?;
        let body = bytes.get(HEAD..end)?;
        if bytes[4..HEAD] != checksum(body) {
            return None;
        }
        Some((serde_json::from_slice(body).ok()?, end))
    }
}

fn checksum(body: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&digest(&SHA256, body).as_ref()[..8]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_cut_or_damaged_is_not_read() {
        let record = Record::Removed { name: "a".into(), uid: "b".into() };
        let bytes = record.encode().unwrap();

        assert_eq!(Record::decode(&bytes).unwrap().1, bytes.len());
        for end in 0..bytes.len() {
            assert!(Record::decode(&bytes[..end]).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Record::decode(&damaged).is_none(), "damaged at {at}");
        }
    }
}
