//! `masque trust`: what the files of a project may do.

use std::path::PathBuf;

use app::Code;
use serde_json::json;
use tools::Transport;

use crate::ask;
use crate::cli::TrustArgs;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Style};
use crate::project::{Connections, Project};
use crate::session::Wanted;
use crate::trust::{Trust, canonical};

const MEANING: [&str; 3] = [
    "the programs that it names as MCP servers are started, with your rights;",
    "models are called at the addresses that it names, with keys from the variables that it names;",
    "the tools that its presets approve run without asking you.",
];

pub(super) async fn run(args: TrustArgs, wanted: Wanted<'_>, output: &mut Output) -> Result<()> {
    let directories = Directories::find()?;
    let TrustArgs { directory, list, revoke, yes } = args;
    if list {
        return print_list(&Trust::read(&directories)?, output);
    }
    let root = match directory {
        Some(directory) => directory,
        None => project_root(wanted, &directories)?,
    };
    if revoke {
        let changed = Trust::revoke(&directories, &root)?;
        let directory = canonical(&root).unwrap_or_else(|_| root.display().to_string());
        return answer(&directory, false, changed, output);
    }
    let directory = canonical(&root)?;
    if !Trust::read(&directories)?.holds(&root) && !yes {
        consent(&directory, output).await?;
    }
    let changed = Trust::add(&directories, &root)?;
    answer(&directory, true, changed, output)
}

fn project_root(wanted: Wanted<'_>, directories: &Directories) -> Result<PathBuf> {
    let project = Project::find(wanted.project, Some(&directories.home))?;
    project.map(|project| project.root).ok_or_else(|| {
        Failure::told(Code::FileNotFound, "the working directory is gone; name the project's directory")
    })
}

async fn consent(directory: &str, output: &mut Output) -> Result<()> {
    if !ask::can_ask(output) {
        return Err(Failure::told(
            Code::NeedsConsent,
            format!(
                "{directory} is not trusted: that takes your word; repeat with --yes if you know its files"
            ),
        ));
    }
    output
        .line(format!("If you trust {directory}, then what its personas.toml says, now or later, counts:"))?;
    for meaning in MEANING {
        output.paragraph(2, meaning)?;
    }
    let named = Connections::read(&PathBuf::from(directory).join(app::project::FILE_NAME));
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
        let address = settings.base_url.as_deref().unwrap_or("its usual address");
        let key = match &settings.api_key_env {
            Some(variable) => format!(", with the key in {variable}"),
            None => String::new(),
        };
        output.field("provider", &format!("{name} is at {address}{key}"))?;
    }
    named.warnings.iter().try_for_each(|warning| output.field("not read", warning))?;
    output.blank()?;
    if ask::confirm("Trust it?", output).await? {
        return Ok(());
    }
    Err(Failure::told(Code::NeedsConsent, "not trusted; nothing was changed"))
}

fn answer(directory: &str, trusted: bool, changed: bool, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "directory": directory, "trusted": trusted, "changed": changed }));
    }
    let shown = output.styled(Style::Name, directory);
    output.styled_line(&match (trusted, changed) {
        (true, true) => format!("{shown} is trusted now; `masque trust --revoke` takes that back."),
        (true, false) => format!("{shown} is trusted already."),
        (false, true) => format!("{shown} is trusted no more."),
        (false, false) => format!("{shown} was not trusted."),
    })
}

fn print_list(trust: &Trust, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "projects": trust.projects }));
    }
    if trust.projects.is_empty() {
        return output.line("No project is trusted; `masque trust DIR` trusts one.");
    }
    for project in &trust.projects {
        output.line(format!("{}  {}", project.since.format("%Y-%m-%d"), project.directory))?;
    }
    Ok(())
}
