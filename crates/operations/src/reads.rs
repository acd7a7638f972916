//! Reads of the library as boxed futures, for MCP's resources, prompts and completions. A front that
//! awaits these compiles no future of `app`.

use std::sync::Arc;

use app::inputs::{ByName, GetPersona};
use app::outputs::{FullEntity, ListItem, Manifest, Page, Prompt};
use app::{Change, Library, ListQuery, Rendered, Result};
use futures::future::BoxFuture;
use persona::{Guardrail, Kind, Name, Part, Skill, Trait};

/// A library whose reads are boxed.
#[derive(Debug, Clone, Copy)]
pub struct Reads<'a>(pub &'a Library);

impl<'a> Reads<'a> {
    pub fn list(self, kind: Kind, query: impl Into<ListQuery>) -> BoxFuture<'a, Result<Page>> {
        let query = query.into();
        Box::pin(self.0.list(kind, query))
    }

    pub fn persona(self, input: &'a GetPersona) -> BoxFuture<'a, Result<Arc<Rendered>>> {
        Box::pin(self.0.get_persona(input))
    }

    pub fn manifest(self, input: &'a ByName) -> BoxFuture<'a, Result<Manifest>> {
        Box::pin(self.0.manifest(input))
    }

    pub fn prompt(self, input: &'a GetPersona) -> BoxFuture<'a, Result<Prompt>> {
        Box::pin(self.0.prompt(input))
    }

    pub fn part(self, input: &'a ByName) -> BoxFuture<'a, Result<FullEntity<Part>>> {
        Box::pin(self.0.get(input))
    }

    pub fn trait_(self, input: &'a ByName) -> BoxFuture<'a, Result<FullEntity<Trait>>> {
        Box::pin(self.0.get(input))
    }

    pub fn skill(self, input: &'a ByName) -> BoxFuture<'a, Result<FullEntity<Skill>>> {
        Box::pin(self.0.get(input))
    }

    pub fn guardrail(self, input: &'a ByName) -> BoxFuture<'a, Result<FullEntity<Guardrail>>> {
        Box::pin(self.0.get(input))
    }

    pub fn recent_personas(self, limit: usize) -> BoxFuture<'a, Result<Vec<ListItem>>> {
        Box::pin(self.0.recent_personas(limit))
    }

    pub fn complete_names(
        self,
        kind: Kind,
        prefix: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Name>>> {
        Box::pin(self.0.complete_names(kind, prefix, limit))
    }

    pub fn may_differ(self, persona: &'a Name, changes: &'a [Change]) -> BoxFuture<'a, bool> {
        Box::pin(self.0.may_differ(persona, changes))
    }
}
