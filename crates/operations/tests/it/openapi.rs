//! The OpenAPI document, checked by a validator that is not ours.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A python that has `openapi-spec-validator`; `cargo xtask test` provides it.
const PYTHON: &str = "MASQUE_TEST_PYTHON";

const VALIDATE: &str = "\
import json, sys
from openapi_spec_validator import OpenAPIV31SpecValidator
errors = list(OpenAPIV31SpecValidator(json.load(sys.stdin)).iter_errors())
for error in errors[:10]:
    print(error.message[:300], list(error.absolute_path))
print(len(errors), 'errors')
sys.exit(1 if errors else 0)
";

/// The verdict of the validator; `None` where there is no python.
fn validate(document: &Value) -> Option<(bool, String)> {
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let Some(python) = std::env::var_os(PYTHON) else {
        assert!(!is_ci, "CI=true needs {PYTHON}; `cargo xtask test` provides it");
        eprintln!("{PYTHON} is not set: the OpenAPI document is not validated");
        return None;
    };
    let mut child = Command::new(python)
        .args(["-c", VALIDATE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(document.to_string().as_bytes()).expect("the document is written");
    drop(input);
    let output = child.wait_with_output().expect("python ends");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Some((output.status.success(), said))
}

#[test]
fn the_document_is_valid() {
    let mut document = operations::openapi("1.2.3");
    if let Some((is_valid, said)) = validate(&document) {
        assert!(is_valid, "{said}");
        // The validator does look.
        document["paths"]["/api/sessions"]["get"]["responses"] = Value::Null;
        assert!(validate(&document).is_some_and(|(is_valid, _)| !is_valid));
    }
}

#[test]
fn the_document_has_every_request_line() {
    let document = operations::openapi("1.2.3");
    let mut ids = std::collections::BTreeSet::new();
    for operation in operations::all() {
        for route in operation.http.routes() {
            let described = &document["paths"][route.path()][route.method.as_str().to_lowercase()];
            assert_eq!(described["summary"], operation.summary, "{} {}", route.method.as_str(), route.path());
            assert!(ids.insert(described["operationId"].to_string()), "{} is there twice", operation.name);
        }
    }
    let save = &document["paths"]["/api/library/{kind}/{name}"]["put"];
    assert!(save["responses"]["201"].is_object() && save["responses"]["412"].is_object(), "{save}");
    let body = &save["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["required"], serde_json::json!(["entity"]));
    assert!(body["properties"].get("kind").is_none(), "the path says it: {body}");
}

/// Writes take a key, and reads need none.
#[test]
fn writes_take_an_idempotency_key() {
    let document = operations::openapi("1.2.3");
    for operation in operations::all() {
        for route in operation.http.routes() {
            let described = &document["paths"][route.path()][route.method.as_str().to_lowercase()];
            let parameters = described["parameters"].as_array().expect("parameters");
            let has_key = parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
            assert_eq!(has_key, operation.effect != operations::Effect::Read, "{}", operation.name);
        }
    }
}

/// Every `$ref` leads somewhere.
#[test]
fn no_reference_is_broken() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document = operations::openapi("1.2.3");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 50, "{} references", found.len());
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a local reference");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}
