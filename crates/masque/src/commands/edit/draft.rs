//! The text while it is edited: a file that nobody else can read.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::definition::read_text;
use crate::failure::{Failure, Result};

/// The end of what we put above the text.
const LAST_LINE: &str = "# Mend it, or empty the file to give up. These lines go away by themselves.";

/// A file in a directory of its own, so that it can have a name that editors know what to do with.
#[derive(Debug)]
pub(super) struct Draft {
    directory: TempDir,
    path: PathBuf,
    /// The lines above the text that say what was wrong with it.
    mistake: Vec<String>,
}

/// What the editor left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    Text(String),
    /// Nothing but what we had put there ourselves.
    Emptied,
}

impl Draft {
    pub(super) fn new(name: &str, text: &str) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("masque-edit-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = builder
            .tempdir()
            .map_err(|error| Failure::file("make a directory in", &std::env::temp_dir(), &error))?;
        let path = directory.path().join(name);
        let draft = Self { directory, path, mistake: Vec::new() };
        draft.write(text)?;
        Ok(draft)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the editor left, without the lines about a mistake.
    pub(super) fn read(&self) -> Result<Read> {
        match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::Emptied),
            _ => {}
        }
        let text = read_text(&self.path)?;
        let text = without(&text, &self.mistake);
        if text.trim().is_empty() { Ok(Read::Emptied) } else { Ok(Read::Text(text.to_owned())) }
    }

    /// Puts a text back with what is wrong above it, as comments.
    pub(super) fn write_with_mistake(&mut self, text: &str, message: &str) -> Result<()> {
        self.mistake = comments(message);
        let above = self.mistake.join("\n");
        self.write(&format!("{above}\n{text}"))
    }

    /// Leaves the file behind where it has something to lose; returns its path.
    pub(super) fn keep_if_changed(self, original: &str) -> Option<PathBuf> {
        let changed = match self.read() {
            Ok(Read::Text(text)) => text != original,
            Ok(Read::Emptied) => false,
            Err(_) => self.path.exists(),
        };
        if !changed {
            return None;
        }
        let _ = self.directory.keep();
        Some(self.path)
    }

    fn write(&self, text: &str) -> Result<()> {
        std::fs::write(&self.path, text).map_err(|error| Failure::file("write", &self.path, &error))
    }
}

/// How many lines stand above the text when this message does.
pub(super) fn lines_above(message: &str) -> usize {
    comments(message).len()
}

fn comments(message: &str) -> Vec<String> {
    let mut lines = vec!["# This was not saved:".to_owned()];
    lines.extend(message.lines().map(|line| format!("#   {line}").trim_end().to_owned()));
    lines.push(LAST_LINE.to_owned());
    lines
}

/// The text below the lines that we had put above it. Some of them may have been deleted, or
/// changed by a replacement all over the file.
fn without<'t>(text: &'t str, above: &[String]) -> &'t str {
    if above.is_empty() {
        return text;
    }
    let (mut rest, mut below) = (text, text);
    while let Some((line, next)) = rest.split_once('\n') {
        if !line.starts_with('#') {
            break;
        }
        rest = next;
        if above.iter().any(|known| known == line.trim_end()) {
            below = next;
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use super::{Draft, Read};

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let draft = Draft::new("a.part.toml", "a = 1\n").expect("it is written");
        let directory = draft.path().parent().expect("it has one");
        let mode = std::fs::metadata(directory).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    fn read(draft: &Draft) -> Read {
        draft.read().expect("it can be read")
    }

    #[test]
    fn a_mistake_stands_above_the_text_and_goes_again() {
        let mut draft = Draft::new("a.part.toml", "# mine\na = 1\n").expect("it is written");
        assert_eq!(read(&draft), Read::Text("# mine\na = 1\n".to_owned()));
        draft.write_with_mistake("# mine\na = 2\n", "a: wrong\n  1 | a\n").expect("it is written");
        let shown = std::fs::read_to_string(draft.path()).expect("it can be read");
        assert!(shown.starts_with("# This was not saved:\n#   a: wrong\n#     1 | a\n# Mend it"), "{shown}");
        assert_eq!(read(&draft), Read::Text("# mine\na = 2\n".to_owned()));
        for changed in [shown.replacen("# This was not saved:\n", "", 1), shown.replace("wrong", "right")] {
            std::fs::write(draft.path(), changed).expect("it can be written");
            assert_eq!(read(&draft), Read::Text("# mine\na = 2\n".to_owned()));
        }
    }

    #[test]
    fn only_what_was_changed_is_kept() {
        let draft = Draft::new("a.part.toml", "a = 1\n").expect("it is written");
        let path = draft.path().to_owned();
        assert_eq!(draft.keep_if_changed("a = 1\n"), None);
        assert!(!path.exists());
        let draft = Draft::new("a.part.toml", "a = 2\n").expect("it is written");
        let kept = draft.keep_if_changed("a = 1\n").expect("it is kept");
        assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "a = 2\n");
        std::fs::remove_dir_all(kept.parent().expect("it has one")).expect("it can be removed");
    }

    #[test]
    fn an_emptied_or_removed_file_is_nothing() {
        let mut draft = Draft::new("a.part.toml", "a = 1\n").expect("it is written");
        draft.write_with_mistake("", "wrong").expect("it is written");
        assert_eq!(read(&draft), Read::Emptied);
        std::fs::remove_file(draft.path()).expect("it can be removed");
        assert_eq!(read(&draft), Read::Emptied);
    }
}
