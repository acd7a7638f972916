//! Texts that stand in files of their own.

use std::fs;
use std::path::PathBuf;

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

#[test]
fn a_file_that_is_missing_is_made_and_one_outside_never() {
    let place = Place::new("[skills.x]\ncontent_file = 'b.md'\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert_eq!(edited.files, [(PathBuf::from("b.md"), "new".to_owned())]);
    let place = Place::new("[skills.x]\ncontent_file = '../b.md'\n");
    let edited = place.put(json!({ "name": "x", "content": "new" }));
    assert_eq!((edited.text.as_str(), edited.files.len()), ("[skills.x]\ncontent = \"new\"\n", 0));
}
