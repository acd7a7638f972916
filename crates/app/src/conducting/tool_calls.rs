//! The calls of tools in a session's log, each with its result.

use agent::{Turn, TurnBody};
use conductor::RanCommand;
use llm::ToolCall;

use super::duties::RUN_CHECK;

/// The tool that runs a command line.
pub(super) const RUN_COMMAND: &str = "run_command";

/// True for a call that lasts as long as a process that it started.
pub(super) fn runs_process(call: &ToolCall) -> bool {
    matches!(call.name.as_str(), RUN_COMMAND | RUN_CHECK)
}

/// The command line that a call runs, if it runs one.
pub(super) fn command_of<'a>(call: &'a ToolCall, check: Option<&'a str>) -> Option<&'a str> {
    match call.name.as_str() {
        RUN_CHECK => check,
        RUN_COMMAND => call.input.get("command")?.as_str(),
        _ => None,
    }
}

/// The commands that a session ran to their end, in order.
pub(super) fn commands(turns: &[Turn], check: Option<&str>) -> Vec<RanCommand> {
    let result = |turn: &Turn| match &turn.body {
        TurnBody::ToolResult { tool_use_id, is_error, refusal: None, .. } => {
            Some((tool_use_id.clone(), !*is_error))
        }
        _ => None,
    };
    let mut ran = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let TurnBody::ToolCall { call, .. } = &turn.body else { continue };
        let Some(command) = command_of(call, check) else { continue };
        // A provider may use an id again: the result is the next one.
        let mut results = turns[at..].iter().filter_map(result);
        if let Some((_, succeeded)) = results.find(|(id, _)| *id == call.id) {
            ran.push(RanCommand { command: command.to_owned(), succeeded });
        }
    }
    ran
}

#[cfg(test)]
mod tests {
    use agent::Refused;
    use chrono::DateTime;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn turn(body: TurnBody) -> Turn {
        Turn { id: Uuid::nil(), created_at: DateTime::UNIX_EPOCH, body, provider_state: None }
    }

    fn call(id: &str, name: &str, input: &serde_json::Value) -> Turn {
        let input = input.as_object().cloned().unwrap_or_default();
        turn(TurnBody::ToolCall {
            call: ToolCall { id: id.into(), name: name.to_owned(), input },
            malformed: None,
        })
    }

    fn result(id: &str, is_error: bool) -> Turn {
        let (tool_use_id, output) = (id.to_owned(), String::new());
        turn(TurnBody::ToolResult { tool_use_id, output, is_error, refusal: None })
    }

    #[test]
    fn commands_that_ended_are_found() {
        let refused = Refused { refusal: agent::Refusal::InvalidArguments, message: String::new() };
        let turns = [
            call("1", "run_command", &json!({ "command": "make" })),
            result("1", false),
            call("2", "run_check", &json!({})),
            call("3", "read_file", &json!({ "path": "a" })),
            result("2", true),
            result("3", false),
            call("4", "run_command", &json!({ "command": "make all" })),
            turn(TurnBody::refused("4", refused)),
            call("1", "run_command", &json!({ "command": "make test" })),
            result("1", true),
        ];
        let ran: Vec<_> = commands(&turns, Some("./check.sh"))
            .into_iter()
            .map(|ran| (ran.command, ran.succeeded))
            .collect();
        let expected = [("make", true), ("./check.sh", false), ("make test", false)];
        assert_eq!(ran, expected.map(|(command, succeeded)| (command.to_owned(), succeeded)));
    }
}
