//! `masque init`: writes a first personas.toml.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::json;

use crate::cli::InitArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Style, Warning, WarningCode};
use crate::project::Project;

const TEMPLATE: &str = include_str!("init/personas.toml");
/// The persona of the template.
const PERSONA: &str = "reviewer";

pub(super) fn run(args: &InitArgs, project: Option<&Path>, output: &mut Output) -> Result<()> {
    let directory = args.directory.as_deref().or(project).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        let path = directory.display().to_string();
        return Err(CommandError::NoDirectory { path, exists: directory.exists() }.into());
    }
    let file = directory.join(app::project::FILE_NAME);
    let shown = file.display().to_string();
    match OpenOptions::new().write(true).create_new(true).open(&file) {
        Ok(mut created) => {
            created.write_all(TEMPLATE.as_bytes()).map_err(|error| Failure::file("write", &file, &error))?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(CommandError::HasPersonas { file: shown }.into());
        }
        Err(error) => return Err(Failure::file("create", &file, &error)),
    }
    let home = Directories::find().ok().map(|directories| directories.home);
    let passed_over = Project::passed_over_at(directory, home.as_deref());
    let passed_over = passed_over.map(|text| Warning::new(WarningCode::ForeignProject, text));
    output.warn(passed_over.as_slice())?;
    if output.is_json() {
        return output.json(&json!({ "file": file, "personas": [PERSONA] }));
    }
    let name = output.styled(Style::Name, &shown);
    output.styled_line(&format!("wrote {name} with the persona {PERSONA}"))?;
    let elsewhere = match args.directory.as_deref().filter(|directory| *directory != Path::new(".")) {
        Some(directory) => format!("cd {}\n  ", directory.display()),
        None => String::new(),
    };
    output.line(format!(
        "\nNext:\n  {elsewhere}masque show {PERSONA} --explain     see what it inherits\n  masque edit {PERSONA}               \
         make it yours, or edit the file\n  masque chat {PERSONA}               talk to it\n  masque connect claude-code         \
         use it in your agent\n\nCommit the file, so that your team has the same personas."
    ))
}
