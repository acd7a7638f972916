//! Sessions that run, behind a model that rehearses over real HTTP, on both engines.

mod approving;
mod basics;
mod costs;
mod crashing;
mod delegating;
mod editing;
mod environment;
mod escalating;
mod gone;
mod guarded;
mod leasing;
mod local;
mod missing_tools;
mod notices;
mod parallel;
mod performing;
mod planning;
mod presets;
mod recent;
pub(crate) mod stage;
mod tool_sources;
mod unreachable;
mod unstored;
mod updating;
mod watching;
