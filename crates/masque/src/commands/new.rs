//! `masque new`: a persona from a template, or from answers to a few questions.

use app::inputs::List;
use app::outputs::{Item, Written};
use persona::{Kind, Scope, limits};

use super::written;
use crate::ask;
use crate::cli::NewArgs;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

mod questions;
use questions::Said;

pub(crate) async fn run(args: NewArgs, session: &Session, output: &mut Output) -> Result<()> {
    let NewArgs { name, template, create, why } = args;
    let scope = create.scope;
    let Session { library, author, .. } = session;
    let written = match (name, template) {
        (Some(name), Some(template)) => {
            library.new_from_template(author, &template, name, scope, why.message).await?
        }
        (name, template) if ask::can_ask(output) => {
            let said = Said { name, template, scope, message: why.message };
            questions::ask(said, session, output).await?
        }
        _ => return Err(no_questions(session).await),
    };
    tell(&written, output)
}

fn tell(written: &Written, output: &mut Output) -> Result<()> {
    let name = &written.name;
    let done = format!("created persona {name}");
    written::tell_with_pieces(written, &done, &format!("persona {name} exists already"), output)?;
    output.advise(&format!(
        "\nNext:\n  masque show {name}               read it\n  masque edit {name}               change it\n  masque compile {name} --detail   use it as a prompt"
    ))
}

/// The builtin personas.
async fn templates(session: &Session) -> Result<Vec<Item>> {
    let limit = u32::try_from(limits::PAGE).ok();
    let list = List { tags: None, query: None, limit, cursor: None, scope: Some(Scope::Builtin) };
    Ok(session.library.list(Kind::Persona, list).await?.items)
}

/// Nobody is there to be asked, so the flags must say it all.
async fn no_questions(session: &Session) -> Failure {
    let names = match templates(session).await {
        Ok(items) => items.iter().map(|item| item.name.to_string()).collect::<Vec<_>>().join(", "),
        Err(failure) => return failure,
    };
    Failure::invalid(format!(
        "without a terminal there are no questions; say it with flags: masque new NAME --template TEMPLATE \
         [--scope SCOPE] [--message WHY], where TEMPLATE is one of {names}; or begin with nothing: \
         masque create persona NAME --system-prompt TEXT"
    ))
}
