//! The files that the program of a server starts from.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{ServerSettings, Transport};
use crate::limits;

/// Files that an interpreter looks for in a directory that it is given.
const ENTRIES: [&str; 4] = ["package.json", "index.js", "index.mjs", "__main__.py"];

impl ServerSettings {
    /// The paths that the command, its arguments and its variables may name, in existence or not. Empty for
    /// a server at an address.
    pub fn program_files(&self) -> BTreeSet<PathBuf> {
        let Transport::Stdio { command, args, env, cwd, .. } = &self.transport else {
            return BTreeSet::new();
        };
        let here = || std::env::current_dir().unwrap_or_default();
        let directory = cwd.clone().unwrap_or_else(here);
        let texts = args.iter().chain(env.values()).map(String::as_str);
        program_files(&directory, command, texts)
    }
}

/// The paths that a command and its arguments may name, in existence or not. Relative ones start in the
/// directory, or in one that an argument names.
pub fn program_files<'a>(
    directory: &Path,
    command: &'a str,
    args: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<PathBuf> {
    // A command without a slash is looked up in PATH.
    let program = command.contains('/').then_some(command);
    let words: BTreeSet<&str> =
        args.into_iter().flat_map(words).chain(program).take(limits::PROGRAM_WORDS).collect();
    let start = plain(directory);
    let paths = |from: &Path| words.iter().map(|word| plain(&from.join(word))).collect::<BTreeSet<_>>();
    let mut files = paths(&start);
    let named = files.iter().filter(|path| **path != start && path.is_dir());
    for inside in named.take(limits::PROGRAM_DIRECTORIES).cloned().collect::<Vec<_>>() {
        files.extend(ENTRIES.map(|entry| inside.join(entry)));
        files.extend(paths(&inside));
    }
    files
}

/// The parts of an argument that may be paths: the argument itself, the value of an option, and each word
/// of a line for a shell.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`;|&()<>=,:".contains(c);
    let is_path = |word: &&str| !word.is_empty() && !word.starts_with('-') && !word.contains('\0');
    let value = text.split_once('=').map(|(_, value)| value);
    [text].into_iter().chain(value).chain(text.split(is_between)).filter(is_path)
}

/// A path without `.` and `..`, as text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that a line may name, in a project with the directory `srv`.
    fn check(line: &[&str], expected: &[&str]) {
        let project = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(project.path().join("srv")).expect("a directory");
        let (command, args) = line.split_first().expect("a command");
        let found = program_files(project.path(), command, args.iter().copied());
        for path in expected {
            assert!(found.contains(&project.path().join(path)), "{line:?}: {path} in {found:?}");
        }
        for path in ["sh", "node", "-c"] {
            assert!(!found.contains(&project.path().join(path)), "{line:?}: {path} in {found:?}");
        }
    }

    #[test]
    fn every_spelling_of_a_file_is_found() {
        check(&["sh", "./server.sh"], &["server.sh"]);
        check(&["sh", "server.sh"], &["server.sh"]);
        check(&["./bin/server"], &["bin/server"]);
        check(&["node", "srv/../run.js"], &["run.js"]);
        check(&["node", "--import=./hook.mjs", "srv"], &["hook.mjs", "srv/index.js", "srv/package.json"]);
        check(&["python", "srv"], &["srv/__main__.py"]);
        check(&["uv", "--directory", "srv", "run", "main.py"], &["main.py", "srv/main.py"]);
        check(&["sh", "-c", "cd srv && exec ./a.sh;./b.sh"], &["a.sh", "srv/a.sh", "b.sh"]);
        check(&["sh", "-c", "PYTHONPATH=./x:./y python 'my.py'"], &["x", "y", "my.py"]);
        check(&["sh", "my server.sh"], &["my server.sh"]);
    }
}
