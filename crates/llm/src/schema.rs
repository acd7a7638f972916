//! JSON Schemas of tools.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A JSON Schema of an object. Clones share it, and it is serialized once: every call of a model sends
/// it.
#[derive(Debug, Clone)]
pub struct Schema(Arc<Written>);

#[derive(Debug)]
struct Written {
    value: Value,
    text: Box<RawValue>,
}

impl Schema {
    pub fn new(value: Value) -> Self {
        // A value is always JSON.
        let text = to_raw_value(&value).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self(Arc::new(Written { value, text }))
    }
}

impl Deref for Schema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.0.value == other.0.value
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.text.serialize(serializer)
    }
}
