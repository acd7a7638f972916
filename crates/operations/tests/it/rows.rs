//! Every row is complete and fits the others.

use std::collections::BTreeSet;

use operations::schema::{self, FieldType};
use operations::{Absence, Cli, Effect, Http, Mcp, Media, Method, OperationFn, all, find};

#[test]
fn names_are_unique_and_summaries_are_one_line() {
    let mut names = BTreeSet::new();
    for operation in all() {
        assert!(names.insert(operation.name), "{} is there twice", operation.name);
        let summary = operation.summary;
        assert!(!summary.is_empty() && !summary.contains('\n') && !summary.contains('|'), "{summary}");
    }
}

#[test]
fn request_lines_are_unique_and_fill_known_fields() {
    let mut lines = BTreeSet::new();
    for operation in all() {
        let fields = schema::fields(&schema::input(operation.input));
        for route in operation.http.routes() {
            let line = format!("{} {}", route.method.as_str(), route.path());
            assert!(lines.insert(line.clone()), "{line} is there twice");
            for (_, filled) in route.parameters() {
                assert!(fields.iter().any(|field| field.name == filled), "{line} fills {filled}");
            }
            // Clients and proxies may repeat a GET at will.
            assert!(route.method != Method::Get || operation.effect == Effect::Read, "{line}");
            let objects = fields.iter().any(|field| field.of == FieldType::Object);
            let has_body = operation.http.routes().any(|route| route.method.has_body());
            assert!(!objects || has_body, "{line}: an object fits into a body only");
        }
    }
}

#[test]
fn the_operation_that_replaces_another_is_offered() {
    for operation in all() {
        if let Http::Absent(Absence::Through(other)) = operation.http {
            let other = find(other).unwrap_or_else(|| panic!("{}: there is no {other}", operation.name));
            assert!(other.http.routes().next().is_some(), "{}", operation.name);
        }
        if let Mcp::Absent(Absence::Through(other)) = operation.mcp {
            assert!(find(other).is_some_and(|other| matches!(other.mcp, Mcp::Tool(_))), "{}", operation.name);
        }
        let absences = [
            if let Http::Absent(absence) = operation.http { Some(absence) } else { None },
            if let Mcp::Absent(absence) = operation.mcp { Some(absence) } else { None },
            if let Cli::Absent(absence) = operation.cli { Some(absence) } else { None },
        ];
        for absence in absences.into_iter().flatten() {
            assert!(!matches!(absence, Absence::Because(reason) if reason.is_empty()), "{}", operation.name);
        }
    }
}

#[test]
fn streams_are_marked() {
    for operation in all() {
        let streams = !matches!(operation.run, OperationFn::Call(_));
        assert_eq!(operation.media == Media::Events, streams, "{}", operation.name);
        assert!(!streams || !matches!(operation.mcp, Mcp::Tool(_)), "{}", operation.name);
    }
}
