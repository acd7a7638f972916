//! The differences between the SQL of SQLite and PostgreSQL. All other statements are shared.

/// An engine's way of writing things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// The type of a column, which decides its form in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Int,
    Text,
    /// JSON text.
    Json,
    Tags,
    Time,
    Uuid,
}

impl Dialect {
    /// A JSON object out of named expressions.
    pub fn object(self, fields: &[(&str, String)]) -> String {
        let function = match self {
            Self::Sqlite => "json_object",
            Self::Postgres => "json_build_object",
        };
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("'{name}', {value}")).collect();
        format!("{function}({})", fields.join(", "))
    }

    /// One column's value as it goes into a JSON object.
    pub fn json_value(self, column: &str, holds: Column) -> String {
        match (self, holds) {
            (Self::Sqlite, Column::Json | Column::Tags) => format!("json({column})"),
            (Self::Postgres, Column::Time) => self.time_text(column),
            _ => column.to_owned(),
        }
    }

    /// A time as text, in microseconds and UTC: what SQLite holds already.
    pub fn time_text(self, column: &str) -> String {
        match self {
            Self::Sqlite => column.to_owned(),
            Self::Postgres => {
                format!(r#"to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#)
            }
        }
    }

    /// A JSON array of `element` over the rows of `from`, in the given order; `[]` where there are none.
    pub fn array(self, element: &str, from: &str, order: &str) -> String {
        match self {
            Self::Sqlite => {
                format!("(SELECT json_group_array({element} ORDER BY {order}) FROM {from})")
            }
            Self::Postgres => {
                format!("(SELECT coalesce(json_agg({element} ORDER BY {order}), '[]'::json) FROM {from})")
            }
        }
    }

    /// Nested JSON must be marked as such in SQLite, lest it be quoted.
    pub fn nested(self, expression: &str) -> String {
        match self {
            Self::Sqlite => format!("json({expression})"),
            Self::Postgres => expression.to_owned(),
        }
    }

    /// The expression as text, as it is fetched.
    pub fn text(self, expression: &str) -> String {
        match self {
            Self::Sqlite => expression.to_owned(),
            Self::Postgres => format!("({expression})::text"),
        }
    }

    /// `column` is one of the texts in the JSON array bound to `parameter`.
    pub fn in_list(self, column: &str, parameter: &str) -> String {
        match self {
            Self::Sqlite => format!("{column} IN (SELECT value FROM json_each({parameter}))"),
            Self::Postgres => {
                format!("{column} IN (SELECT jsonb_array_elements_text({parameter}::jsonb))")
            }
        }
    }

    /// The texts of the JSON array bound to `parameter` as rows with the column `value`.
    pub fn list_rows(self, parameter: &str, alias: &str) -> String {
        match self {
            Self::Sqlite => format!("json_each({parameter}) {alias}"),
            Self::Postgres => format!("jsonb_array_elements_text({parameter}::jsonb) {alias}(value)"),
        }
    }

    /// The value under a key of the JSON object in a column; `otherwise`, which is JSON, where there
    /// is none.
    pub fn json_in(self, column: &str, key: &str, otherwise: &str) -> String {
        match self {
            Self::Sqlite => format!("json(coalesce({column} -> '$.{key}', '{otherwise}'))"),
            Self::Postgres => format!("coalesce({column} -> '{key}', '{otherwise}'::jsonb)"),
        }
    }

    /// The list under a key of the JSON object in a column; `[]` where there is none.
    pub fn list_in(self, column: &str, key: &str) -> String {
        match self {
            Self::Sqlite => format!("json(coalesce({column} -> '$.{key}', '[]'))"),
            Self::Postgres => format!("coalesce({column} -> '{key}', '[]'::jsonb)"),
        }
    }

    /// The text under a key of the JSON object in a column.
    pub fn text_in(self, column: &str, key: &str) -> String {
        match self {
            Self::Sqlite => format!("({column} ->> '$.{key}')"),
            Self::Postgres => format!("({column} ->> '{key}')"),
        }
    }

    /// The position of a text in a column, from 1. 0 if it does not occur.
    pub fn position(self, column: &str, text: &str) -> String {
        match self {
            Self::Sqlite => format!("instr({column}, '{text}')"),
            Self::Postgres => format!("strpos({column}, '{text}')"),
        }
    }

    /// A JSON list with nothing in it.
    pub fn empty_list(self) -> &'static str {
        match self {
            Self::Sqlite => "'[]'",
            Self::Postgres => "'[]'::json",
        }
    }
}
