//! `masque serve`: the library over HTTP.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use app::Code;
use persona::Scope;
use server::ServerOptions;
use tokio::net::TcpListener;

use super::health::{self, Listener};
use super::{lint, retention, tell_problems};
use crate::cli::ServeArgs;
use crate::failure::{Failure, Result};
use crate::output::{Output, Style};
use crate::runtime;
use crate::session::{Audience, Session, Wanted};

mod stop;
pub(super) use stop::Stop;

pub(super) async fn run(args: &ServeArgs, wanted: Wanted<'_>, output: &mut Output) -> Result<()> {
    server::check_address(args.addr).map_err(|error| Failure::told(Code::Refused, error.to_string()))?;
    // Bind before opening: a second server then says so, instead of waiting for the database.
    let listener = match TcpListener::bind(args.addr).await {
        Ok(listener) => listener,
        Err(error) => return Err(unbound(args.addr, &error).await),
    };
    let address =
        listener.local_addr().map_err(|error| Failure::broken(format!("cannot listen: {error}")))?;
    let local = address.ip().to_canonical().is_loopback();
    let audience = if local { Audience::Machine } else { Audience::Network };
    let session = Session::open_for(wanted, audience).await?;
    let library = session.library.clone();
    library.watch();
    let known = lint::options(&session, Vec::new());
    library.lint_on_load(known.clone());
    retention::start(&library, &session.config);
    let options =
        ServerOptions { user: Some(session.author.who.clone()), lint: known, ..ServerOptions::default() };
    let runtime = runtime::open(&session).await?;
    let router = server::router(runtime.clone(), options);
    let stop = Stop::listen()?;
    announce(address, &session, output).await?;
    tell_problems(&session, false, output)?;
    let served = server::serve(listener, router, stop.wait()).await;
    // What nobody waits for any more is stopped too, and what it has said is kept.
    runtime.stop().await;
    library.close().await;
    served.map_err(|error| Failure::broken(format!("the server broke: {error}")))
}

async fn announce(address: SocketAddr, session: &Session, output: &mut Output) -> Result<()> {
    let library = &session.library;
    let root = runtime::root(session.project.as_ref(), session.audience);
    let location = library.database_info().await?.location;
    if output.is_json() {
        let path = |scope| library.path(scope).map(Path::to_path_buf);
        let files = serde_json::json!({ "global": path(Scope::Global), "project": path(Scope::Project) });
        output.json(&serde_json::json!({
            "address": address,
            "mcp_url": format!("http://{address}/mcp"),
            "sessions_url": format!("http://{address}/api/sessions"),
            "health_url": format!("http://{address}/healthz"),
            "database": location,
            "files": files,
            "root": root,
        }))?;
        return output.flush();
    }
    let url = output.styled(Style::Name, format!("http://{address}"));
    output.styled_line(&format!("masque {} listens on {url}", env!("CARGO_PKG_VERSION")))?;
    output.field("library", &location)?;
    for scope in [Scope::Global, Scope::Project] {
        if let Some(path) = library.path(scope).filter(|path| path.exists()) {
            output.field(scope.as_str(), &path.display().to_string())?;
        }
    }
    output.field("MCP", &format!("http://{address}/mcp (fewer tools: /mcp?tools=load)"))?;
    output.field("sessions", &format!("http://{address}/api/sessions"))?;
    let seen = match root {
        Some(root) => root.display().to_string(),
        None => "no files: no project is open; `masque serve --project .` opens this directory".to_owned(),
    };
    output.field("tools see", &seen)?;
    output.field("health", &format!("http://{address}/healthz"))?;
    output.blank()?;
    let http = if address.to_string() == crate::cli::DEFAULT_ADDRESS {
        "--http".to_owned()
    } else {
        format!("--http http://{address}/mcp")
    };
    output.line(format!("Connect a client with `masque connect claude-code {http}`; Ctrl-C stops."))?;
    output.flush()
}

async fn unbound(address: SocketAddr, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            let who = match health::ask(address).await {
                Listener::Masque => "another masque server",
                Listener::Nobody | Listener::Other => "another program",
            };
            let message = format!(
                "{address} is in use by {who}; stop it, or choose another port, as in `masque serve --addr {}:0`",
                address.ip()
            );
            Failure::told(Code::AddressInUse, message)
        }
        io::ErrorKind::PermissionDenied => {
            let message = format!("{address} needs rights that you do not have; choose a port above 1023");
            Failure::told(Code::Refused, message)
        }
        _ => Failure::broken(format!("cannot listen on {address}: {error}")),
    }
}
