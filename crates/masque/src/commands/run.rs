//! `masque run`: one message, and the answer.

use std::io::{self, IsTerminal as _, Read as _};

use agent::limits;
use app::running::{Approvals, Runtime, SendOptions};
use uuid::Uuid;

use super::answer::{Outcome, Teller, Viewer, Watch, opened};
use super::opening;
use crate::ask;
use crate::cli::{Approve, RunArgs};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::runtime;
use crate::session::Session;

pub(super) async fn run(args: RunArgs, session: &Session, verbose: bool, output: &mut Output) -> Result<()> {
    let RunArgs { name, prompt, opening, approve, max_rounds } = args;
    let message = message(prompt, read_input().await?)?;
    let runtime = runtime::open(session).await?;
    let (view, is_new) = opening::open(&runtime, Some(name), &opening).await?;
    if output.is_json() {
        opened(&view.session, output)?;
    }
    let id = view.session.id;
    let allowed = Allowed { approve, max_rounds };
    let outcome = say(&runtime, id, message, allowed, verbose, output).await;
    runtime.stop().await;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => {
            // Nothing was said in it, so nobody will look for it.
            if is_new && runtime.session(id).await.is_ok_and(|view| view.turns.is_empty()) {
                runtime.delete_session(id).await?;
            }
            return Err(failure);
        }
    };
    if !output.is_json() {
        if outcome.plan.is_some() {
            output.advise(&format!(
                "Approve the plan with `masque plan {id} --approve`, or send it back with --send-back."
            ))?;
        } else if verbose {
            output.advise(&format!("Go on with `masque chat --session {id}`."))?;
        }
    }
    outcome.failure().map_or(Ok(()), Err)
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
    output: &mut Output,
) -> Result<Outcome> {
    let asks = ask::can_ask(output);
    let approvals = match allowed.approve {
        Some(Approve::All) => Approvals::All,
        Some(Approve::Read) => Approvals::Read,
        None if asks => Approvals::Ask,
        None => Approvals::Refuse,
    };
    let mut viewer = match output.is_json() {
        true => Viewer::Program,
        false => Viewer::Person(Box::new(Teller::new(false, verbose, output))),
    };
    let options = SendOptions { approvals, max_tool_rounds: allowed.max_rounds, ..SendOptions::default() };
    let mut watch = Watch::new(runtime, id, asks);
    let mut subscription = watch.send(message, options).await??;
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
            format!("{}\n\n<stdin>\n{}\n</stdin>", prompt.trim_end(), input.trim_end_matches('\n'))
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
