//! Findings as SARIF 2.1.0, for code hosts.

use std::path::{Component, Path};

use app::outputs::{LintFinding, LintRule};
use serde_json::{Value, json};

use super::LintRun;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn log(report: &LintRun) -> Value {
    let results: Vec<Value> = report.found.findings.iter().map(|found| result(found, report)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "masque",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules(),
                }
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }]
    })
}

fn rules() -> Vec<Value> {
    LintRule::all()
        .map(|rule| {
            json!({
                "id": rule.as_str(),
                "shortDescription": { "text": rule.description() },
                "defaultConfiguration": { "level": rule.level().as_str() },
            })
        })
        .collect()
}

fn result(found: &LintFinding, report: &LintRun) -> Value {
    let sentence = found.sentence();
    // A finding without a file is placed in the project's file: code hosts reject results without a
    // location.
    let (path, text) = match (&found.path, found.scope) {
        (Some(path), _) => (path.clone(), sentence),
        (None, Some(scope)) => (report.project_file(), format!("in {scope}: {sentence}")),
        (None, None) => (report.project_file(), sentence),
    };
    let mut location = json!({ "physicalLocation": physical(found, &path, report) });
    if let (Some(kind), Some(name)) = (found.kind, &found.name) {
        let scope = found.scope.map(|scope| format!("{scope}:")).unwrap_or_default();
        let name = format!("{scope}{kind}:{name}");
        location["logicalLocations"] = json!([{ "fullyQualifiedName": name }]);
    }
    json!({
        "ruleId": found.rule.as_str(),
        "ruleIndex": LintRule::all().position(|rule| rule == found.rule),
        "level": found.level.as_str(),
        "message": { "text": text },
        "locations": [location],
    })
}

fn physical(found: &LintFinding, path: &Path, report: &LintRun) -> Value {
    let in_project = report.relative(path).map(|relative| in_repository(path).unwrap_or(relative));
    let artifact = match in_project {
        Some(relative) => json!({ "uri": uri(relative), "uriBaseId": "%SRCROOT%" }),
        None if path.is_relative() => json!({ "uri": uri(path), "uriBaseId": "%SRCROOT%" }),
        None => json!({ "uri": format!("file://{}", uri(path)) }),
    };
    // A finding about a whole file is placed at its top.
    let region = json!({ "startLine": found.line.unwrap_or(1), "startColumn": found.column.unwrap_or(1) });
    json!({ "artifactLocation": artifact, "region": region })
}

/// A path relative to its repository, the source root of code hosts. A project may be a subdirectory.
fn in_repository(path: &Path) -> Option<&Path> {
    let root = path.ancestors().skip(1).find(|directory| directory.join(".git").exists())?;
    path.strip_prefix(root).ok()
}

/// A path as a URI path, with escapes.
fn uri(path: &Path) -> String {
    let mut uri = String::new();
    for component in path.components() {
        match component {
            Component::RootDir => uri.push('/'),
            component => {
                if !uri.is_empty() && !uri.ends_with('/') {
                    uri.push('/');
                }
                escape(&component.as_os_str().to_string_lossy(), &mut uri);
            }
        }
    }
    uri
}

fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{in_repository, uri};

    #[test]
    fn a_project_can_be_a_subdirectory_of_its_repository() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("svc/prompts/x.md");
        std::fs::create_dir_all(home.path().join(".git")).expect("it can be made");
        assert_eq!(in_repository(&path), Some(Path::new("svc/prompts/x.md")));
        assert_eq!(in_repository(Path::new("personas.toml")), None);
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri(Path::new("personas.toml")), "personas.toml");
        assert_eq!(uri(Path::new("prompts/a b#é.md")), "prompts/a%20b%23%C3%A9.md");
        assert_eq!(uri(Path::new("/home/me/x.toml")), "/home/me/x.toml");
    }
}
