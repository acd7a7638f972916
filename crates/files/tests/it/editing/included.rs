//! Texts in files of their own.

use std::fs;
use std::path::PathBuf;

use persona::Code;

use super::*;

struct Place(tempfile::TempDir);

impl Place {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("a.md"), "old\n").expect("written");
        let place = Self(directory);
        fs::write(place.path(), text).expect("written");
        place
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("personas.toml")
    }

    fn put(&self, value: Value) -> Edited {
        let text = fs::read_to_string(self.path()).expect("readable");
        let current = document::read(&self.path(), &text).expect("it is TOML");
        let entity = entity(Kind::Skill, value);
        let edited = apply(&text, &[Edit::Put { entity: &entity }], &current).expect("it can be put");
        for (path, text) in &edited.files {
            fs::write(self.0.path().join(path), text).expect("written");
        }
        let again = document::read(&self.path(), &edited.text).expect("it is TOML");
        assert_eq!(again.get(Kind::Skill, "x").map(|entry| &entry.entity), Some(&entity));
        edited
    }
}

#[test]
fn the_file_is_rewritten_and_the_key_stays() {
    let text = "[skills.x]\ncontent_file = 'a.md' # text\ndescription = 'd'\n";
    let place = Place::new(text);
    let edited = place.put(json!({ "name": "x", "content": "new\n", "description": "d" }));
    assert_eq!(
        (edited.text.as_str(), edited.files),
        (text, vec![(PathBuf::from("a.md"), "new\n".to_owned())])
    );
    let place = Place::new(text);
    let edited = place.put(json!({ "name": "x", "content": "old\n", "description": "e" }));
    assert_eq!(edited.text, "[skills.x]\ncontent_file = 'a.md' # text\ndescription = \"e\"\n");
    assert!(edited.files.is_empty());
    let place = Place::new(text);
    let edited = place.put(json!({ "name": "x", "description": "d" }));
    assert_eq!((edited.text.as_str(), edited.files.len()), ("[skills.x]\ndescription = 'd'\n", 0));
    let place = Place::new("[skills]\nx = { content_file = 'a.md' }\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert_eq!((edited.text.as_str(), edited.files.len()), ("[skills]\nx = { content_file = 'a.md' }\n", 1));
}

#[test]
fn a_text_that_others_share_is_written_into_the_entry() {
    let place =
        Place::new("[skills.x]\ncontent_file = 'a.md' # text\n\n[skills.y]\ncontent_file = './a.md'\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert!(edited.files.is_empty() && edited.document.is_none());
    assert_eq!(edited.text, "[skills.x]\ncontent = \"new\" # text\n\n[skills.y]\ncontent_file = './a.md'\n");
    let place = Place::new("[skills]\nx = { content_file = 'a.md' }\ny = { content_file = 'a.md' }\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert_eq!(edited.text, "[skills]\nx = { content = \"new\" }\ny = { content_file = 'a.md' }\n");
}

#[cfg(unix)]
#[test]
fn a_text_is_shared_by_whatever_way_it_is_named() {
    use std::os::unix::fs::symlink;

    for other in ["./a.md", "link.md", "prompts/a.md"] {
        let text = format!("[skills.x]\ncontent_file = 'a.md'\n\n[skills.y]\ncontent_file = '{other}'\n");
        let place = Place::new(&text);
        symlink("a.md", place.0.path().join("link.md")).expect("linked");
        symlink(".", place.0.path().join("prompts")).expect("linked");
        let edited = place.put(json!({ "name": "x", "content": "new" }));
        assert!(edited.files.is_empty(), "{other}");
        assert_eq!(edited.text, text.replacen("content_file = 'a.md'", "content = \"new\"", 1));
    }
}

/// Writing the text of an entry over a personas.toml would take all its entries away.
#[cfg(unix)]
#[test]
fn a_personas_toml_cannot_be_included_as_a_text() {
    use std::os::unix::fs::symlink;

    for written in [
        "personas.toml",
        "./personas.toml",
        "link.md",
        "here/personas.toml",
        "sub/personas.toml",
        "sub/PERSONAS.toml",
    ] {
        let text = format!("[skills.x]\ncontent_file = '{written}'\n\n[skills.y]\ncontent = 'y'\n");
        let place = Place::new(&text);
        let at = |path: &str| place.0.path().join(path);
        symlink("personas.toml", at("link.md")).expect("linked");
        symlink(".", at("here")).expect("linked");
        fs::create_dir(at("sub")).expect("a directory");
        fs::write(at("sub/personas.toml"), "[skills.z]\n").expect("written");
        let document = document::read(&place.path(), &text).expect("it is TOML");
        let problem = &document.problems[0];
        assert_eq!((problem.line, problem.column, document.problems.len()), (2, 16, 1), "{problem}");
        assert_eq!(problem.cause, Code::IncludeNotAllowed, "{problem}");
        assert_eq!(document.all().count(), 1);
        let edited = place.put(json!({ "name": "x", "content": "new" }));
        assert!(edited.files.is_empty(), "{written}");
        assert_eq!(edited.text, "[skills.x]\ncontent = \"new\"\n\n[skills.y]\ncontent = 'y'\n");
    }
    // By whatever name the file goes.
    let place = Place::new("");
    let text = "[skills.x]\ncontent_file = 'mine.toml'\n";
    fs::write(place.0.path().join("mine.toml"), text).expect("written");
    fs::remove_file(place.path()).expect("it is there");
    symlink("mine.toml", place.path()).expect("linked");
    for path in [place.path(), place.0.path().join("mine.toml")] {
        let document = document::read(&path, text).expect("it is TOML");
        assert_eq!(document.problems[0].cause, Code::IncludeNotAllowed, "{}", document.problems[0]);
    }
}

#[test]
fn a_file_that_is_missing_is_made_and_one_outside_never() {
    let place = Place::new("[skills.x]\ncontent_file = 'b.md'\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert_eq!(edited.files, [(PathBuf::from("b.md"), "new".to_owned())]);
    let place = Place::new("[skills.x]\ncontent_file = '../b.md'\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert_eq!((edited.text.as_str(), edited.files.len()), ("[skills.x]\ncontent = \"new\"\n", 0));
}
