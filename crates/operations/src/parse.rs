//! Fields of a request, parsed into an input of `app`.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::CallError;

/// Parses fields. A null field counts as absent: agents fill optional fields with null too often for
/// that to be a mistake.
pub fn parse<T: DeserializeOwned>(mut fields: Map<String, Value>) -> Result<T, CallError> {
    fields.retain(|_, value| !value.is_null());
    app::inputs::parse(&fields).map_err(CallError::Input)
}

#[cfg(test)]
mod tests {
    use app::inputs::GetPersona;
    use app::{AsReport as _, Code};
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_absent() {
        let parsed = |fields: Value| match fields {
            Value::Object(fields) => {
                parse::<GetPersona>(fields).map_err(|refusal| Box::new(refusal.report()))
            }
            _ => panic!("an object"),
        };
        let input = parsed(json!({ "name": "a", "detail": null, "limit": null }));
        let input = input.expect("null fields are skipped");
        assert!(input.detail.is_none() && input.limit.is_none());
        let nameless = parsed(json!({ "name": null })).expect_err("the name is required");
        assert_eq!((nameless.code, nameless.subject.field.as_deref()), (Code::MissingField, Some("name")));
    }
}
