//! The domain of Masque: personas and their pieces, and how they are layered, assembled within a
//! budget, shown and compiled.
//!
//! Pure: no clock, no I/O, no async. The caller passes a loaded [`Bundle`], a [`AssemblyRequest`] and a
//! [`TokenCounter`]; the same input always gives the same output. This crate must not know where
//! entities are stored, nor who asks for them.

pub mod limits;

mod secret_files;
pub use secret_files::SECRET_FILES;

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
pub use entity::{Entity, Tags, is_blank, shortened};

mod kinds;
pub use kinds::{
    Anchor, AnchorPlace, AnyEntity, BiasProfile, CharacterArc, ContextEntry, ContextPreset, Ending, Example,
    Expectation, ExpectationTable, Fidelity, FormatRules, Guardrail, JsonRules, Kind, LabelledReply,
    Language, OverlapRules, Part, PartLink, Person, Persona, PlanPersona, PreferredModel, PresetTool, Probe,
    Range, ReplyChoice, Skill, Stage, TestInput, ToolPreset, Trait, fields_of_type,
};

mod check;
pub use check::{BrokenRule, Invalid};

mod bundle;
pub use bundle::{ActiveStage, Base, Bundle, Compiled, LoadedArc, Meta, PieceScope, Stored};

pub mod catalog;

mod chain;
pub use chain::{Chain, ChainError, Link};

mod inherit;

mod approvals;
pub use approvals::Approvals;

mod layers;
pub use layers::{LayerOrigin, OverrideError, PlacedPart};

mod tokens;
pub use tokens::TokenCounter;

mod assembly;
pub use assembly::{
    Assembled, AssemblyRequest, BudgetPoint, Form, LeftOut, LeftOutKind, LeftOutReason, Preview, assemble,
    preview,
};

mod view;
pub use view::{
    ArcView, Budget, GuardrailView, PartView, PersonaView, SkillView, TraitView, View, budget, view,
};

mod manifest;
pub use manifest::{
    Manifest, ManifestArc, ManifestItem, ManifestPart, ManifestTokens, ManifestTrait, manifest,
};

mod compile;
pub use compile::{
    Block, BlockForm, BlockKind, CompiledText, Origin, blocks, compile, compile_view, fingerprint,
};

pub mod env;

mod prompt;
pub use prompt::{Environment, Filler, PromptProblem, Unfilled, prompt};

mod silence;
pub use silence::says_nothing;

pub mod explain;

pub mod lint;

mod suggest;
pub use suggest::nearest;

mod report;
pub use report::{AsReport, Code, ErrorKind, FilePlace, Remedy, Report, Subject, one_of};
