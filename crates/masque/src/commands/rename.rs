//! `masque rename`: another name, and what refers to it follows.

use app::outputs::{Place, Renamed};

use super::written;
use crate::cli::RenameArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(crate) async fn run(args: RenameArgs, session: &Session, output: &mut Output) -> Result<()> {
    let (kind, name, new_name) = args.target()?;
    let Session { library, author, .. } = session;
    let renamed = library.rename(author, kind, &name, new_name, args.change.scope, args.why.message).await?;
    if output.is_json() {
        return output.json(&renamed);
    }
    let Renamed { written, followed, not_followed } = &renamed;
    let kind = kind.spoken();
    let done = format!("renamed {kind} {name} to {}", written.name);
    let idle = format!("{kind} {name} has this name already");
    written::tell(written, &done, &idle, output)?;
    for place in followed {
        output.line(format!("  follows: {}", in_words(place)))?;
    }
    if not_followed.is_empty() {
        return Ok(());
    }
    output.line("these still name the old one, and could not be changed:")?;
    not_followed.iter().try_for_each(|place| output.line(format!("  {}", in_words(place))))
}

fn in_words(place: &Place) -> String {
    let Place { scope, kind, name } = place;
    format!("{} {name} ({scope})", kind.spoken())
}
