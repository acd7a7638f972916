//! The user's editor.

use std::path::Path;

use tokio::process::Command;

use crate::failure::{Failure, Result};

/// A program and its arguments, such as `code --wait`.
#[derive(Debug)]
pub(super) struct Editor {
    program: String,
    arguments: Vec<String>,
}

impl Editor {
    /// Reads VISUAL, then EDITOR.
    pub(super) fn find() -> Result<Self> {
        let named =
            ["VISUAL", "EDITOR"].into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
        match named.into_iter().find(|(_, value)| !value.trim().is_empty()) {
            Some((name, value)) => Self::parse(name, &value),
            None => Err(Failure::invalid(
                "no editor is set; set EDITOR, for example EDITOR=nano or EDITOR=\"code --wait\"",
            )),
        }
    }

    fn parse(variable: &str, value: &str) -> Result<Self> {
        let words = shlex::split(value)
            .ok_or_else(|| Failure::invalid(format!("unclosed quote in {variable}: {value}")))?;
        match words.split_first() {
            Some((program, arguments)) => {
                Ok(Self { program: program.clone(), arguments: arguments.to_vec() })
            }
            None => Err(Failure::invalid(format!("no program in {variable}: {value}"))),
        }
    }

    /// Opens a file and waits until the editor is closed.
    pub(super) async fn open(&self, path: &Path) -> Result<()> {
        let Self { program, arguments } = self;
        let mut command = Command::new(program);
        let mut child = command.args(arguments).arg(path).spawn().map_err(|error| {
            Failure::invalid(format!(
                "cannot start the editor {program} ({error}); set EDITOR to another one"
            ))
        })?;
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
                Err(Failure::broken(format!("the editor {program} failed ({status}); nothing was saved")))
            }
            Err(error) => Err(Failure::broken(format!("lost the editor {program}: {error}"))),
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
