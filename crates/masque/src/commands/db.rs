//! `masque db`: back up, copy, describe.

use std::path::Path;

use app::{CopyReport, DatabaseInfo};
use serde_json::json;

use crate::cli::{DbCommand, PruneArgs};
use crate::failure::{Failure, Result};
use crate::locations;
use crate::output::{Output, TransferProgress};
use crate::session::Session;

pub(super) async fn run(command: DbCommand, session: &Session, output: &mut Output) -> Result<()> {
    match command {
        DbCommand::Backup(args) => backup(&args.file, session, output).await,
        DbCommand::Copy(args) => copy(&args.to, session, output).await,
        DbCommand::Prune(args) => prune(&args, session, output).await,
        DbCommand::Info => info(session, output).await,
    }
}

async fn backup(file: &Path, session: &Session, output: &mut Output) -> Result<()> {
    let mut progress = TransferProgress::new(output);
    let mut follow = |at: app::Progress| progress.at(&at);
    session.library.backup(file, &mut follow).await?;
    drop(progress);
    let bytes = std::fs::metadata(file).map(|metadata| metadata.len()).ok();
    if output.is_json() {
        return output.json(&json!({ "file": file, "bytes": bytes }));
    }
    let size = bytes.map(|bytes| format!(" ({})", shown_bytes(bytes))).unwrap_or_default();
    output.line(format!("backed up to {}{size}", file.display()))
}

async fn copy(to: &str, session: &Session, output: &mut Output) -> Result<()> {
    let location =
        database::Location::parse(to).map_err(|error| Failure::invalid(format!("--to: {error}")))?;
    locations::make_parent(to)?;
    let mut progress = TransferProgress::new(output);
    let mut follow = |at: app::Progress| progress.at(&at);
    let CopyReport { tables, rows, left_behind } = session.library.copy_to(to, &mut follow).await?;
    drop(progress);
    if output.is_json() {
        let tables = tables.iter().map(|(table, rows)| json!({ "table": table, "rows": rows }));
        let tables = tables.collect::<Vec<_>>();
        return output.json(&json!({ "rows": rows, "tables": tables, "left_behind": left_behind }));
    }
    let tables = tables.len();
    output.line(format!(
        "copied {rows} rows of {tables} tables to {location}, and compared them: nothing differs"
    ))?;
    if left_behind > 0 {
        output.advise(&format!(
            "The history and the state of personas.toml files ({left_behind} rows) are this machine's, and stay here; \
             `masque db backup` has them."
        ))?;
    }
    Ok(())
}

async fn prune(args: &PruneArgs, session: &Session, output: &mut Output) -> Result<()> {
    let Some(keep) = args.keep.map(|keep| keep as usize).or(session.config.history_keep) else {
        return Err(Failure::invalid(
            "say how many revisions of each entity to keep: --keep N, or `[history] keep = N` in config.toml",
        ));
    };
    let gone = session.library.prune(keep).await?;
    if output.is_json() {
        return output.json(&json!({ "keep": keep, "forgotten": gone }));
    }
    let revisions = if gone == 1 { "revision" } else { "revisions" };
    output.line(format!("forgot {gone} {revisions}; the newest {keep} of everything and tagged ones stay"))
}

async fn info(session: &Session, output: &mut Output) -> Result<()> {
    let info = session.library.database_info().await?;
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
    output.field("schema", &format!("version {}", info.schema_version))?;
    if let Some(bytes) = info.bytes {
        output.field("size", &shown_bytes(bytes))?;
    }
    let counts = info
        .counts
        .iter()
        .map(|(kind, count)| (kind.spoken(), count))
        .map(|(kind, count)| if *count == 1 { format!("1 {kind}") } else { format!("{count} {kind}s") });
    output.field("holds", &format!("{}, besides the builtins", counts.collect::<Vec<_>>().join(", ")))
}

fn shown_bytes(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}
