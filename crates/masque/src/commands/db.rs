//! `masque db`: backup, copy, prune, info.

use std::path::Path;

use app::{AsReport as _, CopiedSessions, CopyReport, DatabaseInfo, Subject};
use indicatif::HumanCount;
use serde_json::json;

use crate::cli::{CopyArgs, DbCommand, PruneArgs};
use crate::failure::{CommandError, Result};
use crate::locations;
use crate::output::{Output, TransferProgress};
use crate::workspace::Workspace;

pub(super) async fn run(command: DbCommand, workspace: &Workspace, output: &mut Output) -> Result<()> {
    match command {
        DbCommand::Backup(args) => backup(&args.file, workspace, output).await,
        DbCommand::Copy(args) => copy(&args, workspace, output).await,
        DbCommand::Prune(args) => prune(&args, workspace, output).await,
        DbCommand::Info => info(workspace, output).await,
    }
}

async fn backup(file: &Path, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let mut progress = TransferProgress::new(output);
    let mut follow = |at: app::Progress| progress.at(&at);
    workspace.library.backup(file, &mut follow).await?;
    drop(progress);
    let bytes = std::fs::metadata(file).map(|metadata| metadata.len()).ok();
    if output.is_json() {
        return output.json(&json!({ "file": file, "bytes": bytes }));
    }
    let size = bytes.map(|bytes| format!(" ({})", shown_bytes(bytes))).unwrap_or_default();
    output.line(format!("backed up to {}{size}", file.display()))
}

async fn copy(args: &CopyArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let to = args.to.as_str();
    let sessions = if args.with_sessions { CopiedSessions::All } else { CopiedSessions::None };
    let location =
        database::Location::parse(to).map_err(|error| error.report().about(Subject::field("--to")))?;
    locations::make_parent(to)?;
    let mut progress = TransferProgress::new(output);
    let mut follow = |at: app::Progress| progress.at(&at);
    let report = workspace.library.copy_to(to, sessions, &mut follow).await?;
    let CopyReport { tables, rows, left_behind, left_sessions } = report;
    drop(progress);
    if output.is_json() {
        let tables = tables.iter().map(|(table, rows)| json!({ "table": table, "rows": rows }));
        let tables = tables.collect::<Vec<_>>();
        return output.json(&json!({
            "rows": rows, "tables": tables, "left_behind": left_behind, "left_sessions": left_sessions,
        }));
    }
    let tables = tables.len();
    output.line(format!(
        "copied {} rows in {tables} tables to {location}, and verified them",
        HumanCount(rows)
    ))?;
    if left_sessions > 0 {
        output.advise(&format!(
            "Sessions ({} rows) were not copied; --with-sessions copies them too.",
            HumanCount(left_sessions)
        ))?;
    }
    if left_behind > 0 {
        output.advise(&format!(
            "The history and state of personas.toml files ({} rows) belong to this machine and were not \
             copied; `masque db backup` includes them.",
            HumanCount(left_behind)
        ))?;
    }
    Ok(())
}

async fn prune(args: &PruneArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let Some(keep) = args.keep.map(|keep| keep as usize).or(workspace.config.history_keep) else {
        let example = "--keep N, or `[history] keep = N` in config.toml".to_owned();
        return Err(CommandError::MissingArgument { argument: "--keep", example }.into());
    };
    let gone = workspace.library.prune(keep).await?;
    if output.is_json() {
        return output.json(&json!({ "keep": keep, "forgotten": gone }));
    }
    let revisions = if gone == 1 { "revision" } else { "revisions" };
    output.line(format!("deleted {gone} {revisions}; kept the newest {keep} of each entity and tagged ones"))
}

async fn info(workspace: &Workspace, output: &mut Output) -> Result<()> {
    let mut info = workspace.library.database_info().await?;
    if let Some(directory) = workspace.unwritable_directory() {
        info.location = format!("none ({} cannot be written)", directory.display());
    }
    if output.is_json() {
        return output.json(&info_json(&info));
    }
    print_info(&info, output)
}

pub(super) fn info_json(info: &DatabaseInfo) -> serde_json::Value {
    let counts = info.counts.iter().map(|(kind, count)| (kind.to_string(), json!(count)));
    json!({
        "engine": info.engine,
        "location": info.location,
        "schema_version": info.schema_version,
        "schema": info.schema,
        "bytes": info.bytes,
        "counts": counts.collect::<serde_json::Map<_, _>>(),
        "journal_mode": info.journal_mode,
        "server_version": info.server_version,
    })
}

pub(super) fn print_info(info: &DatabaseInfo, output: &mut Output) -> Result<()> {
    let version = info.server_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let mode = info.journal_mode.as_ref().map(|mode| format!(", journal mode {mode}")).unwrap_or_default();
    output.field("database", &info.location)?;
    output.field("engine", &format!("{}{version}{mode}", info.engine))?;
    let schema = info.schema.as_ref().map(|schema| format!("{schema}, ")).unwrap_or_default();
    output.field("schema", &format!("{schema}version {}", info.schema_version))?;
    if let Some(bytes) = info.bytes {
        output.field("size", &shown_bytes(bytes))?;
    }
    let counts = info
        .counts
        .iter()
        .map(|(kind, count)| (kind.spoken(), count))
        .map(|(kind, count)| if *count == 1 { format!("1 {kind}") } else { format!("{count} {kind}s") });
    output.field("contents", &format!("{} (without builtins)", counts.collect::<Vec<_>>().join(", ")))
}

fn shown_bytes(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}
