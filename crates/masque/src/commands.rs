//! One file per command.

use crate::cli::{Cli, Command, LibraryCommand};
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

mod list;
mod pages;
mod search;

mod compile;
mod manifest;
mod show;

mod create;
mod delete;
mod link;
mod update;
mod written;

mod arc;
mod db;

mod connect;
mod mcp;
mod serve;

mod completions;
mod doctor;
mod health;

pub(crate) async fn run(cli: Cli, output: &mut Output) -> Result<()> {
    let Cli { global, command } = cli;
    let database = global.db.as_deref();
    match command {
        Command::Library(command) => {
            let session = Session::open(database).await?;
            let outcome = in_library(command, &session, output).await;
            // What the reads of this command noted is kept even where its output was cut short.
            session.library.close().await;
            outcome
        }
        Command::Serve(args) => serve::run(&args, database, output).await,
        Command::Mcp(args) => mcp::run(args, database).await,
        Command::Connect(args) => connect::run(&args, database, output),
        Command::Doctor => doctor::run(database, output).await,
        Command::Completions(args) => completions::run(&args, output),
    }
}

async fn in_library(command: LibraryCommand, session: &Session, output: &mut Output) -> Result<()> {
    match command {
        LibraryCommand::List(args) => list::run(args, session, output).await,
        LibraryCommand::Search(args) => search::run(args, session, output).await,
        LibraryCommand::Show(args) => show::run(args, session, output).await,
        LibraryCommand::Manifest(args) => manifest::run(&args, session, output).await,
        LibraryCommand::Compile(args) => compile::run(&args, session, output).await,
        LibraryCommand::Create(args) => create::run(args.kind, session, output).await,
        LibraryCommand::Update(args) => update::run(args.kind, session, output).await,
        LibraryCommand::Delete(args) => delete::run(args, session, output).await,
        LibraryCommand::Link(args) => link::link(args, session, output).await,
        LibraryCommand::Unlink(args) => link::unlink(args, session, output).await,
        LibraryCommand::Arc(command) => arc::run(command, session, output).await,
        LibraryCommand::Db(command) => db::run(command, session, output).await,
    }
}
