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
