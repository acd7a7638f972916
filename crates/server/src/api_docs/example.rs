//! An example of each request, for a shell.

use operations::schema::{FieldType, InputField};
use operations::{Media, Method, Operation, Route};

/// A request with `curl`: capital letters stand for values.
pub(super) fn of(operation: &Operation, route: Route, known: &[InputField]) -> String {
    let path = route.parameters().fold(route.path(), |path, (segment, _)| {
        path.replace(&format!("{{{segment}}}"), &segment.to_uppercase())
    });
    let in_path = |field: &InputField| route.parameters().any(|(_, filled)| filled == field.name);
    let needed: Vec<&InputField> = known.iter().filter(|field| field.required && !in_path(field)).collect();
    let mut command = "curl -s".to_owned();
    if operation.media == Media::Events {
        command.push_str(" -N");
    }
    let body = body(route, &needed);
    let implied = if body.is_some() { Method::Post } else { Method::Get };
    if route.method != implied {
        command.push_str(&format!(" -X {}", route.method.as_str()));
    }
    command.push_str(&format!(" \"$MASQUE{path}{}\"", query(route, &needed)));
    command.push_str(" -H \"authorization: Bearer $MASQUE_TOKEN\"");
    if let Some(body) = body {
        command.push_str(&format!(" \\\n  -H 'content-type: application/json' -d '{body}'"));
    }
    command
}

fn query(route: Route, needed: &[&InputField]) -> String {
    if route.method.has_body() || needed.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> =
        needed.iter().map(|field| format!("{}={}", field.name, field.name.to_uppercase())).collect();
    format!("?{}", pairs.join("&"))
}

/// The fields that a request needs. `None` if it needs none.
fn body(route: Route, needed: &[&InputField]) -> Option<String> {
    if !route.method.has_body() || needed.is_empty() {
        return None;
    }
    let pairs = needed.iter().map(|InputField { name, of, .. }| {
        let value = match of {
            FieldType::Text => format!("\"{}\"", name.to_uppercase()),
            FieldType::Integer | FieldType::Number => "1".to_owned(),
            FieldType::Flag => "true".to_owned(),
            FieldType::List => "[]".to_owned(),
            FieldType::Object => "{}".to_owned(),
        };
        format!("\"{name}\": {value}")
    });
    Some(format!("{{{}}}", pairs.collect::<Vec<_>>().join(", ")))
}
