//! `masque run`: sends one message and prints the answer.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Read as _};

use agent::limits;
use app::running::{ApprovalPolicy, Runtime, SendOptions};
use uuid::Uuid;

use super::answer::{
    self, Approver, Outcome, Viewer, Watch, print_greeting, print_session_line, send_failure,
};
use super::open_session;
use crate::ask;
use crate::cli::{Approve, RunArgs};
use crate::failure::{CommandError, Result};
use crate::output::{Output, Warning, WarningCode};
use crate::runtime;
use crate::signals::Shutdown;
use crate::workspace::Workspace;

/// The advice about a call that no flag allows.
const ALWAYS_ASKS: &str = "run it on a terminal: this file always asks";
/// The tag around piped input.
const TAG: &str = "stdin";

pub(super) async fn run(
    args: RunArgs,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    let (name, prompt) = args.target()?;
    let message = message(prompt.map(str::to_owned), read_input().await?)?;
    let RunArgs { options, approve, max_rounds, .. } = args;
    let shutdown = Shutdown::listen()?;
    runtime::warn_of_wide_root(workspace);
    let runtime = runtime::open(workspace).await?;
    let (view, is_new) = open_session::open(&runtime, Some(name), &options, None).await?;
    let id = view.session.id;
    let permissions = RunPermissions { approve, max_rounds };
    let sending = async {
        open_session::check_ready(&runtime, &view.session, workspace, output).await?;
        if output.is_json() {
            print_session_line(&view.session, output)?;
        }
        if is_new {
            print_greeting(&view.turns, output)?;
        }
        send(&runtime, id, message, permissions, verbose, &shutdown, output).await
    };
    let sent = sending.await;
    let outcome = match answer::stop(&runtime, &shutdown, sent).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            // A session without a message is not kept.
            if is_new && runtime.session(id).await.is_ok_and(|view| open_session::is_unused(&view)) {
                runtime.delete_session(id).await?;
            }
            return Err(failure);
        }
    };
    warn_refused(&outcome, approve, output)?;
    if !output.is_json() {
        if outcome.plan.is_some() {
            advise_on_plan(id, output)?;
        } else if verbose {
            output.advise(&format!("Continue with `masque chat --session {id}`."))?;
        }
    }
    outcome.failure().map_or(Ok(()), Err)
}

pub(super) fn advise_on_plan(id: Uuid, output: &mut Output) -> Result<()> {
    output.advise(&format!(
        "Approve the plan with `masque plan {id} --approve`, or send it back with --send-back."
    ))
}

/// Warns about refused calls, and how to allow them.
fn warn_refused(outcome: &Outcome, approve: Option<Approve>, output: &mut Output) -> Result<()> {
    let reason =
        if output.is_json() { "--json cannot ask for approval" } else { "there is no terminal to ask on" };
    let how = match approve {
        None => "`--approve read` allows read-only tools, `--approve all` allows every tool",
        Some(Approve::Read) => "`--approve all` allows it",
        // Only files about which the user is always asked are left.
        Some(Approve::All) => ALWAYS_ASKS,
    };
    let (always, others): (Vec<_>, Vec<_>) = outcome.refused.iter().partition(|call| call.always_asks);
    let mut warnings = Vec::new();
    for (calls, how) in [(others, how), (always, ALWAYS_ASKS)] {
        if !calls.is_empty() {
            let calls: Vec<&str> = calls.iter().map(|call| call.label.as_str()).collect();
            let text = format!("refused {}: {reason}; {how}", calls.join(", "));
            warnings.push(Warning::new(WarningCode::CallsRefused, text));
        }
    }
    output.warn(&warnings)
}

/// The permissions and limits of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunPermissions {
    approve: Option<Approve>,
    max_rounds: Option<u32>,
}

/// Sends a message to a session and shows the answer.
pub(super) async fn send(
    runtime: &Runtime,
    id: Uuid,
    message: String,
    permissions: RunPermissions,
    verbose: bool,
    shutdown: &Shutdown,
    output: &mut Output,
) -> Result<Outcome> {
    let approver = if ask::can_ask(output) { Approver::User } else { Approver::None };
    let policy = match (permissions.approve, approver) {
        (Some(Approve::All), Approver::User) => ApprovalPolicy::All,
        (Some(Approve::All), _) => ApprovalPolicy::AllUnattended,
        (Some(Approve::Read), _) => ApprovalPolicy::Read,
        (None, Approver::User) => ApprovalPolicy::Ask,
        (None, _) => ApprovalPolicy::Refuse,
    };
    let mut viewer = Viewer::of_one_answer(verbose, output);
    let options = SendOptions { policy, max_tool_rounds: permissions.max_rounds, ..SendOptions::default() };
    let mut watch = Watch::new(runtime, id, approver, shutdown.clone());
    let mut subscription = match watch.send(message, options, output).await? {
        Ok(subscription) => subscription,
        Err(error) => return Err(send_failure(runtime, id, error).await),
    };
    watch.until_done(&mut subscription, &mut viewer, output).await
}

/// Reads piped input. None on a terminal or for empty input.
async fn read_input() -> Result<Option<String>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    let read = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        // One byte more than allowed, to detect longer input.
        io::stdin().lock().take(limits::MESSAGE_BYTES as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let bytes = match read.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(CommandError::Input(error).into()),
        Err(error) => return Err(CommandError::Input(io::Error::other(error)).into()),
    };
    if bytes.len() > limits::MESSAGE_BYTES {
        return Err(too_long("standard input is").into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CommandError::NotText { what: "standard input".to_owned(), at: Some(at), remedy: None }
    })?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn too_long(what: &'static str) -> CommandError {
    CommandError::MessageTooLong { what, most_mib: limits::MESSAGE_BYTES / (1024 * 1024) }
}

/// The prompt, with the piped input below it.
fn message(prompt: Option<String>, input: Option<String>) -> Result<String> {
    let message = match (prompt.filter(|prompt| !prompt.trim().is_empty()), input) {
        (Some(prompt), Some(input)) => {
            let tag = tag_for(&input);
            format!("{}\n\n<{tag}>\n{}\n</{tag}>", prompt.trim_end(), input.trim_end_matches('\n'))
        }
        (Some(prompt), None) => prompt,
        (None, Some(input)) => input,
        (None, None) => {
            return Err(CommandError::EmptyMessage.into());
        }
    };
    if message.len() > limits::MESSAGE_BYTES {
        return Err(too_long("prompt and standard input together are").into());
    }
    Ok(message)
}

/// A tag for piped input that the input does not close, so that none of it can pass for the prompt.
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
    fn piped_input_cannot_close_its_tag() {
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
