//! References that Masque keeps, and changes of them by compare-and-swap.

use crate::git::Git;
use crate::repository::Repository;
use crate::{CommitId, Label, Result, limits, lock};

/// Where the branches of tracks are.
const BRANCHES: &str = "refs/heads/masque";
/// Where everything else is. A push of branches does not include it.
const KEPT: &str = "refs/masque";

/// The branch that a ticket is worked on.
pub(crate) fn branch(track: &Label, ticket: &Label) -> String {
    format!("{BRANCHES}/{track}/{ticket}")
}

/// The commit that a ticket started from. It marks the branch as ours.
pub(crate) fn base(track: &Label, ticket: &Label) -> String {
    format!("{KEPT}/base/{track}/{ticket}")
}

/// The last checkpoint of a ticket.
pub(crate) fn checkpoint(track: &Label, ticket: &Label) -> String {
    format!("{KEPT}/checkpoint/{track}/{ticket}")
}

/// The commit that a ticket was integrated from.
pub(crate) fn submitted(track: &Label, ticket: &Label) -> String {
    format!("{KEPT}/submitted/{track}/{ticket}")
}

/// The commit of the integration branch that has a ticket.
pub(crate) fn merged(track: &Label, ticket: &Label) -> String {
    format!("{KEPT}/merged/{track}/{ticket}")
}

/// What those commits of a track have in common.
pub(crate) fn merged_prefix(track: &Label) -> String {
    format!("{KEPT}/merged/{track}/")
}

/// Where the archives of a ticket are.
pub(crate) fn archive(track: &Label, ticket: &Label) -> String {
    format!("{KEPT}/archive/{track}/{ticket}")
}

/// The name of a branch without `refs/heads/`.
pub(crate) fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

/// The names above the branches of a track.
pub(crate) fn above(track: &Label) -> [String; 2] {
    [BRANCHES.to_owned(), format!("{BRANCHES}/{track}")]
}

/// A change of one reference.
#[derive(Debug, Clone)]
pub(crate) struct Update {
    pub(crate) name: String,
    /// `None` deletes it.
    pub(crate) new: Option<CommitId>,
    pub(crate) old: Old,
}

/// What a reference must be before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Old {
    Any,
    Missing,
    Is(CommitId),
}

impl Update {
    pub(crate) fn create(name: String, new: &CommitId) -> Self {
        Self { name, new: Some(new.clone()), old: Old::Missing }
    }

    pub(crate) fn set(name: String, new: &CommitId) -> Self {
        Self { name, new: Some(new.clone()), old: Old::Any }
    }

    pub(crate) fn swap(name: String, new: &CommitId, old: &CommitId) -> Self {
        Self { name, new: Some(new.clone()), old: Old::Is(old.clone()) }
    }

    /// The line for `update-ref --stdin -z`.
    fn line(&self) -> String {
        let Self { name, new, old } = self;
        match (new, old) {
            (Some(new), Old::Missing) => format!("create {name}\0{new}\0"),
            (Some(new), Old::Any) => format!("update {name}\0{new}\0\0"),
            (Some(new), Old::Is(old)) => format!("update {name}\0{new}\0{old}\0"),
            (None, Old::Is(old)) => format!("delete {name}\0{old}\0"),
            (None, Old::Any | Old::Missing) => format!("delete {name}\0\0"),
        }
    }
}

/// The commit of a reference, if it exists.
pub(crate) async fn read(git: &Git, name: &str) -> Result<Option<CommitId>> {
    // Its exit code is 0 also for a missing reference. `show-ref` has one code for that and for a failure,
    // and a failure must not be taken for a missing reference.
    let listed = git.call(["for-each-ref", "--format=%(objectname) %(refname)", "--"]).arg(name).ok().await?;
    let listed = String::from_utf8_lossy(&listed);
    let is_named = |line: &str| line.split_once(' ').filter(|it| it.1 == name).map(|it| it.0.to_owned());
    Ok(listed.lines().find_map(is_named).and_then(|id| CommitId::parse(&id)))
}

/// A reference below a name, which could not be a reference as well.
pub(crate) async fn below(git: &Git, name: &str) -> Result<Option<String>> {
    let call = git.call(["for-each-ref", "--count=1", "--format=%(refname)", "--"]).arg(format!("{name}/"));
    Ok(Some(call.line().await?).filter(|found| !found.is_empty()))
}

/// Changes all references or none. Returns false if one of them was not as expected.
pub(crate) async fn change(repository: &Repository, updates: &[Update]) -> Result<bool> {
    let git = repository.git();
    let lines: String = updates.iter().map(Update::line).collect();
    let mut tried = 0;
    loop {
        let call = git
            .call(["update-ref", "--create-reflog", "--no-deref", "-z", "--stdin"])
            .input(format!("start\0{lines}prepare\0commit\0").into_bytes());
        let failure = call.failure();
        let done = call.done().await?;
        if done.code == 0 {
            return Ok(true);
        }
        if !all_as_expected(&git, updates).await? {
            return Ok(false);
        }
        // A process that was killed in mid-write leaves a lock file, which would block the reference
        // for ever.
        tried += 1;
        let locks = updates.iter().map(|it| repository.common_dir().join(format!("{}.lock", it.name)));
        let stale =
            locks.filter(|path| path.exists()).all(|path| lock::remove_stale(&path, limits::STALE_LOCK));
        if tried >= limits::REF_TRIES || !stale {
            return Err(failure(done));
        }
    }
}

async fn all_as_expected(git: &Git, updates: &[Update]) -> Result<bool> {
    for update in updates {
        let found = read(git, &update.name).await?;
        let holds = match &update.old {
            Old::Any => true,
            Old::Missing => found.is_none(),
            Old::Is(old) => found.as_ref() == Some(old),
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}
