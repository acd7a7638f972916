//! Decides about a call: run it, ask the user, or refuse it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    Annotations, Approval, ApprovalAnswer, ApprovalPolicy, Concern, Mode, PendingCall, Permission, Refusal,
    Refused, Selected, TICKETS_SET, Tool,
};

/// The set of the tools that are confined to the files below a session's root.
const FILES: &str = "files";
/// Characters of an unknown tool's name that are repeated to the model.
const NAME_CHARS: usize = 80;

/// The decision about a call.
#[derive(Debug, Clone)]
pub enum Verdict<'a> {
    Run(&'a Selected),
    Ask,
    Refuse(Refused),
}

/// The inputs of a verdict, except the call.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    pub mode: Mode,
    /// The tools that the model was offered.
    pub offer: &'a [Selected],
    /// All tools of the run, those included that the mode hides.
    pub tools: &'a [Arc<Tool>],
    pub decisions: &'a Decisions,
    pub policy: ApprovalPolicy,
    /// True if the run, or one that delegated to it, has a viewer.
    pub is_watched: bool,
}

/// Users' decisions about calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    by_call: BTreeMap<String, ApprovalAnswer>,
    /// Tool → true if it may run for the rest of the session.
    remembered: BTreeMap<String, bool>,
}

impl Decisions {
    /// Adds the session's own requests. An answer counts for its call, and for the tool if it is to
    /// be remembered. The first answer about a tool counts.
    pub fn add_own(&mut self, requests: impl IntoIterator<Item = Approval>) {
        for Approval { call, answer, .. } in requests {
            let Some(answer) = answer else { continue };
            self.remember(call.name, &answer);
            self.by_call.insert(call.id, answer);
        }
    }

    /// Adds the requests of a session above. Add the nearest first: it takes precedence.
    pub fn add_inherited(&mut self, requests: impl IntoIterator<Item = Approval>) {
        for Approval { call, answer, .. } in requests {
            if let Some(answer) = answer {
                self.remember(call.name, &answer);
            }
        }
    }

    fn remember(&mut self, tool: String, answer: &ApprovalAnswer) {
        if answer.remember {
            self.remembered.entry(tool).or_insert(answer.approved);
        }
    }
}

impl<'a> Circumstances<'a> {
    /// The verdict over a call. A decision about the call itself counts before one about its tool,
    /// and both before the policy. With a concern, only a decision about the call itself allows it.
    pub fn judge(&self, PendingCall { call, malformed }: &PendingCall, concerns: &[Concern]) -> Verdict<'a> {
        if let Some(problem) = malformed {
            let message = format!(
                "The arguments of {} could not be read: {problem}. Call it again with a JSON object that \
                 matches its schema.",
                call.name
            );
            return Verdict::Refuse(Refused::new(Refusal::MalformedArguments, message));
        }
        let Some(selected) = self.selected(&call.name) else {
            return Verdict::Refuse(self.not_offered(&call.name));
        };
        let is_free = concerns.is_empty();
        if is_free && selected.permission == Permission::Allow {
            return Verdict::Run(selected);
        }
        if let Some(answer) = self.decisions.by_call.get(&call.id) {
            return match answer.approved {
                true => Verdict::Run(selected),
                false => Verdict::Refuse(rejected(answer.reason.as_deref())),
            };
        }
        match self.decisions.remembered.get(&call.name) {
            Some(true) if is_free => return Verdict::Run(selected),
            Some(false) => return Verdict::Refuse(rejected(None)),
            Some(true) | None => {}
        }
        let reads = selected.tool.annotations.is_known_to_read();
        let edits = reads || [FILES, TICKETS_SET].contains(&selected.tool.set);
        match self.policy {
            ApprovalPolicy::All | ApprovalPolicy::AllUnattended if is_free => Verdict::Run(selected),
            ApprovalPolicy::Read if is_free && reads => Verdict::Run(selected),
            ApprovalPolicy::Edit if is_free && edits => Verdict::Run(selected),
            ApprovalPolicy::Ask | ApprovalPolicy::Edit => Verdict::Ask,
            ApprovalPolicy::AskViewer | ApprovalPolicy::All if self.is_watched => Verdict::Ask,
            _ => Verdict::Refuse(nobody_to_ask(&call.name, concerns)),
        }
    }

    /// True if the verdict depends on decisions: they are read from storage only then.
    pub fn needs_decisions(offer: &[Selected], call: &PendingCall, concerns: &[Concern]) -> bool {
        let is_it = |selected: &&Selected| selected.tool.name == call.call.name;
        let asks = |selected: &Selected| selected.permission == Permission::Ask || !concerns.is_empty();
        offer.iter().find(is_it).is_some_and(asks)
    }

    fn selected(&self, name: &str) -> Option<&'a Selected> {
        self.offer.iter().find(|selected| selected.tool.name == name)
    }

    fn not_offered(&self, name: &str) -> Refused {
        let names: Vec<&str> = self.offer.iter().map(|selected| selected.tool.name.as_str()).collect();
        let others = match names.is_empty() {
            true => "no tools are available; answer without them".to_owned(),
            false => format!("available tools: {}", names.join(", ")),
        };
        let is_known = self.tools.iter().any(|tool| tool.name == name);
        let name: String = name.chars().take(NAME_CHARS).collect();
        match self.mode {
            Mode::Plan if is_known => {
                let message = format!("{name} was not run: plan mode has read-only tools only; {others}.");
                Refused::new(Refusal::PlanMode, message)
            }
            _ => Refused::new(Refusal::NotOffered, format!("Unknown tool {name:?}; {others}.")),
        }
    }
}

/// Checks the mode and the tool's hints once more when a tool begins: the session may have switched since
/// the verdict, and a server may have changed its tool.
pub fn check_begin(judged: &Tool, now: Annotations, mode: Mode) -> Result<(), Refused> {
    let name = &judged.name;
    if mode == Mode::Plan && !now.read_only_hint {
        let message =
            format!("{name} was not run: the session is in plan mode, which has read-only tools only.");
        return Err(Refused::new(Refusal::PlanMode, message));
    }
    if judged.annotations.is_known_to_read() && !now.is_known_to_read() {
        let message =
            format!("{name} was not run: its server changed it, and it no longer only reads. Call it again.");
        return Err(Refused::new(Refusal::NotOffered, message));
    }
    Ok(())
}

fn nobody_to_ask(name: &str, concerns: &[Concern]) -> Refused {
    let why = match concerns.first() {
        Some(Concern::Protected(path) | Concern::Secret(path)) => {
            format!("the user is always asked about {path}")
        }
        None => "it needs approval".to_owned(),
    };
    let message = format!(
        "{name} was not run: {why}, and there is no user to ask. Continue without it, or explain what you \
         would have used it for."
    );
    Refused::new(Refusal::NobodyToAsk, message)
}

fn rejected(reason: Option<&str>) -> Refused {
    let message = match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The user did not allow this: {reason}"),
        None => "The user did not allow this. Do not try it again in another form; ask what they want \
                 instead."
            .to_owned(),
    };
    Refused::new(Refusal::RejectedByUser, message)
}

#[cfg(test)]
mod tests;
