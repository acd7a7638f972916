//! A call's arguments: parsed into an input of `app`, or refused with what to do about it.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;

/// Parses arguments. A member that is null counts as absent: agents fill what is optional with
/// null too often for that to be a mistake.
pub(crate) fn parse<T: DeserializeOwned>(mut arguments: JsonObject) -> Result<T, String> {
    arguments.retain(|_, value| !value.is_null());
    app::inputs::parse(&arguments)
}

#[cfg(test)]
mod tests {
    use app::inputs::GetPersona;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn null_is_absent() {
        let parsed = |arguments: Value| match arguments {
            Value::Object(arguments) => parse::<GetPersona>(arguments),
            _ => panic!("an object"),
        };
        let input = parsed(json!({ "name": "a", "detail": null, "limit": null }));
        let input = input.expect("null is as good as nothing");
        assert!(!input.detail && input.limit.is_none());
        let nameless = parsed(json!({ "name": null })).expect_err("a name is needed");
        assert_eq!(nameless, r#""name" is missing; add it"#);
    }
}
