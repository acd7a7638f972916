//! The user's editor.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use tokio::process::Command;

use crate::failure::{CommandError, Result};
use crate::locations::on_path;

/// The editor of every Unix, if no variable names one.
const FALLBACK: &str = "vi";

/// A program and its arguments, such as `code --wait`.
#[derive(Debug)]
pub(super) struct Editor {
    program: String,
    arguments: Vec<String>,
}

impl Editor {
    /// Reads VISUAL, then EDITOR. On a terminal, falls back to `vi`.
    pub(super) fn find() -> Result<Self> {
        let named =
            ["VISUAL", "EDITOR"].into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
        match named.into_iter().find(|(_, value)| !value.trim().is_empty()) {
            Some((name, value)) => Self::parse(name, &value),
            None if io::stdin().is_terminal()
                && io::stdout().is_terminal()
                && on_path(FALLBACK).is_some() =>
            {
                Ok(Self { program: FALLBACK.to_owned(), arguments: Vec::new() })
            }
            None => Err(CommandError::NoEditor.into()),
        }
    }

    fn parse(variable: &str, value: &str) -> Result<Self> {
        let invalid =
            || CommandError::InvalidEditor { variable: variable.to_owned(), value: value.to_owned() };
        let words = shlex::split(value).ok_or_else(invalid)?;
        match words.split_first() {
            Some((program, arguments)) => {
                Ok(Self { program: program.clone(), arguments: arguments.to_vec() })
            }
            None => Err(invalid().into()),
        }
    }

    /// Opens a file and waits until the editor is closed.
    pub(super) async fn open(&self, path: &Path) -> Result<()> {
        let Self { program, arguments } = self;
        let mut command = Command::new(program);
        let mut child = command
            .args(arguments)
            .arg(path)
            .spawn()
            .map_err(|source| CommandError::EditorNotStarted { program: program.clone(), source })?;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status,
                // Ctrl-C belongs to the editor while it is open.
                _ = tokio::signal::ctrl_c() => {}
            }
        };
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                Err(CommandError::EditorFailed { program: program.clone(), how: status.to_string() }.into())
            }
            Err(error) => {
                Err(CommandError::EditorFailed { program: program.clone(), how: error.to_string() }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Editor;

    #[test]
    fn an_editor_is_a_command_line() {
        let editor = Editor::parse("EDITOR", "'/opt/my editor/run' --wait -n").expect("it is one");
        assert_eq!(editor.program, "/opt/my editor/run");
        assert_eq!(editor.arguments, ["--wait", "-n"]);
        assert!(Editor::parse("EDITOR", "vi 'x").is_err());
        assert!(Editor::parse("EDITOR", "# nothing").is_err());
    }
}
