//! The edited text in a file that only the user can read.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::definition::read_text;
use crate::failure::{Failure, Result};

/// The last line of the comment above the text.
const LAST_LINE: &str = "# Fix it, or empty the file to cancel. These lines are removed automatically.";

/// A file in its own directory, with a name whose extension editors know.
#[derive(Debug)]
pub(super) struct Draft {
    directory: TempDir,
    path: PathBuf,
    /// The comment lines above the text, with the error.
    error_lines: Vec<String>,
}

/// The content after editing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DraftContent {
    Text(String),
    /// Empty, except for our comment.
    Empty,
}

impl Draft {
    pub(super) fn new(name: &str, text: &str) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("masque-edit-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = builder
            .tempdir()
            .map_err(|error| Failure::file("create a directory in", &std::env::temp_dir(), &error))?;
        let path = directory.path().join(name);
        let draft = Self { directory, path, error_lines: Vec::new() };
        draft.write(text)?;
        Ok(draft)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the text without the error comment.
    pub(super) fn read(&self) -> Result<DraftContent> {
        match std::fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DraftContent::Empty),
            _ => {}
        }
        let text = read_text(&self.path)?;
        let text = without(&text, &self.error_lines);
        if text.trim().is_empty() { Ok(DraftContent::Empty) } else { Ok(DraftContent::Text(text.to_owned())) }
    }

    /// Writes a text with an error above it, as a comment.
    pub(super) fn write_with_error(&mut self, text: &str, message: &str) -> Result<()> {
        self.error_lines = comments(message);
        let above = self.error_lines.join("\n");
        self.write(&format!("{above}\n{text}"))
    }

    /// Keeps a changed file. Returns its path.
    pub(super) fn keep_if_changed(self, original: &str) -> Option<PathBuf> {
        let changed = match self.read() {
            Ok(DraftContent::Text(text)) => text != original,
            Ok(DraftContent::Empty) => false,
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

/// The number of comment lines for a message.
pub(super) fn lines_above(message: &str) -> usize {
    comments(message).len()
}

fn comments(message: &str) -> Vec<String> {
    let mut lines = vec!["# Not saved:".to_owned()];
    lines.extend(message.lines().map(|line| format!("#   {line}").trim_end().to_owned()));
    lines.push(LAST_LINE.to_owned());
    lines
}

/// The text below our comment lines. The user may have deleted or changed some of them.
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
    use super::{Draft, DraftContent};

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let draft = Draft::new("a.part.toml", "a = 1\n").expect("it is written");
        let directory = draft.path().parent().expect("it has one");
        let mode = std::fs::metadata(directory).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    fn read(draft: &Draft) -> DraftContent {
        draft.read().expect("it can be read")
    }

    #[test]
    fn an_error_comment_is_added_and_removed() {
        let mut draft = Draft::new("a.part.toml", "# mine\na = 1\n").expect("it is written");
        assert_eq!(read(&draft), DraftContent::Text("# mine\na = 1\n".to_owned()));
        draft.write_with_error("# mine\na = 2\n", "a: wrong\n  1 | a\n").expect("it is written");
        let shown = std::fs::read_to_string(draft.path()).expect("it can be read");
        assert!(shown.starts_with("# Not saved:\n#   a: wrong\n#     1 | a\n# Fix it"), "{shown}");
        assert_eq!(read(&draft), DraftContent::Text("# mine\na = 2\n".to_owned()));
        for changed in [shown.replacen("# Not saved:\n", "", 1), shown.replace("wrong", "right")] {
            std::fs::write(draft.path(), changed).expect("it can be written");
            assert_eq!(read(&draft), DraftContent::Text("# mine\na = 2\n".to_owned()));
        }
    }

    #[test]
    fn only_a_changed_file_is_kept() {
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
    fn an_empty_or_removed_file_is_empty() {
        let mut draft = Draft::new("a.part.toml", "a = 1\n").expect("it is written");
        draft.write_with_error("", "wrong").expect("it is written");
        assert_eq!(read(&draft), DraftContent::Empty);
        std::fs::remove_file(draft.path()).expect("it can be removed");
        assert_eq!(read(&draft), DraftContent::Empty);
    }
}
