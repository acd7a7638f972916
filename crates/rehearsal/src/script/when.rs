//! The condition of a reply.

use serde::Deserialize;

use super::Pattern;
use crate::protocol::Protocol;
use crate::request_content::RequestContent;

/// All conditions that are set must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct When {
    pub(crate) last_user: Option<Pattern>,
    pub(crate) tool_result: Option<Pattern>,
    pub(crate) tool_result_of: Option<String>,
    pub(crate) system: Option<Pattern>,
    pub(crate) model: Option<Pattern>,
    /// Tools that must all be offered.
    pub(crate) tools: Vec<String>,
    pub(crate) no_tools: Option<NoTools>,
    /// The nth call of the conversation: one more than the assistant's turns so far.
    pub(crate) call: Option<u32>,
    /// The nth request that the server got.
    pub(crate) request: Option<u64>,
    pub(crate) mode: Option<PromptMode>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) stream: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum NoTools {
    /// True matches requests without tools, false those with tools.
    AtAll(bool),
    /// None of these is offered.
    Of(Vec<String>),
}

/// Plan mode, if the system text has its reminder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PromptMode {
    Plan,
    Build,
}

const REMINDER: &str = "<system-reminder>";

impl When {
    pub(crate) fn holds(&self, received: &RequestContent, request: u64) -> bool {
        self.cheap(received, request) && self.tools_offered(received) && self.said(received)
    }

    fn cheap(&self, received: &RequestContent, request: u64) -> bool {
        self.call.is_none_or(|call| call == received.call)
            && self.request.is_none_or(|wanted| wanted == request)
            && self.protocol.is_none_or(|protocol| protocol == received.protocol)
            && self.stream.is_none_or(|stream| stream == received.streams)
    }

    fn tools_offered(&self, received: &RequestContent) -> bool {
        let offered = |name: &String| received.tools.contains(name);
        self.tools.iter().all(offered)
            && match &self.no_tools {
                None => true,
                Some(NoTools::AtAll(none)) => received.tools.is_empty() == *none,
                Some(NoTools::Of(names)) => !names.iter().any(offered),
            }
    }

    fn said(&self, received: &RequestContent) -> bool {
        let found = |pattern: &Option<Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
        };
        self.answers_user(received)
            && self.answers_result(received)
            && found(&self.system, &received.system)
            && found(&self.model, &received.model)
            && self.mode.is_none_or(|mode| (mode == PromptMode::Plan) == received.system.contains(REMINDER))
    }

    /// A user's message counts as answered once tools have answered: a reply that matches it
    /// alone would otherwise call the same tools forever.
    fn answers_user(&self, received: &RequestContent) -> bool {
        let Some(pattern) = &self.last_user else { return true };
        let is_answered = !received.user_speaks && !received.results.is_empty();
        let looks_on = self.tool_result.is_some() || self.tool_result_of.is_some() || self.call.is_some();
        (looks_on || !is_answered) && pattern.matches(&received.last_user)
    }

    /// One result must fulfil both conditions.
    fn answers_result(&self, received: &RequestContent) -> bool {
        if self.tool_result.is_none() && self.tool_result_of.is_none() {
            return true;
        }
        received.results.iter().any(|result| {
            self.tool_result_of.as_ref().is_none_or(|name| *name == result.tool)
                && self.tool_result.as_ref().is_none_or(|pattern| pattern.matches(&result.text))
        })
    }
}
