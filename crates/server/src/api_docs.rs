//! `GET /api/docs`: the documentation of the API as one page, without scripts.
//!
//! It comes from the table of operations, as the routes and the OpenAPI document do.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use operations::schema::{self, FieldType, InputField};
use operations::{Cli, Effect, Group, Mcp, Media, Operation, Route, groups};
use serde_json::{Map, Value};

use crate::conditional::{self, Conditions};
use crate::front::Answered;
use crate::plain_page::{self, PlainPage, escaped};
use crate::result::ApiResult;

mod example;
mod fields;

/// The path of this page.
pub(crate) const PATH: &str = "/api/docs";

const INTRODUCTION: &str = "<h1>Masque’s API</h1>\n\
    <p>Requests and answers are JSON. <code>GET</code> and <code>DELETE</code> take fields in the query, others \
    in the body. The same as data: <a href=\"/api/openapi.json\">openapi.json</a>.</p>\n\
    <p>Programs send the token of the server with each request. <code>masque serve</code> prints the path of \
    its file.</p>\n\
    <pre><code>MASQUE=http://127.0.0.1:4747\n\
    MASQUE_TOKEN=$(cat ~/.local/share/masque/token)</code></pre>\n\
    <p>An error is a problem document (RFC 9457) with <code>code</code>, <code>detail</code> and, where they \
    help, <code>candidates</code> and <code>remedies</code>.</p>\n";

/// The page, made by the first request.
pub(crate) async fn answer(headers: HeaderMap) -> ApiResult<Response> {
    static PAGE: LazyLock<(String, String)> = LazyLock::new(|| {
        let html = PlainPage { status: StatusCode::OK, title: "Masque’s API", body: &body() }.html();
        (conditional::hash(&html), html)
    });
    let (tag, html) = &*PAGE;
    let mut response = match Conditions::read(&headers)?.has(tag) {
        true => plain_page::answer(StatusCode::NOT_MODIFIED, ""),
        false => plain_page::answer(StatusCode::OK, html.as_str()),
    };
    response.extensions_mut().insert(Answered("docs"));
    conditional::insert(response.headers_mut(), Some(tag));
    Ok(response)
}

// Writing into memory does not fail.
fn body() -> String {
    let mut html = INTRODUCTION.to_owned();
    html.push_str("<nav aria-label=\"Groups\">\n<ul>\n");
    for group in offered() {
        let _ = writeln!(html, "<li><a href=\"#{}\">{}</a></li>", anchor(group), escaped(group.title));
    }
    html.push_str("</ul>\n</nav>\n");
    for group in offered() {
        let _ = writeln!(html, "<h2 id=\"{}\">{}</h2>", anchor(group), escaped(group.title));
        for operation in group.operations.iter().filter(|operation| operation.http.routes().next().is_some())
        {
            write_operation(&mut html, operation);
        }
    }
    html
}

/// The groups with requests.
fn offered() -> impl Iterator<Item = &'static Group> {
    let has_routes = |operation: &Operation| operation.http.routes().next().is_some();
    groups().iter().filter(move |group| group.operations.iter().any(has_routes))
}

/// A group's place on the page. Operations have underscores in their names, so these differ.
fn anchor(group: &Group) -> String {
    let dashed =
        group.title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    format!("group-{}", dashed.collect::<String>())
}

fn write_operation(html: &mut String, operation: &Operation) {
    let Operation { name, summary, .. } = operation;
    let _ = writeln!(html, "<section>\n<h3 id=\"{name}\"><a href=\"#{name}\">{name}</a></h3>");
    let _ = writeln!(html, "<p>{}</p>", escaped(summary));
    let input = schema::input(operation.input);
    let known = schema::fields(&input);
    for route in operation.http.routes() {
        let line = format!("{} {}", route.method.as_str(), route.path());
        let _ = writeln!(html, "<p><code>{}</code></p>", escaped(&line));
        write_inputs(html, route, &input, &known);
        let example = example::of(operation, route, &known);
        let _ = writeln!(html, "<pre><code>{}</code></pre>", escaped(&example));
    }
    write_answer(html, operation);
    if let Some(elsewhere) = elsewhere(operation) {
        let _ = writeln!(html, "<p class=\"faint\">{elsewhere}</p>");
    }
    html.push_str("</section>\n");
}

/// The fields of a request: those of the path, then those of the query or the body.
fn write_inputs(html: &mut String, route: Route, input: &Map<String, Value>, known: &[InputField]) {
    let schema_of = |field: &str| input.get("properties").and_then(|all| all.get(field));
    let in_path = |field: &str| route.parameters().any(|(_, filled)| filled == field);
    let mut rows = Vec::new();
    for (segment, field) in route.parameters() {
        rows.push(fields::Row::of(segment, "path", true, schema_of(field)));
    }
    let place = if route.method.has_body() { "body" } else { "query" };
    for InputField { name, of, required } in known.iter().filter(|field| !in_path(&field.name)) {
        // An object does not fit into a query.
        if route.method.has_body() || *of != FieldType::Object {
            rows.push(fields::Row::of(name, place, *required, schema_of(name)));
        }
    }
    fields::write(html, "in", &rows);
}

fn write_answer(html: &mut String, operation: &Operation) {
    let (status, media) = match (operation.media, operation.effect) {
        (Media::Nothing, _) => ("204", "no content"),
        (Media::Json, Effect::Create) => ("201", "JSON; <code>Location</code> has its path"),
        (Media::Json, _) => ("200", "JSON"),
        (Media::Markdown, _) => ("200", "Markdown"),
        (Media::Events, _) => ("200", "a stream of events (<code>text/event-stream</code>)"),
    };
    let _ = writeln!(html, "<p>Answers {status}: {media}.</p>");
    let rows = match operation.media {
        Media::Json | Media::Events => fields::of_answer(&schema::output(operation.output)),
        Media::Markdown | Media::Nothing => Vec::new(),
    };
    if !rows.is_empty() {
        let what =
            if operation.media == Media::Events { "Fields of an event" } else { "Fields of the answer" };
        let _ = writeln!(html, "<details><summary>{what}</summary>");
        fields::write(html, "", &rows);
        html.push_str("</details>\n");
    }
}

/// The same operation on other fronts.
fn elsewhere(operation: &Operation) -> Option<String> {
    let tool = match operation.mcp {
        Mcp::Tool(_) => Some(format!("MCP tool <code>{}</code>", operation.name)),
        Mcp::Absent(_) => None,
    };
    let command = match operation.cli {
        Cli::Command(words) => Some(format!("command <code>masque {}</code>", escaped(words))),
        Cli::Absent(_) => None,
    };
    let both: Vec<String> = tool.into_iter().chain(command).collect();
    (!both.is_empty()).then(|| format!("Also: {}.", both.join(", ")))
}

#[cfg(test)]
mod tests;
