//! The tables of the documentation match the operations and the kinds.

use std::fs;
use std::path::Path;

use operations::docs::{Section, fill, sections};

/// Set it to write the tables instead of comparing them.
const UPDATE: &str = "MASQUE_UPDATE_DOCS";

#[test]
fn the_tables_are_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for file in ["http.md", "mcp.md", "personas-toml.md"] {
        let path = docs.join(file);
        let document = fs::read_to_string(&path).expect(file);
        let wanted: Vec<Section> = sections().into_iter().filter(|section| section.file == file).collect();
        let filled = fill(&document, &wanted).unwrap_or_else(|marker| panic!("{file} has no {marker}"));
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, filled).expect(file);
        } else {
            assert!(
                filled == document,
                "docs/{file} is out of date; run {UPDATE}=1 cargo test -p operations"
            );
        }
    }
}

#[test]
fn a_missing_marker_is_named() {
    let section = Section { file: "x.md", name: "x", text: "new\n".to_owned() };
    let filled = fill("a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n", std::slice::from_ref(&section));
    assert_eq!(filled.as_deref(), Ok("a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n"));
    assert!(
        fill("nothing", std::slice::from_ref(&section)).is_err_and(|marker| marker == "<!-- begin x -->\n")
    );
    assert!(fill("<!-- begin x -->\n", &[section]).is_err_and(|marker| marker == "<!-- end x -->"));
}

/// The page's types are made from this copy (`npm run api` in `web`), and its own test compares them.
#[test]
fn the_document_of_the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/openapi.json");
    let document = operations::openapi("page");
    if std::env::var_os(UPDATE).is_some() {
        let text = serde_json::to_string_pretty(&document).expect("JSON");
        fs::write(&path, text + "\n").expect("web/openapi.json");
        return;
    }
    let kept = fs::read_to_string(&path).expect("web/openapi.json");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    assert!(
        kept == document,
        "web/openapi.json is out of date; run {UPDATE}=1 cargo test -p operations, then `npm run api` in web"
    );
}
