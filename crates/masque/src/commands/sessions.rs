//! `masque sessions`: lists and manages sessions.

use agent::{Session, SessionStatus};
use app::running::{ListSessions, Runtime, SessionList, SessionView};
use chrono::{DateTime, Local, Utc};
use serde_json::json;
use uuid::Uuid;

use super::answer::{label, pending};
use super::{chat, open_session};
use crate::ask;
use crate::cli::{
    ChatArgs, DeleteSessionArgs, ExportFormat, ExportSessionArgs, ListSessionsArgs, SessionOptions,
    SessionsArgs, SessionsCommand,
};
use crate::failure::Result;
use crate::output::{Column, Output, Table, one_line};
use crate::runtime;
use crate::workspace::Workspace;

mod decide;
pub(super) mod transcript;

/// The default number of listed sessions.
const LISTED: usize = 50;
/// Sessions per read.
const PAGE: usize = 200;

const COLUMNS: [Column; 5] = [
    Column::Fixed("ID"),
    Column::Fixed("PERSONA"),
    Column::Optional("LAST USED"),
    Column::Stretched("FIRST MESSAGE"),
    Column::Optional("STATE"),
];

pub(super) async fn run(
    args: SessionsArgs,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    let command = match args.command.unwrap_or(SessionsCommand::List(args.list)) {
        SessionsCommand::Resume(resumed) => {
            let options = SessionOptions::of_session(resumed.id);
            let args = ChatArgs::with_options(options);
            return chat::run(args, workspace, verbose, output).await;
        }
        SessionsCommand::Approve(args) => return decide::approve(args, workspace, verbose, output).await,
        command => command,
    };
    let runtime = runtime::open(workspace).await?;
    match command {
        SessionsCommand::List(args) => list(args, &runtime, output).await,
        SessionsCommand::Show(shown) => show(&shown.id, &runtime, output).await,
        SessionsCommand::Export(args) => export(&args, &runtime, output).await,
        SessionsCommand::Delete(args) => delete(&args, &runtime, output).await,
        SessionsCommand::Cancel(cancelled) => decide::cancel(&cancelled.id, &runtime, output).await,
        SessionsCommand::Resume(_) | SessionsCommand::Approve(_) => Ok(()),
    }
}

async fn list(args: ListSessionsArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let ListSessionsArgs { persona, limit, all } = args;
    let mut remaining = if all { usize::MAX } else { limit.map_or(LISTED, |limit| limit as usize) };
    let mut listed = SessionList { items: Vec::new(), next_cursor: None };
    loop {
        let input = ListSessions {
            persona: persona.clone(),
            limit: Some(remaining.min(PAGE)),
            cursor: listed.next_cursor.take(),
        };
        let page = runtime.sessions(input).await?;
        remaining = remaining.saturating_sub(page.items.len());
        listed.items.extend(page.items);
        listed.next_cursor = page.next_cursor;
        if remaining == 0 || listed.next_cursor.is_none() {
            break;
        }
    }
    if output.is_json() {
        return output.json(&listed);
    }
    if listed.items.is_empty() {
        let name = persona.map_or_else(|| "mentor".to_owned(), |persona| persona.to_string());
        return output.advise(&format!("No sessions yet; start one with `masque chat {name}`."));
    }
    let shown = runtime.unique_end(open_session::SHORT_ID).await?;
    let rows: Vec<Vec<String>> = listed.items.iter().map(|session| cells(session, shown)).collect();
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|row| table.row(output, row))?;
    if listed.next_cursor.is_some() {
        output.advise("More sessions exist; use --all or a higher --limit.")?;
    }
    Ok(())
}

fn cells(session: &Session, shown: usize) -> Vec<String> {
    let state = match session.status {
        SessionStatus::Idle => "",
        SessionStatus::Running => "answering",
        SessionStatus::Waiting => "waiting for approval",
    };
    vec![
        open_session::short(session.id, shown),
        session.persona.to_string(),
        local(session.updated_at),
        one_line(session.title.as_deref().unwrap_or_default()),
        state.to_owned(),
    ]
}

fn local(time: DateTime<Utc>) -> String {
    time.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}

async fn show(id: &str, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let view = runtime.session(open_session::find(runtime, id).await?).await?;
    if output.is_json() {
        return output.json(&view);
    }
    let SessionView { session, turns, .. } = &view;
    output.field("session", &session.id.to_string())?;
    let scope = session.scope.map(|scope| format!(" ({scope})")).unwrap_or_default();
    output.field("persona", &format!("{}{scope}", session.persona))?;
    output.field("mode", session.mode.as_str())?;
    if let Some(model) = session.model.as_ref().or(session.answered_by.as_ref()) {
        output.field("model", &model.to_string())?;
    }
    if let Some(root) = &session.root {
        output.field("directory", root)?;
    }
    output.field("started", &local(session.created_at))?;
    output.field("last used", &local(session.updated_at))?;
    let usage = session.usage;
    output.field("tokens", &format!("{} in, {} out", usage.input_tokens, usage.output_tokens))?;
    for request in pending(&view) {
        let (call, id) = (label(&request.call), &request.call.id);
        output.field("needs approval", &format!("{call} ({id})"))?;
    }
    if let Some(plan) = &session.plan {
        let status = serde_json::to_value(plan.status)
            .ok()
            .and_then(|status| status.as_str().map(|status| status.replace('_', " ")))
            .unwrap_or_default();
        output.field("plan", &format!("{status}; `masque plan {}` prints it", session.id))?;
    }
    transcript::print(turns, output)
}

async fn export(args: &ExportSessionArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let view = runtime.session(open_session::find(runtime, &args.id).await?).await?;
    let implied = if output.is_json() { ExportFormat::Json } else { ExportFormat::Markdown };
    match args.format.unwrap_or(implied) {
        ExportFormat::Json => output.json(&view),
        ExportFormat::Markdown => output.exact(&transcript::markdown(&view)),
    }
}

async fn delete(args: &DeleteSessionArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let id = args.id.as_str();
    let found = open_session::matching(runtime, id).await?;
    let deleted = match found.as_slice() {
        [] => None,
        [one] if !args.yes && ask::can_ask(output) && !confirm_deletion(*one, runtime, output).await? => {
            return output.line("nothing was deleted");
        }
        [one] => runtime.delete_session(*one).await?.then_some(*one),
        several => return Err(open_session::ambiguous(id, several)),
    };
    if output.is_json() {
        let id = deleted.map_or_else(|| id.to_owned(), |id| id.to_string());
        return output.json(&json!({ "id": id, "deleted": deleted.is_some() }));
    }
    match deleted {
        Some(id) => output.line(format!("deleted session {id}")),
        None => output.line(format!("nothing to delete: no session {id}")),
    }
}

/// Says what the session is, and asks.
async fn confirm_deletion(id: Uuid, runtime: &Runtime, output: &mut Output) -> Result<bool> {
    let session = runtime.session(id).await?.session;
    let title = session.title.as_deref().map(|title| format!(": {}", one_line(title))).unwrap_or_default();
    output.line(format!("{} with {}{title}", local(session.updated_at), session.persona))?;
    ask::confirm(&format!("Delete session {id}? Nothing brings it back."), output).await
}
