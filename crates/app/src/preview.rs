//! Previews: an unsaved persona as it would be compiled, explained and checked if it were saved. Nothing is
//! written.

use std::collections::BTreeSet;

use async_recursion::async_recursion as boxed;
use persona::catalog::resolve;
use persona::explain::Explanation;
use persona::{
    AnyEntity, AssemblyRequest, Bundle, ChainError, Form, Kind, Name, Persona, Preview, Reference, Scope,
    TokenCounter as _, limits, says_nothing,
};
use scopes::{Draft, DraftCatalog, Overrides};
use serde_json::{Map, Value};

use crate::entities::parse;
use crate::inputs::{DraftPiece, ExpectedType, ExplainDraft, GetPersona, InputError, PreviewPersona};
use crate::library::checked;
use crate::lint::lint_draft;
use crate::outputs::{
    LeftOutPiece, LintFinding, PersonaPreview, PreviewPoint, PreviewTokens, TextBlock, TextOrigins,
};
use crate::personas::{request, view_of};
use crate::scope::is_linked;
use crate::{ArcError, Error, Library, LintOptions, Result, ValueError};

/// A draft that could be saved, with everything it refers to.
struct Prepared {
    scope: Scope,
    /// The drafts; the persona is the first.
    drafts: Vec<(Scope, AnyEntity)>,
    catalog: DraftCatalog,
    bundle: Bundle,
}

impl Library {
    /// Compiles an unsaved persona, in blocks with their origins, and checks it.
    #[boxed]
    pub async fn preview_persona(&self, input: PreviewPersona, lint: &LintOptions) -> Result<PersonaPreview> {
        let PreviewPersona { entity, pieces, overrides, stage, types, limit, max_tokens, detail, scope } =
            input;
        let request = AssemblyRequest {
            view: view_of(detail.unwrap_or(true)),
            form: Form::Text,
            overrides: overrides.unwrap_or_default(),
            types: types.unwrap_or_default(),
            limit: limit.map(|limit| limit as usize),
            max_tokens: max_tokens.map(|max_tokens| max_tokens as usize),
        };
        let draft = self.parse_draft(entity, pieces, scope).await?;
        let Prepared { scope, drafts, catalog, bundle } =
            self.prepare(draft, &request.overrides, stage.as_ref()).await?;
        let counter = &self.counts;
        let previewed = match persona::preview(&bundle, &request, counter) {
            Ok(previewed) => previewed,
            Err(error) => return Err(self.bad_override(error).await),
        };
        let found = lint_draft(&drafts, &catalog, &bundle, &lint.settings(), counter);
        let total = previewed.tokens();
        let Preview { blocks, left_out, over_budget, budget_points } = previewed;
        Ok(PersonaPreview {
            name: bundle.persona.name.clone(),
            scope,
            tokens: self.counted(total),
            blocks: blocks.into_iter().map(TextBlock::from).collect(),
            left_out: left_out.into_iter().map(LeftOutPiece::from).collect(),
            over_budget,
            budget_points: budget_points.into_iter().map(PreviewPoint::from).collect(),
            stage: bundle.stage.map(|stage| stage.stage),
            problems: found.into_iter().map(LintFinding::of_draft).collect(),
        })
    }

    /// The layer and scope that each field and part of an unsaved persona comes from.
    #[boxed]
    pub async fn explain_draft(&self, input: ExplainDraft) -> Result<Explanation> {
        let ExplainDraft { entity, pieces, stage, scope } = input;
        let draft = self.parse_draft(entity, pieces, scope).await?;
        let Prepared { drafts, bundle, .. } = self.prepare(draft, &Overrides::new(), stage.as_ref()).await?;
        let drafted = drafts.iter().map(|(scope, draft)| (*scope, draft.kind(), draft.name()));
        let holders = self.holders(&bundle, drafted).await?;
        Ok(persona::explain::explain(&bundle, &holders))
    }

    /// The compiled text of a stored persona in blocks, with overrides and budgets.
    #[boxed]
    pub async fn text_origins(&self, input: &GetPersona) -> Result<TextOrigins> {
        let view = view_of(input.detail.unwrap_or(true));
        let request = AssemblyRequest { view, form: Form::Text, ..request(input) };
        let whole = self.whole(input, &request).await?;
        let assembled = self.assemble(whole.bundle(), &request).await?;
        let blocks = persona::blocks(&assembled, view, &self.counts);
        Ok(TextOrigins {
            name: input.name.clone(),
            scope: whole.bundle().meta.scope,
            tokens: self.counted(blocks.iter().map(|block| block.tokens).sum()),
            blocks: blocks.into_iter().map(TextBlock::from).collect(),
            budget: persona::budget(&assembled, &request, self.counts.tokenizer()),
        })
    }

    /// Tokens as this library counts them. Models have tokenizers of their own.
    fn counted(&self, total: usize) -> PreviewTokens {
        PreviewTokens { total, counter: self.counts.tokenizer().to_owned(), exact: false }
    }

    /// Parses drafts as callers write them, and finds their scopes.
    async fn parse_draft(
        &self,
        entity: Map<String, Value>,
        pieces: Option<Vec<DraftPiece>>,
        scope: Option<Scope>,
    ) -> Result<Draft> {
        let pieces = pieces.unwrap_or_default();
        let (most, count) = (limits::DRAFT_PIECES, pieces.len());
        if count > most {
            return Err(ValueError::OutOfRange { field: "pieces", low: 0, high: most, value: count }.into());
        }
        let AnyEntity::Persona(persona) = parse_named(Kind::Persona, "entity", entity)? else {
            unreachable!("a persona is parsed as one");
        };
        let scope = self.scope_for_change(Kind::Persona, &persona.name, scope).await?;
        let mut parsed = Vec::with_capacity(pieces.len());
        for (at, DraftPiece { kind, entity, scope }) in pieces.into_iter().enumerate() {
            parsed.push((scope, parse_named(kind, &format!("pieces[{at}].entity"), entity)?));
        }
        let names = parsed.iter().map(|(_, piece)| (piece.kind(), piece.name().clone())).collect();
        let stored = self.scopes.scopes_of_each(&names).await?;
        // The persona means the piece of the strongest scope that it sees. Builtins are replaced in its own.
        let meant = |piece: &AnyEntity| {
            let scopes = stored.get(&(piece.kind(), piece.name().clone()));
            let is_there = |at: Scope| scopes.is_some_and(|scopes| scopes.contains(&at)).then_some(());
            let found = resolve(scope, None, is_there).map(|(found, ())| found);
            found.filter(|found| *found != Scope::Builtin).unwrap_or(scope)
        };
        let pieces: Vec<(Scope, AnyEntity)> = parsed
            .into_iter()
            .map(|(named, piece)| (named.unwrap_or_else(|| meant(&piece)), piece))
            .collect();
        let mut known = BTreeSet::from([(scope, Kind::Persona, persona.name.clone())]);
        for (at, (scope, piece)) in pieces.iter().enumerate() {
            if !known.insert((*scope, piece.kind(), piece.name().clone())) {
                let (field, name) = (format!("pieces[{at}].entity.name"), piece.name().clone());
                return Err(ValueError::NamedTwice { field, name }.into());
            }
        }
        Ok(Draft { scope, persona, pieces })
    }

    /// Checks drafts as a write does, and resolves everything that they refer to.
    async fn prepare(&self, draft: Draft, overrides: &Overrides, stage: Option<&Name>) -> Result<Prepared> {
        let scope = draft.scope;
        let persona = [(scope, AnyEntity::from(draft.persona.clone()))];
        let drafts: Vec<(Scope, AnyEntity)> =
            persona.into_iter().chain(draft.pieces.iter().cloned()).collect();
        for (scope, entity) in &drafts {
            self.scopes.check_draft_scope(*scope)?;
            checked(entity)?;
            self.scopes.refuse_broken(*scope, entity.kind(), entity.name())?;
        }
        let catalog = self.scopes.draft_catalog(draft, overrides).await?;
        for (scope, entity) in &drafts {
            self.check_references(&catalog, *scope, entity).await?;
        }
        let bundle = self.draft_bundle(&catalog, stage).await?;
        self.check_says_something(&bundle).await?;
        if let Some(stage) = stage {
            check_stage(&catalog, &bundle, stage)?;
        }
        Ok(Prepared { scope, drafts, catalog, bundle })
    }

    /// Fails if a draft refers to something that its scope does not see. Presets that were missing before
    /// are left to lint.
    async fn check_references(&self, catalog: &DraftCatalog, scope: Scope, entity: &AnyEntity) -> Result<()> {
        let is_missing =
            |it: &Reference| it.kind != Kind::Persona && catalog.scope_of(scope, it.kind, &it.name).is_none();
        let missing: Vec<Reference> = entity.references().into_iter().filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let stored = self.scopes.get_any(entity.kind(), entity.name(), Some(scope)).await?;
        let before = stored.map(|stored| stored.entity.references()).unwrap_or_default();
        let (linked, presets): (Vec<Reference>, Vec<Reference>) =
            missing.into_iter().partition(|it| is_linked(it.kind));
        let presets = presets.into_iter().filter(|it| !before.contains(it));
        match linked.into_iter().chain(presets).next() {
            Some(Reference { kind, name, .. }) => {
                let found = self.scopes.scopes_of(kind, &name).await?;
                Err(self.out_of_reach(kind, &name, scope, &found).await)
            }
            None => Ok(()),
        }
    }

    async fn draft_bundle(&self, catalog: &DraftCatalog, stage: Option<&Name>) -> Result<Bundle> {
        match self.scopes.draft_bundle(catalog, stage).await {
            Ok(bundle) => Ok(bundle),
            Err(scopes::Error::Store(store::Error::Chain(ChainError::Missing { chain, base, .. }))) => {
                let meant = self.meant_base(&chain, &base).await;
                Err(Error::BaseNotFound(chain.missing(&base, meant)))
            }
            Err(error) => Err(self.broken_base(error).await),
        }
    }

    /// Fails if a new persona's prompt would be empty.
    async fn check_says_something(&self, bundle: &Bundle) -> Result<()> {
        let Bundle { persona, meta, bases, .. } = bundle;
        let chain = std::iter::once(persona).chain(bases.iter().rev().map(|base| &base.persona));
        if !says_nothing(chain) {
            return Ok(());
        }
        match self.scopes.get::<Persona>(&persona.name, Some(meta.scope)).await? {
            Some(_) => Ok(()),
            None => Err(Error::SaysNothing { name: persona.name.clone() }),
        }
    }
}

/// Parses a draft that has its name inside.
fn parse_named(kind: Kind, place: &str, entity: Map<String, Value>) -> Result<AnyEntity> {
    match entity.get("name").cloned() {
        Some(Value::String(name)) => parse(kind, &name, entity),
        None | Some(Value::Null) => {
            Err(InputError::Missing { parent: place.to_owned(), field: "name" }.into())
        }
        Some(other) => {
            let (field, expected) = (format!("{place}.name"), ExpectedType::Text);
            Err(InputError::Type { field, expected, found: other.to_string() }.into())
        }
    }
}

/// Fails if the persona's arc does not have a stage.
fn check_stage(catalog: &DraftCatalog, bundle: &Bundle, wanted: &Name) -> Result<()> {
    let Some(active) = &bundle.stage else {
        let personas =
            std::iter::once(&bundle.persona).chain(bundle.bases.iter().rev().map(|base| &base.persona));
        let arc = personas.into_iter().find_map(|persona| persona.arc.clone());
        let persona = bundle.persona.name.clone();
        return Err(arc.map_or(ArcError::NoArc { persona }, |arc| ArcError::NoStages { arc }).into());
    };
    if active.stage == *wanted {
        return Ok(());
    }
    let arc = catalog.arc(active.scope, &active.arc);
    let known = arc.map(|arc| arc.stages.iter().map(|stage| stage.name.to_string()).collect());
    let (arc, stage) = (active.arc.clone(), wanted.clone());
    Err(ArcError::UnknownStage { arc, stage, known: known.unwrap_or_default() }.into())
}
