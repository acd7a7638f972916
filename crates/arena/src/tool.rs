//! Tools of games, as data, and calls of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{SeatId, Seats};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Answers at once and changes nothing: [`crate::Table::look`].
    Information,
    /// Is the player's move. It is sealed until everybody who was asked has answered.
    Action,
}

/// A tool as models see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub kind: ToolKind,
}

impl Tool {
    pub fn action(name: &str, description: impl Into<String>) -> Self {
        Self::new(name, description, ToolKind::Action)
    }

    pub fn information(name: &str, description: impl Into<String>) -> Self {
        Self::new(name, description, ToolKind::Information)
    }

    fn new(name: &str, description: impl Into<String>, kind: ToolKind) -> Self {
        let input_schema =
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        Self { name: name.to_owned(), description: description.into(), input_schema, kind }
    }

    /// Adds a required property.
    #[must_use]
    pub fn with(mut self, name: &str, schema: Value) -> Self {
        self.input_schema["properties"][name] = schema;
        if let Some(required) = self.input_schema["required"].as_array_mut() {
            required.push(name.into());
        }
        self
    }

    /// Adds a required property that is one of these words.
    #[must_use]
    pub fn choice<'a>(self, name: &str, words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        self.with(name, json!({"type": "string", "enum": words}))
    }

    /// Adds a required integer from `least` to `most`.
    #[must_use]
    pub fn integer(self, name: &str, least: i64, most: i64) -> Self {
        self.with(name, json!({"type": "integer", "minimum": least, "maximum": most}))
    }

    /// Adds a required text.
    #[must_use]
    pub fn text(self, name: &str, description: &str) -> Self {
        self.with(name, json!({"type": "string", "description": description}))
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    pub tool: String,
    #[serde(default)]
    pub input: Map<String, Value>,
}

impl Act {
    /// `input` other than an object counts as empty.
    pub fn new(tool: impl Into<String>, input: Value) -> Self {
        let input = if let Value::Object(input) = input { input } else { Map::new() };
        Self { tool: tool.into(), input }
    }

    pub fn text(&self, key: &str) -> Result<&str, String> {
        let text = self.input.get(key).and_then(Value::as_str);
        text.ok_or_else(|| format!("{} needs {key:?}, a text.", self.tool))
    }

    /// An integer in a range. A text of digits is read as well.
    pub fn integer(&self, key: &str, least: i64, most: i64) -> Result<i64, String> {
        let value = self.input.get(key);
        let number = value.and_then(|value| match value {
            Value::String(text) => text.trim().parse().ok(),
            // Some models write 10.0 for 10.
            value => value.as_i64().or_else(|| whole(value.as_f64()?)),
        });
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(format!("{} needs {key:?}, an integer from {least} to {most}.", self.tool)),
        }
    }

    /// A seat that is one of `choices`.
    pub fn seat(&self, key: &str, seats: &Seats, choices: &[SeatId]) -> Result<SeatId, String> {
        let named = self.input.get(key).and_then(Value::as_str).and_then(|name| seats.resolve(name));
        named.filter(|seat| choices.contains(seat)).ok_or_else(|| {
            format!("{} needs {key:?}, one of: {}.", self.tool, seats.names(choices.iter().copied()))
        })
    }
}

fn whole(number: f64) -> Option<i64> {
    let fits = number.fract() == 0.0 && number.abs() < 1e15;
    fits.then_some(number as i64)
}
