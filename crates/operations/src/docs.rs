//! The tables of the documentation.

use persona::Kind;

use crate::schema::{self, FieldType, InputField};
use crate::{Absence, COMMAND_LINE_ONLY, Group, Http, Mcp, Operation, Route, ToolSet, find, groups};

mod fields;

/// A generated part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// A file of `docs`.
    pub file: &'static str,
    /// The name in its markers: `<!-- begin NAME -->` and `<!-- end NAME -->`.
    pub name: &'static str,
    pub text: String,
}

/// The document with the fields of every kind.
const FIELDS: &str = "personas-toml.md";

/// Every generated section.
pub fn sections() -> Vec<Section> {
    let section = |file, name, text| Section { file, name, text };
    let kinds = Kind::ALL.iter().map(|kind| section(FIELDS, kind.as_str(), fields::of_kind(*kind)));
    let of_operations = [
        section("mcp.md", "load", tools(ToolSet::Load)),
        section("mcp.md", "author", tools(ToolSet::Author)),
        section("mcp.md", "all", tools(ToolSet::All)),
        section("mcp.md", "no-tools", no_tools()),
        section("http.md", "library", requests(|group| !group.of_sessions)),
        section("http.md", "sessions", requests(|group| group.of_sessions)),
        section("http.md", "no-requests", no_requests()),
        section(FIELDS, "kinds", fields::kinds()),
    ];
    of_operations.into_iter().chain(kinds).collect()
}

/// Puts the sections into a document. Fails with the name of a marker that is missing.
pub fn fill(document: &str, sections: &[Section]) -> Result<String, String> {
    let mut filled = document.to_owned();
    for Section { name, text, .. } in sections {
        let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
        let start = filled.find(&begin).ok_or_else(|| begin.clone())? + begin.len();
        let stop = filled[start..].find(&end).ok_or_else(|| end.clone())? + start;
        filled.replace_range(start..stop, text);
    }
    Ok(filled)
}

fn operations() -> impl Iterator<Item = &'static Operation> {
    groups().iter().flat_map(|group| group.operations)
}

fn inputs(operation: &Operation) -> Vec<InputField> {
    schema::fields(&schema::input(operation.input))
}

/// Names in code font; a question mark marks optional ones.
fn named(fields: &[InputField], skip: impl Fn(&str) -> bool) -> String {
    let shown = fields.iter().filter(|field| !skip(&field.name));
    let shown = shown
        .map(|InputField { name, required, .. }| format!("`{name}`{}", if *required { "" } else { "?" }));
    shown.collect::<Vec<_>>().join(", ")
}

/// The tools that a set adds.
fn tools(set: ToolSet) -> String {
    let mut text = "| tool | parameters | |\n|---|---|---|\n".to_owned();
    for operation in operations().filter(|operation| operation.mcp == Mcp::Tool(set)) {
        let Operation { name, summary, .. } = operation;
        text.push_str(&format!("| `{name}` | {} | {summary} |\n", named(&inputs(operation), |_| false)));
    }
    text
}

fn no_tools() -> String {
    let mut text = "| operations | why they are not tools |\n|---|---|\n".to_owned();
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for Operation { name, mcp, .. } in operations() {
        let Mcp::Absent(absence) = mcp else { continue };
        let reason = match absence {
            Absence::Through(other) => format!("`{other}` does it"),
            Absence::Because(reason) => (*reason).to_owned(),
        };
        group_by(&mut reasons, reason, name);
    }
    for (reason, names) in reasons {
        text.push_str(&format!("| {} | {reason} |\n", names.join(", ")));
    }
    text
}

/// Adds a name to those with the same reason.
fn group_by(groups: &mut Vec<(String, Vec<String>)>, reason: String, name: &str) {
    match groups.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, names)) => names.push(format!("`{name}`")),
        None => groups.push((reason, vec![format!("`{name}`")])),
    }
}

/// The requests of some groups, a table for each.
fn requests(wanted: impl Fn(&Group) -> bool) -> String {
    let mut text = String::new();
    for group in groups().iter().filter(|group| wanted(group)) {
        let rows: Vec<String> = group
            .operations
            .iter()
            .flat_map(|operation| operation.http.routes().map(|route| request(operation, route)))
            .collect();
        if !rows.is_empty() {
            let head = "| request | query or body | |\n|---|---|---|\n";
            text.push_str(&format!("### {}\n{head}{}\n", group.title, rows.concat()));
        }
    }
    text
}

fn request(operation: &Operation, route: Route) -> String {
    let mut fields = inputs(operation);
    // An object does not fit into a query.
    fields.retain(|field| route.method.has_body() || field.of != FieldType::Object);
    let in_path = |name: &str| route.parameters().any(|(_, field)| field == name);
    format!("| `{}` | {} | {} |\n", line(route), named(&fields, in_path), operation.summary)
}

fn line(route: Route) -> String {
    format!("{} {}", route.method.as_str(), route.path())
}

/// Operations without a request, and commands without an operation.
fn no_requests() -> String {
    let mut text = "| operation or command | instead |\n|---|---|\n".to_owned();
    let mut instead: Vec<(String, Vec<String>)> = Vec::new();
    for Operation { name, http, .. } in operations() {
        let Http::Absent(absence) = http else { continue };
        let reason = match absence {
            Absence::Through(other) => {
                let routes = find(other).into_iter().flat_map(|other| other.http.routes());
                routes.map(|route| format!("`{}`", line(route))).collect::<Vec<_>>().join(", ")
            }
            Absence::Because(reason) => (*reason).to_owned(),
        };
        group_by(&mut instead, reason, name);
    }
    for (reason, names) in instead {
        text.push_str(&format!("| {} | {reason} |\n", names.join(", ")));
    }
    for (command, reason) in COMMAND_LINE_ONLY {
        text.push_str(&format!("| `masque {command}` | {reason} |\n"));
    }
    text
}
