//! Worktrees as the conductor uses them: against real repositories, real commands and a git that dies.

mod checkpoints;
mod cleaning;
mod committing;
mod conflicts;
mod creating;
mod finishing;
mod hostile;
mod inspecting;
mod integrating;
mod killed;
mod processes;
mod sandbox;
mod setting_up;
mod submodules;
mod untouched;
mod verifying;
mod whole_life;
