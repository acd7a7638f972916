//! Checks the MCP servers. Starts them only with `--try`.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde::Serialize;
use tools::{McpServers, ServerSettings, Transport};

use super::DoctorProblem;
use crate::failure::Result;
use crate::output::Output;
use crate::runtime::AllowedConnections;

#[derive(Debug, Serialize)]
pub(super) struct McpServerReport {
    name: String,
    /// True if it comes from the trusted project.
    of_project: bool,
    /// The program, or the address without secrets.
    reached: String,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Disabled,
    NotTried,
    Answers,
    DoesNotAnswer,
}

pub(super) async fn examine(
    allowed: &AllowedConnections,
    try_them: bool,
    problems: &mut Vec<DoctorProblem>,
) -> Vec<McpServerReport> {
    let examined = join_all(allowed.mcp_servers.iter().map(|(name, settings)| async move {
        let of_project = allowed.project_servers.contains(name);
        let reached = match &settings.transport {
            Transport::Stdio { command, .. } => command.clone(),
            Transport::Http { url, .. } => without_secrets(url),
        };
        let (state, tools, problems) = match (settings.enabled, try_them) {
            (false, _) => (State::Disabled, None, Vec::new()),
            (true, false) => (State::NotTried, None, Vec::new()),
            (true, true) => start(name, settings).await,
        };
        (McpServerReport { name: name.clone(), of_project, reached, state, tools }, problems)
    }))
    .await;
    let mut reports = Vec::new();
    for (report, its_problems) in examined {
        problems.extend(its_problems);
        reports.push(report);
    }
    reports
}

/// Starts a server, lists its tools and stops it.
async fn start(name: &str, settings: &ServerSettings) -> (State, Option<usize>, Vec<DoctorProblem>) {
    let servers = McpServers::new(BTreeMap::from([(name.to_owned(), settings.clone())]));
    let (tools, problems) = servers.list().await;
    servers.close().await;
    let state = if tools.is_empty() && !problems.is_empty() { State::DoesNotAnswer } else { State::Answers };
    let advice = format!("check [mcp_servers.{name}]; `masque -vv doctor --try` shows its messages");
    let problems = problems.iter().map(|problem| DoctorProblem::new(problem.to_string(), advice.clone()));
    (state, Some(tools.len()), problems.collect())
}

/// An address without user, password and query.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

pub(super) fn print(servers: &[McpServerReport], output: &mut Output) -> Result<()> {
    if servers.is_empty() {
        return output.field("MCP servers", "none; add [mcp_servers.NAME] to config.toml");
    }
    for McpServerReport { name, of_project, reached, state, tools } in servers {
        let from = if *of_project { ", from the project" } else { "" };
        let state = match (state, tools) {
            (State::Disabled, _) => "disabled".to_owned(),
            (State::NotTried, _) => "starts on demand; `masque doctor --try` checks it".to_owned(),
            (State::Answers, Some(1)) => "answers, 1 tool".to_owned(),
            (State::Answers, tools) => format!("answers, {} tools", tools.unwrap_or(0)),
            (State::DoesNotAnswer, _) => "does not answer".to_owned(),
        };
        output.field("MCP server", &format!("{name} ({reached}{from}): {state}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (url, shown) in [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://me:s3@a.example:1/mcp?key=s3#s3", "https://a.example:1/mcp"),
            ("http://a.example", "http://a.example"),
            ("http://me@b@a.example/x@y", "http://a.example/x@y"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
