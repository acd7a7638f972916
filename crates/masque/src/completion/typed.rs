//! The words before the cursor.

use std::ffi::OsString;

use clap::{Arg, Command};

/// The positional words and the global options of an unfinished command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Typed {
    /// The name of the command, without its subcommands.
    pub(super) command: String,
    /// The words after the command and its subcommands.
    pub(super) words: Vec<String>,
    pub(super) database: Option<String>,
    pub(super) project: Option<String>,
}

impl Typed {
    /// Reads the words before the cursor, which is at the last word if no index is given.
    pub(super) fn read(root: &Command, words: &[OsString], index: Option<String>) -> Self {
        let end = index.and_then(|index| index.parse().ok()).unwrap_or(words.len().saturating_sub(1));
        let before = words.get(1..end.min(words.len())).unwrap_or_default();
        let mut before = before.iter().map(|word| word.to_string_lossy().into_owned());
        let mut typed = Self::default();
        let mut command = root;
        while let Some(word) = before.next() {
            if let Some(flag) = word.strip_prefix('-') {
                let (name, value) = match flag.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (flag, None),
                };
                let found = find(command, name).or_else(|| find(root, name));
                let takes_value = found.is_some_and(|flag| flag.get_action().takes_values());
                let value = if takes_value { value.or_else(|| before.next()) } else { None };
                match name {
                    "-db" => typed.database = value,
                    "-project" => typed.project = value,
                    _ => {}
                }
            } else if let Some(next) = command.find_subcommand(&word).filter(|_| typed.words.is_empty()) {
                command = next;
                if typed.command.is_empty() {
                    next.get_name().clone_into(&mut typed.command);
                }
            } else {
                typed.words.push(word);
            }
        }
        typed
    }
}

/// The flag of a command, by its name without the first dash.
fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|flag| match name.strip_prefix('-') {
        Some(long) => flag.get_long() == Some(long),
        None => name.chars().count() == 1 && flag.get_short() == name.chars().next(),
    })
}

#[cfg(test)]
mod tests {
    use super::Typed;
    use crate::cli;

    #[track_caller]
    fn check(line: &str, index: Option<usize>, words: &str) -> Typed {
        let line: Vec<_> = line.split(' ').map(Into::into).collect();
        let typed = Typed::read(&cli::command(), &line, index.map(|index| index.to_string()));
        assert_eq!(typed.words.join(" "), words, "{line:?}");
        typed
    }

    #[test]
    fn words_before_the_cursor_are_read() {
        check("masque show ", None, "");
        check("masque show part ca", None, "part");
        check("masque show part calm 1", Some(3), "part");
        check("masque rm part ca", None, "part");
        check("masque sessions show 01", None, "");
        check("masque tag reviewer 3 prod", None, "reviewer 3");
        check("masque", None, "");
    }

    #[test]
    fn flags_and_their_values_are_skipped() {
        check("masque --json diff --scope shared reviewer --compiled 1", None, "reviewer");
        check("masque update -m why part ca", None, "");
        check("masque diff -v reviewer 1", None, "reviewer");
        let typed = check("masque --db a.db --project=shop show x", None, "");
        assert_eq!((typed.database.as_deref(), typed.project.as_deref()), (Some("a.db"), Some("shop")));
    }
}
