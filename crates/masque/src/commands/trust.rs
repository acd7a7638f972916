//! `masque trust`: lets the files of a project start servers, add providers and approve tools.

use std::path::PathBuf;

use serde_json::json;
use tools::Transport;

use crate::ask;
use crate::cli::TrustArgs;
use crate::failure::{CommandError, Result};
use crate::locations::Directories;
use crate::output::{Output, Style};
use crate::project::{Connections, Project, read_text};
use crate::trust::{TrustList, TrustState, canonical};
use crate::workspace::WorkspaceOptions;

const MEANING: [&str; 3] = [
    "- starts the programs below as MCP servers, with your permissions;",
    "- calls models at the addresses below, with keys from the variables below;",
    "- runs the tools that its presets approve, without asking you.",
];

pub(super) async fn run(args: TrustArgs, options: WorkspaceOptions<'_>, output: &mut Output) -> Result<()> {
    let directories = Directories::find()?;
    let TrustArgs { directory, list, revoke, yes } = args;
    if list {
        return print_list(&TrustList::read(&directories)?, output);
    }
    let root = match directory {
        Some(directory) => directory,
        None => project_root(options, &directories)?,
    };
    if revoke {
        let changed = TrustList::revoke(&directories, &root)?;
        let directory = canonical(&root).unwrap_or_else(|_| root.display().to_string());
        return print_result(&directory, false, changed, output);
    }
    let directory = canonical(&root)?;
    // The text that the user sees is the one that is trusted.
    let text = read_text(&root.join(app::project::FILE_NAME));
    let state = TrustList::read(&directories)?.state(&root, &text);
    if state != TrustState::Trusted && !yes {
        consent(&directory, &text, state, output).await?;
    }
    let changed = TrustList::add(&directories, &root, &text)?;
    print_result(&directory, true, changed, output)
}

fn project_root(options: WorkspaceOptions<'_>, directories: &Directories) -> Result<PathBuf> {
    let project = Project::find(options.project, Some(&directories.home))?;
    Ok(project.map(|project| project.root).ok_or(CommandError::NoWorkingDirectory)?)
}

async fn consent(directory: &str, text: &str, state: TrustState, output: &mut Output) -> Result<()> {
    if !ask::can_ask(output) {
        return Err(CommandError::NeedsConsent { action: format!("trusting {directory}") }.into());
    }
    if state == TrustState::Changed {
        output.line(format!("{directory} changed since you trusted it."))?;
    }
    output.line(format!("If you trust {directory}, its personas.toml"))?;
    for meaning in MEANING {
        output.paragraph(2, meaning)?;
    }
    let named = Connections::parse(&PathBuf::from(directory).join(app::project::FILE_NAME), text);
    for (name, server) in &named.mcp_servers {
        let shown = match &server.transport {
            Transport::Stdio { command, args, .. } => {
                let words = [command.as_str()].into_iter().chain(args.iter().map(String::as_str));
                format!("starts: {}", words.collect::<Vec<_>>().join(" "))
            }
            Transport::Http { url, .. } => format!("is at {url}"),
        };
        output.field("MCP server", &format!("{name} {shown}"))?;
    }
    for (name, settings) in &named.providers {
        let address = settings.base_url.as_deref().unwrap_or("its default address");
        let key = match &settings.api_key_env {
            Some(variable) => format!(", with the key in {variable}"),
            None => String::new(),
        };
        output.field("provider", &format!("{name} is at {address}{key}"))?;
    }
    named.warnings.iter().try_for_each(|warning| output.field("invalid", warning))?;
    output.line("If these change, masque asks again.")?;
    output.blank()?;
    if ask::confirm("Trust it?", output).await? {
        return Ok(());
    }
    Err(CommandError::Declined.into())
}

fn print_result(directory: &str, trusted: bool, changed: bool, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "directory": directory, "trusted": trusted, "changed": changed }));
    }
    let shown = output.styled(Style::Name, directory);
    output.styled_line(&match (trusted, changed) {
        (true, true) => format!("{shown} is now trusted; `masque trust --revoke` undoes this."),
        (true, false) => format!("{shown} is already trusted."),
        (false, true) => format!("{shown} is no longer trusted."),
        (false, false) => format!("{shown} was not trusted."),
    })
}

fn print_list(trust: &TrustList, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "projects": trust.projects }));
    }
    if trust.projects.is_empty() {
        return output.line("No trusted projects. `masque trust DIR` adds one.");
    }
    for project in &trust.projects {
        output.line(format!("{}  {}", project.since.format("%Y-%m-%d"), project.directory))?;
    }
    Ok(())
}
