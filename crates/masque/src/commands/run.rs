//! `masque run`: one message, and the answer.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Read as _};

use agent::limits;
use app::running::{ApprovalPolicy, Runtime, SendOptions};
use uuid::Uuid;

use super::answer::{self, Asks, Outcome, Viewer, Watch, opened, unsent};
use super::opening;
use crate::ask;
use crate::cli::{Approve, RunArgs};
use crate::failure::{Failure, Result};
use crate::output::{Output, Warning};
use crate::runtime;
use crate::session::Session;
use crate::signals::Ending;

/// The name of what stands around what was piped in.
const TAG: &str = "stdin";

pub(super) async fn run(args: RunArgs, session: &Session, verbose: bool, output: &mut Output) -> Result<()> {
    let RunArgs { name, prompt, opening, approve, max_rounds } = args;
    let message = message(prompt, read_input().await?)?;
    let ending = Ending::listen()?;
    let runtime = runtime::open(session).await?;
    let (view, is_new) = opening::open(&runtime, Some(name), &opening).await?;
    let id = view.session.id;
    let allowed = Allowed { approve, max_rounds };
    let said = async {
        opening::ready(&runtime, &view.session, session, output).await?;
        if output.is_json() {
            opened(&view.session, output)?;
        }
        say(&runtime, id, message, allowed, verbose, &ending, output).await
    };
    let said = said.await;
    let outcome = match answer::stop(&runtime, &ending, said).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            // Nothing was said in it, so nobody will look for it.
            if is_new && runtime.session(id).await.is_ok_and(|view| view.turns.is_empty()) {
                runtime.delete_session(id).await?;
            }
            return Err(failure);
        }
    };
    tell_refused(&outcome, approve, output)?;
    if !output.is_json() {
        if outcome.plan.is_some() {
            advise_on_plan(id, output)?;
        } else if verbose {
            output.advise(&format!("Go on with `masque chat --session {id}`."))?;
        }
    }
    outcome.failure().map_or(Ok(()), Err)
}

pub(super) fn advise_on_plan(id: Uuid, output: &mut Output) -> Result<()> {
    output.advise(&format!(
        "Approve the plan with `masque plan {id} --approve`, or send it back with --send-back."
    ))
}

/// The persona was told that nobody could be asked; whoever called is told how to allow it.
fn tell_refused(outcome: &Outcome, approve: Option<Approve>, output: &mut Output) -> Result<()> {
    if outcome.refused.is_empty() {
        return Ok(());
    }
    let nobody = if output.is_json() { "with --json nobody is asked" } else { "nobody could be asked" };
    let how = match approve {
        None => "`--approve read` allows tools that only read, `--approve all` allows everything",
        Some(Approve::Read | Approve::All) => "`--approve all` allows it",
    };
    let calls = outcome.refused.join(", ");
    output.warn(&[Warning::Said(format!("refused, because {nobody}: {calls}; {how}"))])
}

/// What a persona may do without being asked about it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allowed {
    approve: Option<Approve>,
    max_rounds: Option<u32>,
}

/// Says something to a session and shows what comes of it.
pub(super) async fn say(
    runtime: &Runtime,
    id: Uuid,
    message: String,
    allowed: Allowed,
    verbose: bool,
    ending: &Ending,
    output: &mut Output,
) -> Result<Outcome> {
    let asks = if ask::can_ask(output) { Asks::Person } else { Asks::Nobody };
    let policy = match (allowed.approve, asks) {
        (Some(Approve::All), _) => ApprovalPolicy::All,
        (Some(Approve::Read), _) => ApprovalPolicy::Read,
        (None, Asks::Person) => ApprovalPolicy::Ask,
        (None, _) => ApprovalPolicy::Refuse,
    };
    let mut viewer = Viewer::of_one_answer(verbose, output);
    let options = SendOptions { policy, max_tool_rounds: allowed.max_rounds, ..SendOptions::default() };
    let mut watch = Watch::new(runtime, id, asks, ending.clone());
    let mut subscription = match watch.send(message, options, output).await? {
        Ok(subscription) => subscription,
        Err(error) => return Err(unsent(runtime, id, error).await),
    };
    watch.until_done(&mut subscription, &mut viewer, output).await
}

/// What is piped in; none on a terminal, or where there is nothing.
async fn read_input() -> Result<Option<String>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    let read = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        // One byte more than may be there shows that there is more.
        io::stdin().lock().take(limits::MESSAGE_BYTES as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let bytes = match read.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(Failure::broken(format!("cannot read standard input: {error}"))),
        Err(error) => return Err(Failure::broken(format!("cannot read standard input: {error}"))),
    };
    if bytes.len() > limits::MESSAGE_BYTES {
        return Err(too_long("standard input is"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::invalid(format!("standard input is not UTF-8 text (byte {at}); pipe text in, or </dev/null"))
    })?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn too_long(what: &str) -> Failure {
    let most = limits::MESSAGE_BYTES / (1024 * 1024);
    Failure::invalid(format!(
        "{what} longer than {most} MiB; put it into a file in the project and let the persona read that"
    ))
}

/// The prompt, with what was piped in below it.
fn message(prompt: Option<String>, input: Option<String>) -> Result<String> {
    let message = match (prompt.filter(|prompt| !prompt.trim().is_empty()), input) {
        (Some(prompt), Some(input)) => {
            let tag = tag_for(&input);
            format!("{}\n\n<{tag}>\n{}\n</{tag}>", prompt.trim_end(), input.trim_end_matches('\n'))
        }
        (Some(prompt), None) => prompt,
        (None, Some(input)) => input,
        (None, None) => {
            return Err(Failure::invalid(
                "there is nothing to say; give a prompt, as in: masque run mentor \"How do I begin?\"",
            ));
        }
    };
    if message.len() > limits::MESSAGE_BYTES {
        return Err(too_long("the prompt and standard input are together"));
    }
    Ok(message)
}

/// What stands around what was piped in: a name that does not end anywhere in it, so that none of it
/// can pass for the prompt.
fn tag_for(input: &str) -> String {
    let input = input.to_ascii_lowercase();
    let ends: BTreeSet<Option<u64>> = input
        .split(&format!("</{TAG}"))
        .skip(1)
        .map(|rest| {
            let digits = rest.strip_prefix('-').unwrap_or_default();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse().ok()
        })
        .collect();
    if ends.is_empty() {
        return TAG.to_owned();
    }
    let free = (1..).find(|number| !ends.contains(&Some(*number))).unwrap_or_default();
    format!("{TAG}-{free}")
}

#[cfg(test)]
mod tests {
    use super::tag_for;

    #[test]
    fn what_is_piped_in_cannot_end_what_stands_around_it() {
        for (input, tag) in [
            ("", "stdin"),
            ("<stdin> alone ends nothing", "stdin"),
            ("a </stdin> b", "stdin-1"),
            ("a </STDIN > b", "stdin-1"),
            ("</stdin-1></stdin>", "stdin-2"),
            ("</stdin-2></stdin-01 >", "stdin-3"),
            ("</stdin-12>", "stdin-1"),
            ("</stdin-99999999999999999999999>", "stdin-1"),
        ] {
            assert_eq!(tag_for(input), tag, "{input}");
        }
    }
}
