//! `masque new`: creates a persona from a template or interactively.

use app::outputs::Written;

use super::written;
use crate::ask;
use crate::cli::NewArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::workspace::Workspace;

mod questions;
use questions::NewOptions;

pub(crate) async fn run(args: NewArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let name = args.name()?;
    let NewArgs { template, create, why, .. } = args;
    let scope = create.scope;
    let Workspace { library, author, .. } = workspace;
    let written = match (name, template) {
        (Some(name), Some(template)) => {
            library.new_from_template(author, &template, name, scope, why.message).await?
        }
        (name, template) if ask::can_ask(output) => {
            let options = NewOptions { name, template, scope, message: why.message };
            questions::ask(options, workspace, output).await?
        }
        _ => return Err(no_questions(workspace).await),
    };
    print_created(&written, output)
}

fn print_created(written: &Written, output: &mut Output) -> Result<()> {
    let name = &written.name;
    let done = format!("created persona {name}");
    written::print_with_pieces(written, &done, &format!("persona {name} already exists"), output)?;
    output.advise(&format!(
        "\nNext:\n  masque show {name}               read it\n  masque edit {name}               change it\n  masque compile {name}            use it as a prompt"
    ))
}

/// The error without a terminal: the flags must give everything.
async fn no_questions(workspace: &Workspace) -> Failure {
    let names = match workspace.library.list_templates().await {
        Ok(page) => page.items.iter().map(|item| item.name.to_string()).collect::<Vec<_>>().join("|"),
        Err(error) => return error.into(),
    };
    let instead = vec![
        format!("masque new NAME --template {names}"),
        "masque create persona NAME --system-prompt TEXT".to_owned(),
    ];
    CommandError::NoTerminal { command: "masque new", instead }.into()
}
