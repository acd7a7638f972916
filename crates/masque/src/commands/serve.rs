//! `masque serve`: serves the library over HTTP.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use app::AsReport as _;
use persona::Scope;
use server::{Access, ServerOptions};
use tokio::net::TcpListener;

use super::health::{self, Listener};
use super::{lint, retention, warn_problems};
use crate::cli::ServeArgs;
use crate::failure::{CommandError, Result};
use crate::output::{Output, Style, Warning, WarningCode};
use crate::runtime;
use crate::token::UserToken;
use crate::workspace::{Audience, Workspace, WorkspaceOptions};

mod stop;
pub(super) use stop::Stop;

pub(super) async fn run(args: &ServeArgs, options: WorkspaceOptions<'_>, output: &mut Output) -> Result<()> {
    let wanted = args.address()?;
    server::check_address(wanted).map_err(|error| error.report())?;
    // Bind before opening, so that a second server fails at once instead of waiting for the database.
    let listener = match TcpListener::bind(wanted).await {
        Ok(listener) => listener,
        Err(error) => return Err(unbound(wanted, error).await.into()),
    };
    let address = listener
        .local_addr()
        .map_err(|error| CommandError::Listen { address: wanted.to_string(), source: error })?;
    let local = address.ip().to_canonical().is_loopback();
    let audience = if local { Audience::Machine } else { Audience::Network };
    let workspace = Workspace::open_for(options, audience).await?;
    let library = workspace.library.clone();
    library.watch();
    let known = lint::options(&workspace, Vec::new());
    library.lint_on_load(known.clone());
    retention::start(&library, &workspace.config);
    let token = match args.no_auth {
        true => None,
        false => Some(UserToken::open(args.token_file.as_deref(), workspace.directories.as_ref())?),
    };
    let server_options = ServerOptions {
        user: Some(workspace.author.who.clone()),
        lint: known,
        access: token.as_ref().map_or_else(Access::open, |user| Access::with_token(&user.token)),
        ..ServerOptions::default()
    };
    runtime::warn_of_wide_root(&workspace);
    let runtime = runtime::open(&workspace).await?;
    let router = server::router(runtime.clone(), server_options);
    let stop = Stop::listen()?;
    announce(address, &workspace, token.as_ref(), output).await?;
    let warning = token.and_then(|user| user.warning).map(|text| Warning::new(WarningCode::NewToken, text));
    output.warn(&Vec::from_iter(warning))?;
    warn_problems(&workspace, false, output)?;
    let served = server::serve(listener, router, stop.wait()).await;
    // Stop the remaining runs. Their text so far is stored.
    runtime.stop().await;
    library.close().await;
    served.map_err(|error| CommandError::Server(error.to_string()).into())
}

async fn announce(
    address: SocketAddr,
    workspace: &Workspace,
    token: Option<&UserToken>,
    output: &mut Output,
) -> Result<()> {
    let library = &workspace.library;
    let page = page_url(address, token);
    let root = runtime::root(workspace.project.as_ref(), workspace.audience);
    let unwritable = workspace.unwritable_directory();
    let location = match unwritable {
        Some(_) => None,
        None => Some(library.database_info().await?.location),
    };
    if output.is_json() {
        let path = |scope| library.path(scope).map(Path::to_path_buf);
        let files = serde_json::json!({ "global": path(Scope::Global), "project": path(Scope::Project) });
        output.json(&serde_json::json!({
            "address": address,
            "page_url": page,
            "token_file": token.and_then(|user| user.file.as_ref()),
            "docs_url": format!("http://{address}/api/docs"),
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
    // Not wrapped, so that a terminal recognises it.
    let page = output.styled(Style::Name, page);
    output.styled_line(&format!("open           {page}"))?;
    let file = match token {
        None => "none (--no-auth): every user of this machine can use the server as you".to_owned(),
        Some(UserToken { file: Some(file), .. }) => file.display().to_string(),
        Some(UserToken { file: None, .. }) => "in this address only".to_owned(),
    };
    output.field("token", &file)?;
    let shown = match unwritable {
        Some(directory) => format!("none ({} cannot be written)", directory.display()),
        None => location.unwrap_or_default(),
    };
    output.field("library", &shown)?;
    for scope in [Scope::Global, Scope::Project] {
        if let Some(path) = library.path(scope).filter(|path| path.exists()) {
            output.field(scope.as_str(), &path.display().to_string())?;
        }
    }
    output.field("MCP", &format!("http://{address}/mcp (fewer tools: /mcp?tools=load)"))?;
    output.field("sessions", &format!("http://{address}/api/sessions"))?;
    let access = match root {
        Some(root) => root.display().to_string(),
        None => {
            "no files, because no project is open; `masque serve --project .` opens this directory".to_owned()
        }
    };
    output.field("tools access", &access)?;
    output.field("API", &format!("http://{address}/api/docs"))?;
    output.field("health", &format!("http://{address}/healthz"))?;
    output.blank()?;
    let http = if address.to_string() == crate::cli::DEFAULT_ADDRESS {
        "--http".to_owned()
    } else {
        format!("--http http://{address}/mcp")
    };
    output
        .line(format!("Connect a client with `masque connect claude-code {http}`. Press Ctrl-C to stop."))?;
    output.flush()
}

/// The address of the page, with the token that the first visit moves into a cookie.
fn page_url(address: SocketAddr, token: Option<&UserToken>) -> String {
    match token {
        Some(user) => format!("http://{address}/?token={}", user.token.expose()),
        None => format!("http://{address}/"),
    }
}

async fn unbound(address: SocketAddr, source: io::Error) -> CommandError {
    match source.kind() {
        io::ErrorKind::AddrInUse => {
            let by = match health::probe(address).await {
                Listener::Masque => "another masque server",
                Listener::None | Listener::Other => "another program",
            };
            CommandError::AddressInUse { address, by: Some(by) }
        }
        io::ErrorKind::PermissionDenied => CommandError::PortDenied { address },
        _ => CommandError::Listen { address: address.to_string(), source },
    }
}
