//! `masque rehearse`: serves a scripted model; records and replays real ones.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use app::{AsReport as _, Code};
use rehearsal::{
    Cassette, CassetteError, Options, Protocol, RecordError, Recorder, RecordingOptions, Rehearsal, Replay,
    Script, Tempo,
};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use super::serve::Stop;
use crate::cli::RehearseArgs;
use crate::definition::read_text;
use crate::failure::{CommandError, Failure, Result};
use crate::output::{Output, Style};

mod log;

pub(super) async fn run(args: RehearseArgs, output: &mut Output) -> Result<()> {
    if let Some(path) = &args.check {
        return check(path, output);
    }
    let address = args.address()?;
    server::check_address(address).map_err(|error| error.report())?;
    match (args.record, args.replay) {
        (Some(cassette), _) => {
            let upstream = args.upstream.unwrap_or_default();
            let options = RecordingOptions { upstream, kind: args.kind, cassette };
            record(options, address, output).await
        }
        (None, Some(cassette)) => {
            let tempo = if args.at_once { Tempo::AtOnce } else { Tempo::AsRecorded };
            replay(&cassette, tempo, address, output).await
        }
        (None, None) => {
            let script = args.positional.or(args.script);
            serve(script.as_deref(), address, args.log, output).await
        }
    }
}

fn read(path: &Path) -> Result<Script> {
    let text = read_text(path)?;
    let invalid = |problem: String| CommandError::InvalidScript { path: path.display().to_string(), problem };
    Ok(Script::parse(&text).map_err(|error| invalid(error.to_string()))?)
}

fn check(path: &Path, output: &mut Output) -> Result<()> {
    let replies = read(path)?.replies();
    if output.is_json() {
        return output.json(&json!({ "script": path, "replies": replies }));
    }
    output.line(format!("{} is valid: {}", path.display(), counted(replies, "reply", "replies")))
}

async fn serve(
    script: Option<&Path>,
    address: SocketAddr,
    is_logged: bool,
    output: &mut Output,
) -> Result<()> {
    let (script, name) = match script {
        Some(path) => (read(path)?, path.display().to_string()),
        None => (Script::builtin(), "builtin".to_owned()),
    };
    let replies = script.replies();
    let stop = Stop::listen()?;
    // Requests are recorded only for the log.
    let options = Options { record: is_logged, ..Options::default() };
    let rehearsal = Rehearsal::start_on(script, bind(address).await?, options)
        .map_err(|error| unbound(address, error))?;
    let announcement = Announcement { address: rehearsal.address(), does: "rehearses", kind: None };
    announcement.announce(&[("script", name.into()), ("replies", replies.into())], output)?;
    let logged = match is_logged {
        true => log::until(stop.wait(), &rehearsal, output).await,
        false => {
            stop.wait().await;
            Ok(())
        }
    };
    rehearsal.stop().await;
    logged
}

async fn record(options: RecordingOptions, address: SocketAddr, output: &mut Output) -> Result<()> {
    let stop = Stop::listen()?;
    let (cassette, kind) = (options.cassette.display().to_string(), options.kind);
    let upstream = options.upstream.clone();
    let recorder = Recorder::start(options, bind(address).await?).map_err(|error| unrecorded(&error))?;
    let announcement = Announcement { address: recorder.address(), does: "records", kind };
    announcement
        .announce(&[("cassette", cassette.as_str().into()), ("upstream", upstream.into())], output)?;
    stop.wait().await;
    let exchanges = recorder.stop().await.map_err(|error| unrecorded(&error))?;
    if output.is_json() {
        return output.json(&json!({ "cassette": cassette, "exchanges": exchanges }));
    }
    output.line(format!("recorded {} in {cassette}", counted(exchanges, "exchange", "exchanges")))
}

async fn replay(path: &Path, tempo: Tempo, address: SocketAddr, output: &mut Output) -> Result<()> {
    let cassette = Cassette::read(path).map_err(|error| unread(&error))?;
    let exchanges = cassette.exchanges();
    let stop = Stop::listen()?;
    let replay =
        Replay::start(cassette, tempo, bind(address).await?).map_err(|error| unbound(address, error))?;
    let announcement = Announcement { address: replay.address(), does: "replays", kind: None };
    let name = path.display().to_string();
    announcement.announce(&[("cassette", name.into()), ("exchanges", exchanges.into())], output)?;
    stop.wait().await;
    let (played, remaining, differences) = (replay.played(), replay.remaining(), replay.differences());
    replay.stop().await;
    if output.is_json() {
        output.json(&json!({ "played": played, "remaining": remaining, "differences": differences }))?;
    } else {
        for difference in &differences {
            output.line(difference)?;
        }
        let count = counted(exchanges, "exchange", "exchanges");
        let rest = match remaining {
            0 => String::new(),
            rest => format!("; {rest} not requested"),
        };
        output.line(format!("replayed {played} of {count}{rest}"))?;
    }
    if differences.is_empty() { Ok(()) } else { Err(Failure::Answered) }
}

/// The addresses to print at start.
struct Announcement {
    address: SocketAddr,
    does: &'static str,
    /// The only protocol. None for all.
    kind: Option<Protocol>,
}

impl Announcement {
    fn announce(&self, more: &[(&str, Value)], output: &mut Output) -> Result<()> {
        let url = format!("http://{}", self.address);
        let kinds: Vec<Protocol> =
            Protocol::ALL.into_iter().filter(|kind| self.kind.is_none_or(|only| only == *kind)).collect();
        let base = |kind: &Protocol| format!("{url}{}", kind.base_path());
        if output.is_json() {
            let urls: Map<String, Value> =
                kinds.iter().map(|kind| (kind.to_string(), base(kind).into())).collect();
            let mut announcement = json!({ "address": self.address, "url": url, "base_urls": urls });
            for (name, value) in more {
                announcement[*name] = value.clone();
            }
            output.json(&announcement)?;
            return output.flush();
        }
        let name = output.styled(Style::Name, &url);
        output.styled_line(&format!("masque {} on {name}", self.does))?;
        for (label, value) in more {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output.field(label, &value)?;
        }
        output.blank()?;
        output.line("Base URLs for clients:")?;
        for kind in &kinds {
            output.line(format!("  {:<18}{}", kind.as_str(), base(kind)))?;
        }
        output.blank()?;
        output.line("As a provider in config.toml:")?;
        if let Some(kind) = kinds.first() {
            let entry = format!("[providers.rehearsal]\nkind = \"{kind}\"\nbase_url = \"{}\"", base(kind));
            output.paragraph(2, &entry)?;
        }
        output.blank()?;
        output.line("Press Ctrl-C to stop.")?;
        output.flush()
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    Ok(TcpListener::bind(address).await.map_err(|error| unbound(address, error))?)
}

fn unbound(address: SocketAddr, source: io::Error) -> CommandError {
    match source.kind() {
        io::ErrorKind::AddrInUse => CommandError::AddressInUse { address, by: None },
        io::ErrorKind::PermissionDenied => CommandError::PortDenied { address },
        _ => CommandError::Listen { address: address.to_string(), source },
    }
}

fn unread(error: &CassetteError) -> Failure {
    match error {
        CassetteError::Io { doing, path, source } => Failure::file(doing, path, source),
        CassetteError::TooLarge { .. } => Failure::new(Code::FileTooLarge, error.to_string()),
        CassetteError::Malformed { .. } | CassetteError::Name { .. } => {
            CommandError::InvalidCassette(error.to_string()).into()
        }
    }
}

fn unrecorded(error: &RecordError) -> Failure {
    match error {
        RecordError::Upstream { .. } => CommandError::InvalidUpstream(error.to_string()).into(),
        RecordError::Cassette(error) => unread(error),
        RecordError::Listen(_) => Failure::new(Code::ListenFailed, error.to_string()),
        RecordError::Client(_) => CommandError::Internal(error.to_string()).into(),
    }
}
