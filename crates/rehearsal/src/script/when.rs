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
    pub(crate) fn holds(&self, heard: &RequestContent, request: u64) -> bool {
        self.cheap(heard, request) && self.tools_offered(heard) && self.said(heard)
    }

    fn cheap(&self, heard: &RequestContent, request: u64) -> bool {
        self.call.is_none_or(|call| call == heard.call)
            && self.request.is_none_or(|wanted| wanted == request)
            && self.protocol.is_none_or(|protocol| protocol == heard.protocol)
            && self.stream.is_none_or(|stream| stream == heard.streams)
    }

    fn tools_offered(&self, heard: &RequestContent) -> bool {
        let offered = |name: &String| heard.tools.contains(name);
        self.tools.iter().all(offered)
            && match &self.no_tools {
                None => true,
                Some(NoTools::AtAll(none)) => heard.tools.is_empty() == *none,
                Some(NoTools::Of(names)) => !names.iter().any(offered),
            }
    }

    fn said(&self, heard: &RequestContent) -> bool {
        let found = |pattern: &Option<Pattern>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
        };
        self.answers_user(heard)
            && self.answers_result(heard)
            && found(&self.system, &heard.system)
            && found(&self.model, &heard.model)
            && self.mode.is_none_or(|mode| (mode == PromptMode::Plan) == heard.system.contains(REMINDER))
    }

    /// A user's message counts as answered once tools have answered: a reply that matches it
    /// alone would otherwise call the same tools forever.
    fn answers_user(&self, heard: &RequestContent) -> bool {
        let Some(pattern) = &self.last_user else { return true };
        let is_answered = !heard.user_speaks && !heard.results.is_empty();
        let looks_on = self.tool_result.is_some() || self.tool_result_of.is_some() || self.call.is_some();
        (looks_on || !is_answered) && pattern.matches(&heard.last_user)
    }

    /// One result must fulfil both conditions.
    fn answers_result(&self, heard: &RequestContent) -> bool {
        if self.tool_result.is_none() && self.tool_result_of.is_none() {
            return true;
        }
        heard.results.iter().any(|result| {
            self.tool_result_of.as_ref().is_none_or(|name| *name == result.tool)
                && self.tool_result.as_ref().is_none_or(|pattern| pattern.matches(&result.text))
        })
    }
}
