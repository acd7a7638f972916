//! Prepared statements with their parameters, and the rows that they return.

use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::types::{FromSql, Null, ToSqlOutput};
use rusqlite::{CachedStatement, Connection, Row, ToSql};

use crate::Result;
use crate::engine::{Parameter, refuse_nul};

/// A cached statement with its parameters bound. SQLite takes `$1` for a name, so parameters are bound by
/// the numbers in their names, whatever their order in the text.
pub(super) fn prepare<'connection>(
    connection: &'connection Connection,
    sql: &str,
    values: &[Parameter],
) -> Result<CachedStatement<'connection>> {
    values.iter().try_for_each(refuse_nul)?;
    let mut statement = connection.prepare_cached(sql)?;
    for index in 1..=statement.parameter_count() {
        let number = statement.parameter_name(index).and_then(|name| name[1..].parse::<usize>().ok());
        let value = number.and_then(|number| values.get(number.wrapping_sub(1)));
        debug_assert!(value.is_some(), "parameter {index} has no value: {sql}");
        if let Some(value) = value {
            statement.raw_bind_parameter(index, value)?;
        }
    }
    Ok(statement)
}

/// Every row of a statement.
pub(super) fn collect<T>(
    statement: &mut CachedStatement<'_>,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first column of every row.
pub(super) fn column<T: FromSql>(connection: &Connection, sql: &str, values: &[Parameter]) -> Result<Vec<T>> {
    collect(&mut prepare(connection, sql, values)?, |row| row.get(0))
}

/// The first column of the first row, unless it is null.
pub(super) fn first<T: FromSql>(
    connection: &Connection,
    sql: &str,
    values: &[Parameter],
) -> Result<Option<T>> {
    let mut statement = prepare(connection, sql, values)?;
    let mut rows = statement.raw_query();
    match rows.next()? {
        Some(row) => Ok(row.get(0)?),
        None => Ok(None),
    }
}

fn time_text(time: &DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

impl ToSql for Parameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(value) => ToSqlOutput::from(*value),
            Self::MaybeInt(value) => return value.to_sql(),
            Self::Text(value) | Self::Json(value) => ToSqlOutput::from(value.as_str()),
            Self::MaybeText(value) | Self::MaybeJson(value) => return value.to_sql(),
            Self::Tags(value) => {
                let failed = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
                ToSqlOutput::from(serde_json::to_string(value).map_err(failed)?)
            }
            Self::Time(value) | Self::MaybeTime(Some(value)) => ToSqlOutput::from(time_text(value)),
            Self::Uuid(value) | Self::MaybeUuid(Some(value)) => {
                ToSqlOutput::from(value.hyphenated().to_string())
            }
            Self::MaybeTime(None) | Self::MaybeUuid(None) => ToSqlOutput::from(Null),
        })
    }
}
