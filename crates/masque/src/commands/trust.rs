//! `masque trust`: lets the files of a project start servers, add providers and approve tools.

use std::path::{Path, PathBuf};

use app::inputs::ByName;
use persona::{Name, Scope, ToolPreset};
use serde_json::json;
use tools::Transport;

use crate::ask;
use crate::cli::TrustArgs;
use crate::failure::{CommandError, Result};
use crate::locations::Directories;
use crate::output::{Output, Style};
use crate::project::{Connections, Project, read_text};
use crate::trust::{Approvals, News, TrustList, TrustState, canonical};
use crate::workspace::{Workspace, WorkspaceOptions};

const MEANING: [&str; 3] = [
    "- starts the programs below as MCP servers, with your permissions;",
    "- calls models at the addresses below, with keys from the variables below;",
    "- runs the tools that the presets below approve, without asking you.",
];

pub(super) async fn run(args: TrustArgs, options: WorkspaceOptions<'_>, output: &mut Output) -> Result<()> {
    let directories = Directories::find()?;
    let TrustArgs { directory, list, preset, revoke, yes } = args;
    if list {
        return print_list(&TrustList::read(&directories)?, output);
    }
    if let Some(name) = preset {
        let changed = match revoke {
            true => TrustList::unconfirm(&directories, name.as_str())?,
            false => confirm_preset(&name, yes, &directories, options, output).await?,
        };
        let shown = Subject {
            field: "preset",
            name: name.as_str(),
            shown: format!("the preset {name}"),
            undo: format!("--preset {name}"),
        };
        return print_result(&shown, !revoke, changed, output);
    }
    let root = match directory {
        Some(directory) => directory,
        None => project_root(options, &directories)?,
    };
    if revoke {
        let changed = TrustList::revoke(&directories, &root)?;
        let directory = canonical(&root).unwrap_or_else(|_| root.display().to_string());
        return print_result(&Subject::directory(&directory), false, changed, output);
    }
    let directory = canonical(&root)?;
    // The text that the user sees is the one that is trusted.
    let text = read_text(&root.join(app::project::FILE_NAME));
    let list = TrustList::read(&directories)?;
    if list.state(&root, &text) != TrustState::Trusted && !yes {
        consent(&directory, &text, &list, output).await?;
    }
    let changed = TrustList::add(&directories, &root, &text)?;
    print_result(&Subject::directory(&directory), true, changed, output)
}

/// Confirms the approvals of a shared preset, after the user saw them.
async fn confirm_preset(
    name: &Name,
    yes: bool,
    directories: &Directories,
    options: WorkspaceOptions<'_>,
    output: &mut Output,
) -> Result<bool> {
    let workspace = Workspace::open(options).await?;
    let input = ByName { name: name.clone(), scope: Some(Scope::Shared) };
    let preset = workspace.library.get::<ToolPreset>(&input).await?.entity;
    let list = TrustList::read(directories)?;
    if list.confirms(&agent::preset_hash(&preset)) || yes {
        return TrustList::confirm(directories, &preset);
    }
    if !ask::can_ask(output) {
        return Err(CommandError::NeedsConsent { action: format!("confirming the preset {name}") }.into());
    }
    if let Some(before) = list.presets.iter().find(|confirmed| confirmed.name == name.as_str()) {
        output.line(format!(
            "The preset {name} changed since you confirmed it. It ran these without asking:"
        ))?;
        before.tools.iter().try_for_each(|tool| output.paragraph(2, &format!("- {tool}")))?;
    }
    output.line(format!(
        "If you confirm the preset {name}, every persona that uses it runs these tools without asking:"
    ))?;
    for tool in preset.auto_tools() {
        output.paragraph(2, &format!("- {tool}"))?;
    }
    output.line("If the preset changes, masque asks again.")?;
    output.blank()?;
    match ask::confirm("Confirm it?", output).await? {
        true => TrustList::confirm(directories, &preset),
        false => Err(CommandError::Declined.into()),
    }
}

fn project_root(options: WorkspaceOptions<'_>, directories: &Directories) -> Result<PathBuf> {
    let project = Project::find(options.project, Some(&directories.home))?;
    let error = || match std::env::current_dir() {
        Ok(directory) => CommandError::ForeignDirectory { path: directory.display().to_string() },
        Err(_) => CommandError::NoWorkingDirectory,
    };
    Ok(project.map(|project| project.root).ok_or_else(error)?)
}

async fn consent(directory: &str, text: &str, list: &TrustList, output: &mut Output) -> Result<()> {
    if !ask::can_ask(output) {
        return Err(CommandError::NeedsConsent { action: format!("trusting {directory}") }.into());
    }
    if list.state(Path::new(directory), text) == TrustState::Changed {
        output.line(format!("{directory} changed since you trusted it."))?;
        for News { field, before, now } in list.news(Path::new(directory), text) {
            match (before, now) {
                (None, Some(now)) => output.field("new", &format!("{field} = {now}"))?,
                (Some(before), None) => output.field("gone", &format!("{field} = {before}"))?,
                (before, now) => {
                    output.field("changed", &field)?;
                    output.field("  was", &before.unwrap_or_default())?;
                    output.field("  is", &now.unwrap_or_default())?;
                }
            }
        }
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
    let approvals = Approvals::read(text);
    for (name, tools) in &approvals.presets {
        output.field("tool preset", &format!("{name} runs without asking: {}", tools.join(", ")))?;
    }
    for (name, presets) in &approvals.borrowed {
        let presets = presets.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
        output.field("persona", &format!("{name} uses {presets}, which this file does not define"))?;
    }
    named.warnings.iter().try_for_each(|warning| output.field("invalid", warning))?;
    output.line("If these change, masque asks again.")?;
    output.blank()?;
    if ask::confirm("Trust it?", output).await? {
        return Ok(());
    }
    Err(CommandError::Declined.into())
}

/// The directory or the preset that the user decided about.
struct Subject<'a> {
    /// Its field in JSON.
    field: &'a str,
    name: &'a str,
    shown: String,
    /// The arguments of `masque trust --revoke` that undo the trust.
    undo: String,
}

impl<'a> Subject<'a> {
    fn directory(directory: &'a str) -> Self {
        Self { field: "directory", name: directory, shown: directory.to_owned(), undo: directory.to_owned() }
    }
}

fn print_result(subject: &Subject<'_>, trusted: bool, changed: bool, output: &mut Output) -> Result<()> {
    if output.is_json() {
        let Subject { field, name, .. } = subject;
        return output.json(&json!({ *field: name, "trusted": trusted, "changed": changed }));
    }
    let shown = output.styled(Style::Name, &subject.shown);
    output.styled_line(&match (trusted, changed) {
        (true, true) => {
            let undo = output.styled(Style::Plain, &subject.undo);
            format!("{shown} is now trusted; `masque trust --revoke {undo}` undoes this.")
        }
        (true, false) => format!("{shown} is already trusted."),
        (false, true) => format!("{shown} is no longer trusted."),
        (false, false) => format!("{shown} was not trusted."),
    })
}

fn print_list(trust: &TrustList, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "projects": trust.projects, "presets": trust.presets }));
    }
    if trust.projects.is_empty() && trust.presets.is_empty() {
        return output.line("No trusted projects. `masque trust DIR` adds one.");
    }
    for project in &trust.projects {
        output.line(format!("{}  {}", project.since.format("%Y-%m-%d"), project.directory))?;
    }
    for preset in &trust.presets {
        output.line(format!("{}  preset {}", preset.since.format("%Y-%m-%d"), preset.name))?;
    }
    Ok(())
}
