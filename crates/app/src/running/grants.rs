//! The user's grants.

/// The user's grants. A run asks anew: a project's file, a preset and the user's list may change while a
/// server runs.
pub trait Grants: Send + Sync {
    /// True if the user trusts the open project with this text of its personas.toml.
    fn trusts_project(&self, text: &str) -> bool;

    /// True if the user confirmed the tool preset of this hash; see [`agent::preset_hash`].
    fn confirms(&self, preset: &str) -> bool;
}

/// Everything is granted, for programs whose library only the user can write.
#[derive(Debug, Clone, Copy)]
pub struct AllGranted;

impl Grants for AllGranted {
    fn trusts_project(&self, _: &str) -> bool {
        true
    }

    fn confirms(&self, _: &str) -> bool {
        true
    }
}
