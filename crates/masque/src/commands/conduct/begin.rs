//! Starts tracks: from a file, from a draft, or where one was left.

use std::path::{Path, PathBuf};

use app::inputs::{DraftTrack, StartTrack, WrittenTrack};
use app::outputs::DraftedTrack;
use app::{Author, Code, Report, Runtime, Subject};
use conductor::{Phase, Track};
use serde::Serialize;
use uuid::Uuid;

use super::find::{self, Handle};
use super::work::{self, Work};
use super::{plan, words};
use crate::cli::ConductArgs;
use crate::definition::read_text;
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::runtime;
use crate::signals::Signals;
use crate::workspace::Workspace;

/// The track of a project.
const FILE_NAME: &str = "track.toml";

/// The JSON output of a draft: the file, or the track itself.
#[derive(Serialize)]
struct DraftOutput<'a> {
    session: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a Path>,
    track: &'a Track,
    toml: &'a str,
}

/// Creates the track of the arguments and works it, or goes on with one.
pub(super) async fn run(
    args: ConductArgs,
    runtime: &Runtime,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    if let Some(id) = &args.resume {
        return resume(id, args.report.as_deref(), runtime, workspace, verbose, output).await;
    }
    let track = match &args.draft {
        Some(epic) => {
            let drafted = draft(epic, runtime, output).await?;
            print_draft(&drafted, &args, output)?;
            if !args.yes {
                return Ok(());
            }
            WrittenTrack { track: Some(drafted.track), toml: None }
        }
        None => {
            let file = file(&args, workspace);
            let toml = read(&file)?;
            let track = WrittenTrack { track: None, toml: Some(toml) };
            if args.dry_run {
                let planned =
                    runtime.plan_track(track).await.map_err(|error| in_file(&file, error.into()))?;
                return plan::print(&planned, output);
            }
            return create(track, &args, Some(&file), runtime, workspace, verbose, output).await;
        }
    };
    create(track, &args, None, runtime, workspace, verbose, output).await
}

async fn create(
    track: WrittenTrack,
    args: &ConductArgs,
    file: Option<&Path>,
    runtime: &Runtime,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    runtime::warn_of_wide_root(workspace);
    let created = runtime.create_track(track).await;
    let created = created.map_err(|error| match file {
        Some(file) => in_file(file, error.into()),
        None => error.into(),
    })?;
    let base = created.base.as_ref().filter(|_| args.isolation() != Some(false));
    if let Some(left_out) = base.and_then(plan::left_out) {
        output.advise(&format!("{left_out}."))?;
    }
    let input = StartTrack {
        id: created.id,
        isolate: args.isolation(),
        concurrency: args.concurrency.map(usize::from),
        yes: args.yes,
        drafted: false,
    };
    if let Err(error) = runtime.start_track(&workspace.author, input).await {
        // Nothing was worked, so nothing is lost.
        let id = created.id;
        let reason = "it could not be started".to_owned();
        let _ = runtime.cancel_track(&workspace.author, app::inputs::CancelTrack { id, reason }).await;
        return Err(error.into());
    }
    let track = find::handle(runtime, created.id).await?;
    let work = Work { track, after: 0, report: args.report.as_deref(), verbose };
    work::run(&work, runtime, &workspace.author, output).await
}

/// Goes on with a track.
pub(super) async fn resume(
    id: &str,
    report: Option<&Path>,
    runtime: &Runtime,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    runtime::warn_of_wide_root(workspace);
    let track = find::named_or_open(runtime, id).await?;
    let after = go_on(&track, runtime, &workspace.author, output).await?;
    let work = Work { track, after, report, verbose };
    work::run(&work, runtime, &workspace.author, output).await
}

/// Works a track in this process. Returns the number of the last event before.
async fn go_on(track: &Handle, runtime: &Runtime, author: &Author, output: &mut Output) -> Result<u64> {
    let by_id = app::inputs::ByTrack { id: track.id };
    let before = runtime.get_track(by_id).await?;
    match before.phase {
        Phase::New => {
            let input =
                StartTrack { id: track.id, isolate: None, concurrency: None, yes: false, drafted: false };
            runtime.start_track(author, input).await?;
        }
        Phase::Finished | Phase::Cancelled => {
            output.advise(&format!("Track {track} is {}.", words::phase(before.phase)))?;
        }
        Phase::Running | Phase::Waiting | Phase::Paused => {
            runtime.resume_track(author, by_id).await?;
        }
    }
    Ok(before.seq)
}

/// The file to read: the named one, or that of the project.
fn file(args: &ConductArgs, workspace: &Workspace) -> PathBuf {
    let of_project = || match &workspace.project {
        Some(project) => project.root.join(FILE_NAME),
        None => PathBuf::from(FILE_NAME),
    };
    args.file.clone().unwrap_or_else(of_project)
}

fn read(file: &Path) -> Result<String> {
    read_text(file).map_err(|failure| match failure {
        Failure::Reported(report) if report.code == Code::FileNotFound => {
            CommandError::NoTrackFile { path: file.display().to_string() }.into()
        }
        other => other,
    })
}

/// Names the file in the failure of a track with mistakes, each of which gets a line.
fn in_file(file: &Path, failure: Failure) -> Failure {
    let Failure::Reported(report) = failure else { return failure };
    let shown = match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    };
    let message = match report.code {
        Code::TrackCycle => format!("{shown}: {}", report.message),
        Code::InvalidTrack => format!("{shown} has mistakes:\n  {}", report.candidates.join("\n  ")),
        _ => return Failure::Reported(report),
    };
    Report { message, subject: Subject::file(shown), ..*report }.into()
}

/// Lets a model draft a track. Ctrl-C ends it; the session can be read.
async fn draft(epic: &Path, runtime: &Runtime, output: &mut Output) -> Result<DraftedTrack> {
    let epic = read_text(epic)?;
    let session = Uuid::now_v7();
    output.advise(&format!("A model drafts the track; `masque sessions show {session}` shows its work."))?;
    let mut signals = Signals::listen()?;
    let input = DraftTrack { epic, session: Some(session), persona: None, model: None };
    let drafted = tokio::select! {
        drafted = runtime.draft_track(input) => Ok(drafted?),
        signal = signals.next() => Err(Failure::Stopped(signal)),
    };
    if drafted.is_err() {
        runtime.stop().await;
    }
    drafted
}

fn print_draft(drafted: &DraftedTrack, args: &ConductArgs, output: &mut Output) -> Result<()> {
    let DraftedTrack { session, track, toml } = drafted;
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        std::fs::write(file, toml).map_err(|error| Failure::file("write", file, &error))?;
    }
    if output.is_json() {
        return output.json(&DraftOutput { session: *session, file, track, toml });
    }
    let Some(file) = file else { return output.exact(toml) };
    output.line(format!("wrote {} with {} tickets", file.display(), track.tickets.len()))?;
    if args.yes {
        return Ok(());
    }
    output.advise(&format!("Read it, then work it with `masque conduct {}`.", file.display()))
}
