//! The tools and the placeholders of an editing session.

use std::sync::Arc;

use futures::future::BoxFuture;
use tools::{Provided, RunContext, ToolSource};

use super::library_tools::{self, LibraryTool};
use super::planning::proposing;
use super::run::EditingRun;
use super::seed_tools;
use crate::Result;

/// The tools of the editor, for one run.
#[derive(Debug)]
pub(crate) struct EditorTools {
    run: Arc<EditingRun>,
    library: Arc<[LibraryTool]>,
}

impl EditorTools {
    pub(crate) fn new(run: EditingRun, library: Arc<[LibraryTool]>) -> Self {
        Self { run: Arc::new(run), library }
    }

    /// The placeholders of the editor's prompt, with their values.
    pub(crate) async fn placeholders(&self) -> Result<[(&'static str, String); 2]> {
        let persona = self.run.persona().await?.entity;
        let name = persona.display_name.unwrap_or_else(|| persona.name.to_string());
        Ok([("{{persona_id}}", persona.name.to_string()), ("{{persona_name}}", name)])
    }
}

impl ToolSource for EditorTools {
    fn tools<'a>(&'a self, _: RunContext<'a>) -> BoxFuture<'a, Provided> {
        let mut tools = seed_tools::tools(&self.run);
        tools.extend(library_tools::tools(&self.run, &self.library));
        if self.run.is_planning() {
            tools = tools.into_iter().map(proposing).collect();
        }
        Box::pin(std::future::ready(tools.into()))
    }
}

/// Fills placeholders in. A value is not searched for further ones.
pub(crate) fn fill_in(text: &str, placeholders: &[(&'static str, String)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let next = placeholders.iter().filter_map(|(mark, value)| Some((rest.find(mark)?, mark, value)));
        let Some((at, mark, value)) = next.min_by_key(|(at, _, _)| *at) else { break };
        filled.push_str(&rest[..at]);
        filled.push_str(value);
        rest = &rest[at + mark.len()..];
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::fill_in;

    #[test]
    fn placeholders_are_filled_in_once() {
        let values = [("{{a}}", "{{b}}".to_owned()), ("{{b}}", "two".to_owned())];
        for (text, expected) in [
            ("", ""),
            ("plain {{c}}", "plain {{c}}"),
            ("{{b}}, {{a}}, {{b}}.", "two, {{b}}, two."),
            ("{{{a}}}", "{{{b}}}"),
        ] {
            assert_eq!(fill_in(text, &values), expected, "{text:?}");
        }
    }
}
