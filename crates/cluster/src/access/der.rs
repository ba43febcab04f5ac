//! The little of a certificate that we need: its subject and how long it is valid.
//!
//! The signature is checked by rustls; this only reads what has been checked.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// The subject of a client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Common name: the user.
    pub(crate) user: String,
    /// Organisations: the groups.
    pub(crate) groups: Vec<String>,
    /// Organisational unit: the uid of the cluster.
    pub(crate) cluster: String,
    pub(crate) valid_from: Timestamp,
    pub(crate) valid_until: Timestamp,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;

/// Reads a certificate in DER.
pub(crate) fn subject(certificate: &[u8]) -> Option<Subject> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut body, _) = element(certificate)?;
    // version, serial number, algorithm, issuer; the version is optional
    if *body.first()? == 0xa0 {
        body = element(body)?.2;
    }
    for _ in 0..3 {
        body = element(body)?.2;
    }
    let (_, validity, body) = element(body)?;
    let (form, from, rest) = element(validity)?;
    let valid_from = time(form, from)?;
    let (form, until, _) = element(rest)?;
    let mut subject = Subject {
        user: String::new(),
        groups: Vec::new(),
        cluster: String::new(),
        valid_from,
        valid_until: time(form, until)?,
    };
    let (_, mut names, _) = element(body)?;
    while !names.is_empty() {
        let (form, set, rest) = element(names)?;
        names = rest;
        let (SET, (SEQUENCE, pair, _)) = (form, element(set)?) else { return None };
        let (OID, oid, value) = element(pair)? else { return None };
        let value = String::from_utf8(element(value)?.1.to_vec()).ok()?;
        match oid {
            [0x55, 0x04, 0x03] => subject.user = value,
            [0x55, 0x04, 0x0a] => subject.groups.push(value),
            [0x55, 0x04, 0x0b] => subject.cluster = value,
            _ => {}
        }
    }
    Some(subject)
}

/// Tag, content and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if first & 0x80 == 0 {
        (usize::from(*first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let length = digits.iter().try_fold(0_usize, |sum, digit| {
            sum.checked_mul(256)?.checked_add(usize::from(*digit))
        })?;
        (length, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

fn time(form: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let text = match form {
        UTC_TIME if text.get(..2)? < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        _ => text.to_owned(),
    };
    let time = DateTime::strptime("%Y%m%d%H%M%S", &text).ok()?;
    TimeZone::UTC.to_timestamp(time).ok()
}
