//! The OpenAPI 3.1 document of the operations that HTTP offers.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::schema::{self, FieldType, InputField};
use crate::{Effect, Group, Media, Method, Operation, Route, groups};

type Object = Map<String, Value>;

/// Overwrites that answer 201 where the entity is new.
const MAY_CREATE: &[&str] = &["save_entity"];

/// Operations that answer before their work is done.
const ACCEPTED: &[&str] = &["start_test", "start_comparison"];

/// The document, for the given version of Masque.
pub fn openapi(version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.meta_schema = None;
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = SchemaGenerator::new(settings);
    let mut paths = Object::new();
    for group in groups() {
        for operation in group.operations {
            for (number, route) in operation.http.routes().enumerate() {
                let described = describe(group, operation, route, number, &mut generator);
                let item = paths.entry(route.path()).or_insert_with(|| json!({}));
                item[route.method.as_str().to_lowercase()] = described;
            }
        }
    }
    let mut schemas = generator.take_definitions(true);
    for schema in schemas.values_mut().filter_map(Value::as_object_mut) {
        schema::open(schema);
    }
    schemas.insert("Problem".to_owned(), problem());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Masque",
            "version": version,
            "description": "Personas for AI agents: the library, and sessions with personas.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "tags": groups().iter().map(|group| json!({ "name": group.title })).collect::<Vec<_>>(),
        "paths": paths,
        "security": [{ "token": [] }],
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "The token of the server; `masque serve` prints the path of its file",
            } },
            "schemas": schemas,
            "responses": { "Problem": {
                "description": "The request failed",
                "content": { "application/problem+json": { "schema": reference("Problem") } },
            } },
        },
    })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

/// A problem document (RFC 9457) with the fields of Masque.
fn problem() -> Value {
    json!({
        "type": "object",
        "description": "A problem document (RFC 9457)",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string", "description": "The problem and its remedies, for people" },
            "code": { "type": "string", "description": "A stable name of the error, for programs" },
            "may_have_happened": {
                "type": "boolean",
                "description": "After a failure of the server or its database: true if the write may have happened",
            },
            "current_revision": {
                "type": "integer",
                "description": "After a failed If-Match: the current revision",
            },
        },
    })
}

fn describe(
    group: &Group,
    operation: &Operation,
    route: Route,
    number: usize,
    generator: &mut SchemaGenerator,
) -> Value {
    let input = schema::input(operation.input);
    let fields = schema::fields(&input);
    // An operation's id is unique; its second request line is named after its method.
    let id = match number {
        0 => operation.name.to_owned(),
        _ => format!("{}_{}", operation.name, route.method.as_str().to_lowercase()),
    };
    let mut described = json!({
        "operationId": id,
        "summary": operation.summary,
        "tags": [group.title],
        "parameters": parameters(operation, route, &input, &fields),
        "responses": responses(operation, &fields, generator),
    });
    if let Some(body) = body(route, input, &fields) {
        described["requestBody"] = body;
    }
    described
}

fn parameters(operation: &Operation, route: Route, input: &Object, fields: &[InputField]) -> Vec<Value> {
    let schema_of =
        |field: &str| input.get("properties").and_then(|all| all.get(field)).cloned().unwrap_or(json!({}));
    let parameter = |name: &str, place: &str, required: bool, mut schema: Value| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({ "name": name, "in": place, "required": required, "schema": schema });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameter
    };
    let in_path = |field: &str| route.parameters().any(|(_, filled)| filled == field);
    let mut parameters: Vec<Value> = route
        .parameters()
        .map(|(segment, field)| parameter(segment, "path", true, schema_of(field)))
        .collect();
    if !route.method.has_body() {
        let queried = fields.iter().filter(|field| !in_path(&field.name) && field.of != FieldType::Object);
        parameters.extend(
            queried.map(|field| parameter(&field.name, "query", field.required, schema_of(&field.name))),
        );
    }
    let mut headers: Vec<(&str, &str)> = match (operation.media, operation.effect) {
        (Media::Events, _) if route.method == Method::Get => {
            vec![("Last-Event-ID", "The id of the last event seen")]
        }
        (Media::Json, Effect::Read) if route.method == Method::Get => {
            vec![("If-None-Match", "The ETag of a copy; answers 304 if it is current")]
        }
        _ if is_conditional(operation, fields) => {
            vec![("If-Match", "The ETag of the version to change; answers 412 if it is not current")]
        }
        _ => Vec::new(),
    };
    if operation.effect != Effect::Read {
        headers.push(("Idempotency-Key", "A name for this request; sent again, it runs once"));
    }
    let header = |(name, description): &(&str, &str)| {
        parameter(name, "header", false, json!({ "type": "string", "description": description }))
    };
    parameters.extend(headers.iter().map(header));
    parameters
}

/// True if a write can be bound to a revision.
fn is_conditional(operation: &Operation, fields: &[InputField]) -> bool {
    operation.effect != Effect::Read && fields.iter().any(|field| field.name == "if_revision")
}

/// The schema of the body: the input without the fields of the path.
fn body(route: Route, mut input: Object, fields: &[InputField]) -> Option<Value> {
    if !route.method.has_body() {
        return None;
    }
    let filled: Vec<&str> = route.parameters().map(|(_, field)| field).collect();
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.retain(|name, _| !filled.contains(&name.as_str()));
        if properties.is_empty() {
            return None;
        }
    }
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name.as_str())
        .filter(|name| !filled.contains(name))
        .collect();
    match required.is_empty() {
        true => input.remove("required"),
        false => input.insert("required".to_owned(), json!(required)),
    };
    Some(json!({
        "required": !required.is_empty(),
        "content": { "application/json": { "schema": input } },
    }))
}

fn responses(operation: &Operation, fields: &[InputField], generator: &mut SchemaGenerator) -> Value {
    let mut responses = Object::new();
    let content = |media: &str, schema: Value| json!({ media: { "schema": schema } });
    let (media, description) = match operation.media {
        Media::Json => ("application/json", "Done"),
        Media::Markdown => ("text/markdown", "Done"),
        Media::Events => {
            ("text/event-stream", "Server-Sent Events; the schema is that of the data of one event")
        }
        Media::Nothing => ("", "Done"),
    };
    let mut success = json!({ "description": description });
    if operation.media != Media::Nothing {
        success["content"] = content(media, (operation.output)(generator).to_value());
    }
    let tag = json!({ "description": "The version, for If-None-Match and If-Match", "schema": { "type": "string" } });
    let location = json!({ "description": "Where it is", "schema": { "type": "string" } });
    let is_whole = matches!(operation.media, Media::Json | Media::Markdown);
    let has_tag = is_whole && (operation.effect == Effect::Read || is_conditional(operation, fields));
    if has_tag {
        success["headers"] = json!({ "ETag": tag });
    }
    let status = match (operation.effect, operation.media) {
        (_, Media::Nothing) => "204",
        _ if ACCEPTED.contains(&operation.name) => "202",
        (Effect::Create, _) => "201",
        _ => "200",
    };
    if MAY_CREATE.contains(&operation.name) || status == "201" {
        let mut created = success.clone();
        created["description"] = "Created".into();
        created["headers"]["Location"] = location.clone();
        responses.insert("201".to_owned(), created);
    }
    if status == "202" {
        success["description"] = "Begun".into();
        success["headers"]["Location"] = location.clone();
    }
    responses.entry(status).or_insert(success);
    let problem = json!({ "$ref": "#/components/responses/Problem" });
    if is_whole && operation.effect == Effect::Read {
        responses.insert("304".to_owned(), json!({ "description": "The copy is current" }));
    }
    if is_conditional(operation, fields) {
        responses.insert("412".to_owned(), problem.clone());
    }
    if operation.effect != Effect::Read {
        responses.insert("422".to_owned(), problem.clone());
    }
    responses.insert("default".to_owned(), problem);
    Value::Object(responses)
}
