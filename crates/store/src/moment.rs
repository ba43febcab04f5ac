//! A point in time that sorts alike in both databases.
//!
//! `timestamptz` in PostgreSQL, whole microseconds as an integer in SQLite: times written as text do
//! not sort by time within a second.

use base::clock::whole_microseconds;
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use sqlx::{
    Decode, Encode, Postgres, Sqlite, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef},
    sqlite::{SqliteArgumentsBuffer, SqliteTypeInfo, SqliteValueRef},
};

/// A time as both databases keep it: cut to microseconds when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Timestamp);

impl Moment {
    /// The time in microseconds since 1970, as SQLite keeps it.
    pub fn microseconds(self) -> i64 {
        self.0.as_microsecond()
    }
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self(whole_microseconds(time))
    }
}

impl From<Moment> for Timestamp {
    fn from(moment: Moment) -> Self {
        moment.0
    }
}

impl Type<Postgres> for Moment {
    fn type_info() -> PgTypeInfo {
        <jiff_sqlx::Timestamp as Type<Postgres>>::type_info()
    }
}

impl PgHasArrayType for Moment {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("_timestamptz")
    }
}

impl Encode<'_, Postgres> for Moment {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode(self.0.to_sqlx(), buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Moment {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(<jiff_sqlx::Timestamp as Decode<Postgres>>::decode(value)?.to_jiff().into())
    }
}

impl Type<Sqlite> for Moment {
    fn type_info() -> SqliteTypeInfo {
        <i64 as Type<Sqlite>>::type_info()
    }
}

impl Encode<'_, Sqlite> for Moment {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Sqlite>::encode(self.microseconds(), buffer)
    }
}

impl<'r> Decode<'r, Sqlite> for Moment {
    fn decode(value: SqliteValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Timestamp::from_microsecond(<i64 as Decode<Sqlite>>::decode(value)?)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_cut_to_what_both_databases_keep() {
        let time: Timestamp = "2026-01-01T00:00:00.123456789Z".parse().unwrap();

        assert_eq!(Timestamp::from(Moment::from(time)).to_string(), "2026-01-01T00:00:00.123456Z");
    }
}
