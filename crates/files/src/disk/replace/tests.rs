use tempfile::TempDir;

use super::*;
use crate::disk::tests::{directory, names, text};

/// Makes files that say `one`, but for the last, which is not there.
fn files(names: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let home = directory();
    let paths: Vec<PathBuf> = names.iter().map(|name| home.path().join(name)).collect();
    for path in &paths[..paths.len() - 1] {
        fs::write(path, "one").expect("it can be written");
    }
    (home, paths)
}

/// Wants every file to say `two` where it says `one`, and the last one to be made.
fn replacements(paths: &[PathBuf]) -> Vec<Replacement> {
    let replacement = |(at, path): (usize, &PathBuf)| Replacement {
        path: path.clone(),
        expected: (at + 1 < paths.len()).then(|| b"one".to_vec()),
        new: b"two".to_vec(),
    };
    paths.iter().enumerate().map(replacement).collect()
}

#[test]
fn several_files_are_replaced_together_and_put_back_together() {
    let (home, paths) = files(&["a.md", "b.toml", "new.md"]);
    let replaced = replace_all(replacements(&paths)).expect("they are replaced");
    assert!(paths.iter().all(|path| text(path) == "two"));
    replaced.undo().expect("they are put back");
    assert_eq!((text(&paths[0]), text(&paths[1])), ("one".to_owned(), "one".to_owned()));
    assert_eq!(names(home.path()), ["a.md", "b.toml"], "what was made is gone, and nothing is left behind");
    drop(replace_all(replacements(&paths)).expect("they are replaced"));
    assert_eq!(names(home.path()), ["a.md", "b.toml", "new.md"]);
}

#[test]
fn if_one_file_cannot_be_replaced_none_is() {
    let (home, paths) = files(&["a.md", "b.toml", "new.md"]);
    fs::write(&paths[1], "theirs").expect("it can be written");
    let (path, error) = replace_all(replacements(&paths)).expect_err("it is refused");
    assert!(matches!(error, ReplaceError::Changed), "{error}");
    assert_eq!(path, paths[1]);
    assert_eq!((text(&paths[0]), text(&paths[1])), ("one".to_owned(), "theirs".to_owned()));
    fs::write(&paths[1], "one").expect("it can be written");
    // The last one is created last, and another program is faster.
    fs::write(&paths[2], "theirs").expect("it can be written");
    let (path, error) = replace_all(replacements(&paths)).expect_err("it is refused");
    assert!(matches!(error, ReplaceError::Changed), "{error}");
    assert_eq!(path, paths[2]);
    assert_eq!(paths.iter().map(|path| text(path)).collect::<Vec<_>>(), ["one", "one", "theirs"]);
    assert_eq!(names(home.path()).len(), 3, "nothing is left behind");
}

/// The file may have its new text only if it could not be put back.
#[test]
fn an_exchange_that_cannot_be_undone_is_not_settled() {
    use std::cell::Cell;

    let home = directory();
    let path = home.path().join("a.toml");
    let two = || filled(&path, true, b"two").expect("a file");
    let full = || io::Error::from(io::ErrorKind::StorageFull);
    fs::write(&path, "one").expect("it can be written");
    let never = |_: &Path, _: &Path| Err(full());
    assert!(matches!(swap(never, two(), &path, b"one", b"two"), Err(ReplaceError::Io(_))));
    assert_eq!(text(&path), "one");
    // Another program saved the file, and the disk fails before it is put back.
    fs::write(&path, "theirs").expect("it can be written");
    let calls = Cell::new(0);
    let once = |one: &Path, other: &Path| match calls.replace(calls.get() + 1) {
        0 => exchange(one, other),
        _ => Err(full()),
    };
    assert!(matches!(swap(once, two(), &path, b"one", b"two"), Err(ReplaceError::Unsettled(_))));
    assert_eq!(text(&path), "two");
}

#[test]
fn a_later_save_is_not_undone() {
    let (home, paths) = files(&["a.md", "b.toml", "new.md"]);
    let replaced = replace_all(replacements(&paths)).expect("they are replaced");
    fs::write(&paths[0], "theirs").expect("it can be written");
    fs::write(&paths[2], "theirs").expect("it can be written");
    replaced.undo().expect("the rest is put back");
    assert_eq!(paths.iter().map(|path| text(path)).collect::<Vec<_>>(), ["theirs", "one", "theirs"]);
    assert_eq!(names(home.path()).len(), 3, "nothing is left behind");
}

#[test]
fn a_file_that_is_to_stay_is_only_looked_at() {
    let (_home, paths) = files(&["a.md", "new.md"]);
    let stays = |text: &[u8]| Replacement {
        path: paths[0].clone(),
        expected: Some(text.to_vec()),
        new: text.to_vec(),
    };
    assert!(matches!(replace_all(vec![stays(b"other")]), Err((_, ReplaceError::Changed))));
    let before = fs::metadata(&paths[0]).and_then(|it| it.modified()).expect("it is there");
    replace_all(vec![stays(b"one")]).expect("it is what it was");
    assert_eq!(fs::metadata(&paths[0]).and_then(|it| it.modified()).expect("it is there"), before);
}

#[test]
fn a_file_system_without_exchange_is_served_too() {
    let home = directory();
    let path = home.path().join("a.toml");
    fs::write(&path, "one").expect("it can be written");
    let none = |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into());
    let two = || filled(&path, true, b"two").expect("a file");
    assert!(matches!(swap(none, two(), &path, b"other", b"two"), Err(ReplaceError::Changed)));
    assert!(swap(none, two(), &path, b"one", b"two").expect("it is replaced").is_none());
    assert_eq!((text(&path).as_str(), names(home.path()).len()), ("two", 1));
    let placed = Placed { target: path.clone(), new: b"two".to_vec(), before: Before::Text(b"one".to_vec()) };
    placed.undo().expect("it is put back");
    assert_eq!((text(&path).as_str(), names(home.path()).len()), ("one", 1));
}

#[test]
fn every_directory_that_gets_another_one_is_made_durable() {
    let home = directory();
    let (root, deep) = (home.path(), home.path().join("a/b/c"));
    assert_eq!(changing(&deep), [root.join("a/b").as_path(), root.join("a").as_path(), root]);
    assert!(changing(root).is_empty());
}
