//! Loads personas: views, manifests and compiled text, current or at a revision.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use persona::{
    Assembled, AssemblyRequest, BaseRef, Bundle, Chain, ChainError, Compiled, Form, Kind, Link, Manifest,
    Meta, Name, OverrideError, PersonaView, Scope, TokenCounter as _, View, assemble, manifest,
};

use store::Rendered;

use crate::inputs::{ByName, CompilePersona, GetPersona};
use crate::outputs::{CompiledPersona, Prompt};
use crate::{Error, Library, Result, ValueError};

/// A bundle, owned or shared with the cache.
pub(crate) enum Whole {
    Current(Arc<store::Loaded>),
    Frozen(Box<Bundle>),
}

impl Whole {
    pub(crate) fn bundle(&self) -> &Bundle {
        match self {
            Self::Current(loaded) => &loaded.bundle,
            Self::Frozen(bundle) => bundle,
        }
    }
}

impl Library {
    /// A persona, assembled as requested, as the JSON to send. Cached for hot personas.
    #[boxed]
    pub async fn get_persona(&self, input: &GetPersona) -> Result<Arc<Rendered>> {
        let request = request(input);
        if !request.is_plain() || input.compiled || input.revision.is_some() {
            return Ok(Arc::new(Rendered::new(json(&self.view_persona(input).await?))));
        }
        match self.scopes.rendered(&input.name, input.scope, request.view, render_plain).await {
            Ok(Some(answer)) => {
                self.scopes.database().usage().note(&input.name);
                Ok(answer)
            }
            Ok(None) => Err(self.missing_in(Kind::Persona, &input.name, input.scope).await),
            Err(error) => Err(self.broken_base(error).await),
        }
    }

    /// A persona, assembled as requested.
    async fn view_persona(&self, input: &GetPersona) -> Result<PersonaView> {
        let request = request(input);
        if input.compiled {
            return self.view_compiled(input, &request).await;
        }
        let whole = self.whole(input, &request).await?;
        let assembled = self.assemble(whole.bundle(), &request).await?;
        Ok(persona::view(&assembled, &request, self.tokenizer.tokenizer()))
    }

    /// The compiled text alone, with overrides and budgets. Complete unless `detail` is false. Stores
    /// nothing.
    #[boxed]
    pub async fn prompt(&self, input: &GetPersona) -> Result<Prompt> {
        let view = view_of(input.detail.unwrap_or(true));
        let request = AssemblyRequest { view, form: Form::Text, ..request(input) };
        let whole = self.whole(input, &request).await?;
        let assembled = self.assemble(whole.bundle(), &request).await?;
        Ok(Prompt {
            text: persona::compile_view(&assembled, view),
            budget: persona::budget(&assembled, &request, self.tokenizer.tokenizer()),
        })
    }

    pub(crate) async fn assemble<'a>(
        &self,
        bundle: &'a Bundle,
        request: &AssemblyRequest,
    ) -> Result<Assembled<'a>> {
        match assemble(bundle, request, &self.tokenizer) {
            Ok(assembled) => Ok(assembled),
            Err(error) => Err(self.bad_override(error).await),
        }
    }

    /// The pieces of a persona, without contents.
    #[boxed]
    pub async fn manifest(&self, input: &ByName) -> Result<Manifest> {
        let loaded = self.load(&input.name, input.scope, &AssemblyRequest::default()).await?;
        Ok(manifest(&loaded.bundle.assembled(), &self.tokenizer))
    }

    /// Compiles a persona from its current parts and stage, and stores the text. A text with overrides,
    /// filters or budgets is not stored.
    #[boxed]
    pub async fn compile_persona(&self, input: &CompilePersona) -> Result<CompiledPersona> {
        let request = request(&compiled_once(input));
        if !request.is_plain() {
            return self.compile_cut(input, &request).await;
        }
        let loaded = self.load(&input.name, input.scope, &AssemblyRequest::default()).await?;
        let compiled = self.up_to_date(&loaded.bundle).await?;
        let is_detail = request.view == View::Detail;
        Ok(CompiledPersona {
            name: input.name.clone(),
            scope: loaded.bundle.meta.scope,
            revision: loaded.bundle.meta.revision,
            compiled_summary: (input.both || !is_detail).then_some(compiled.summary),
            compiled_detail: (input.both || is_detail).then_some(compiled.detail),
            compiled_at: Some(compiled.at),
            budget: None,
        })
    }

    /// The compiled text of one call. Its tokens are those of the same answer as a view.
    async fn compile_cut(
        &self,
        input: &CompilePersona,
        request: &AssemblyRequest,
    ) -> Result<CompiledPersona> {
        if input.both {
            // A budget holds for one text.
            return Err(ValueError::SeveralGiven { fields: both_and(request) }.into());
        }
        let loaded = self.load(&input.name, input.scope, request).await?;
        let assembled = self.assemble(&loaded.bundle, request).await?;
        let PersonaView { name, compiled_summary, compiled_detail, budget, .. } =
            persona::view(&assembled, request, self.tokenizer.tokenizer());
        let Meta { scope, revision, .. } = loaded.bundle.meta;
        Ok(CompiledPersona {
            name,
            scope,
            revision,
            compiled_summary,
            compiled_detail,
            compiled_at: None,
            budget,
        })
    }

    pub(crate) async fn load(
        &self,
        name: &Name,
        scope: Option<Scope>,
        request: &AssemblyRequest,
    ) -> Result<Arc<store::Loaded>> {
        match self.scopes.load(name, scope, &request.overrides).await {
            Ok(Some(loaded)) => {
                self.scopes.database().usage().note(name);
                Ok(loaded)
            }
            Ok(None) => Err(self.missing_in(Kind::Persona, name, scope).await),
            Err(error) => Err(self.broken_base(error).await),
        }
    }

    /// Adds a suggestion to the error of a missing base.
    pub(crate) async fn broken_base(&self, error: scopes::Error) -> Error {
        let (chain, base) = match error {
            scopes::Error::Store(store::Error::Chain(ChainError::Missing { chain, base, .. })) => {
                (chain, base)
            }
            scopes::Error::Store(store::Error::Chain(error)) => return self.with_namesake(error).await,
            error => return error.into(),
        };
        let meant = self.meant_base(&chain, &base).await;
        store::Error::from(chain.missing(&base, meant)).into()
    }

    /// The base that a missing one may have meant: one that exists and can be extended.
    pub(crate) async fn meant_base(&self, chain: &Chain, base: &BaseRef) -> Option<BaseRef> {
        let near = self.scopes.near_names(Kind::Persona, base.name.as_str()).await.unwrap_or_default();
        for name in near.iter().filter_map(|name| Name::parse(name).ok()) {
            let scopes = self.scopes.scopes_of(Kind::Persona, &name).await.unwrap_or_default();
            if let Some(meant) = chain.reference(&name, &scopes) {
                return Some(meant);
            }
        }
        None
    }

    async fn with_namesake(&self, error: ChainError) -> Error {
        let scopes = match &error {
            ChainError::Cycle { back_to: Link(_, name), .. } => {
                self.scopes.scopes_of(Kind::Persona, name).await
            }
            _ => Ok(Vec::new()),
        };
        store::Error::from(error.or_namesake(&scopes.unwrap_or_default())).into()
    }

    /// The persona of a request, current or at a revision.
    pub(crate) async fn whole(&self, input: &GetPersona, request: &AssemblyRequest) -> Result<Whole> {
        let Some(revision) = &input.revision else {
            return Ok(Whole::Current(self.load(&input.name, input.scope, request).await?));
        };
        let mut bundle = self.frozen(&input.name, input.scope, &revision.parse()).await?;
        self.scopes.override_frozen(&mut bundle, &request.overrides).await?;
        Ok(Whole::Frozen(Box::new(bundle)))
    }

    /// The compiled text alone; the stored one if the request is plain and it is up to date.
    async fn view_compiled(&self, input: &GetPersona, request: &AssemblyRequest) -> Result<PersonaView> {
        let whole = self.whole(input, request).await?;
        let loaded = match &whole {
            Whole::Current(loaded) if request.is_plain() => loaded,
            _ => {
                let assembled = self.assemble(whole.bundle(), request).await?;
                return Ok(persona::view(&assembled, request, self.tokenizer.tokenizer()));
            }
        };
        let compiled = self.up_to_date(&loaded.bundle).await?;
        let mut view = PersonaView::named(input.name.clone());
        view.scope = Some(loaded.bundle.meta.scope);
        view.revision = Some(loaded.bundle.meta.revision);
        match request.view {
            View::Summary => view.compiled_summary = Some(compiled.summary),
            View::Detail => view.compiled_detail = Some(compiled.detail),
        }
        Ok(view)
    }

    async fn up_to_date(&self, bundle: &Bundle) -> Result<Compiled> {
        let assembled = bundle.assembled();
        if let Some(compiled) = &bundle.compiled
            && compiled.fingerprint == persona::fingerprint(&assembled)
        {
            return Ok(compiled.clone());
        }
        let text = persona::compile(&assembled);
        Ok(self.scopes.store_compiled(bundle.meta.scope, &bundle.persona.name, &text).await?)
    }

    pub(crate) async fn bad_override(&self, error: OverrideError) -> Error {
        let near = match &error {
            OverrideError::Unknown { name, .. } => {
                self.scopes.near_names(Kind::Part, name.as_str()).await.unwrap_or_default()
            }
            OverrideError::WrongType { .. } => Vec::new(),
        };
        Error::Override { source: error, near: near.into_iter().take(1).collect() }
    }
}

pub(crate) fn request(input: &GetPersona) -> AssemblyRequest {
    AssemblyRequest {
        // Compiled text is complete unless the caller asks for the short one.
        view: view_of(input.detail.unwrap_or(input.compiled)),
        form: if input.compiled { Form::Compiled } else { Form::Pieces },
        overrides: input.overrides.clone().unwrap_or_default(),
        types: input.types.clone().unwrap_or_default(),
        limit: input.limit.map(|limit| limit as usize),
        max_tokens: input.max_tokens.map(|max_tokens| max_tokens as usize),
    }
}

/// The same text, loaded without keeping it.
fn compiled_once(input: &CompilePersona) -> GetPersona {
    let CompilePersona { name, detail, both: _, overrides, types, limit, max_tokens, scope } = input.clone();
    GetPersona { name, detail, overrides, types, limit, max_tokens, compiled: true, revision: None, scope }
}

/// `both`, and the field that changes or cuts the text.
fn both_and(request: &AssemblyRequest) -> &'static [&'static str] {
    match request {
        AssemblyRequest { overrides, .. } if !overrides.is_empty() => &["both", "overrides"],
        AssemblyRequest { types, .. } if !types.is_empty() => &["both", "types"],
        AssemblyRequest { limit: Some(_), .. } => &["both", "limit"],
        _ => &["both", "max_tokens"],
    }
}

pub(crate) fn view_of(is_detail: bool) -> View {
    if is_detail { View::Detail } else { View::Summary }
}

/// The view that [`Library::get_persona`] rendered.
pub fn parse_view(rendered: &Rendered) -> PersonaView {
    match serde_json::from_str(rendered.json()) {
        Ok(view) => view,
        Err(error) => unreachable!("it was rendered from a view: {error}"),
    }
}

/// The view of a request without overrides, filters and budgets.
fn render_plain(bundle: &Bundle, view: View) -> String {
    json(&persona::view(&bundle.assembled(), &AssemblyRequest::plain(view), ""))
}

fn json(view: &PersonaView) -> String {
    serde_json::to_string(view).unwrap_or_default()
}
