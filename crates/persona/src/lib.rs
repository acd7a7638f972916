//! The domain of Masque: personas and their pieces, and how they are layered, assembled within a
//! budget, shown and compiled.
//!
//! Pure: no clock, no I/O, no async. The caller passes a loaded [`Bundle`], a [`AssemblyRequest`] and a
//! [`TokenCounter`]; the same input always gives the same output. This crate must not know where
//! entities are stored, nor who asks for them.

pub mod limits;

mod name;
pub use name::{Name, NameError};

mod kind;
pub use kind::{
    Aggregation, Approval, ContextView, MergeMode, ParseKindError, PartType, Scope, Severity, TraitType,
};

pub mod field;
pub use field::Field;

mod base;
pub use base::{BaseRef, BaseRefError};

mod references;
pub use references::{Reference, Rename};

mod entity;
pub use entity::{Entity, Tags, shortened};

mod kinds;
pub use kinds::{
    AnyEntity, BiasProfile, CharacterArc, ContextEntry, ContextPreset, Example, Guardrail, Kind, Part,
    PartLink, Persona, PlanPersona, PreferredModel, PresetTool, Skill, Stage, TestInput, ToolPreset, Trait,
    fields_of_type,
};

mod check;
pub use check::{BrokenRule, Invalid};

mod bundle;
pub use bundle::{ActiveStage, Base, Bundle, Compiled, LoadedArc, Meta, PieceScope, Stored};

pub mod catalog;

mod chain;
pub use chain::{Chain, ChainError, Link};

mod inherit;

mod layers;
pub use layers::{LayerOrigin, OverrideError, PlacedPart};

mod tokens;
pub use tokens::TokenCounter;

mod assembly;
pub use assembly::{Assembled, AssemblyRequest, Form, LeftOut, LeftOutKind, LeftOutReason, assemble};

mod view;
pub use view::{
    ArcView, Budget, GuardrailView, PartView, PersonaView, SkillView, TraitView, View, budget, view,
};

mod manifest;
pub use manifest::{
    Manifest, ManifestArc, ManifestItem, ManifestPart, ManifestTokens, ManifestTrait, manifest,
};

mod compile;
pub use compile::{CompiledText, compile, compile_view, fingerprint};

pub mod env;

mod prompt;
pub use prompt::{Environment, Filler, PromptProblem, prompt};

pub mod explain;

pub mod lint;

mod suggest;
pub use suggest::nearest;

mod report;
pub use report::{AsReport, Code, ErrorKind, FilePlace, Remedy, Report, Subject, one_of};
