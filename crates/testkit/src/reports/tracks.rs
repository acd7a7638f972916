//! Samples of errors of tracks, and of git.

use persona::{Code, Remedy};

use super::{Sample, run};

pub(super) fn written(code: Code) -> Option<Sample> {
    of_track(code).or_else(|| of_git(code))
}

fn of_track(code: Code) -> Option<Sample> {
    Some(match code {
        Code::UnknownTrack => ("there is no track 0192", vec![run("masque conduct list")]),
        Code::UnknownTicket => (r#"the track has no ticket "pasre""#, vec![Remedy::DidYouMean]),
        Code::TrackExists => ("there is a track 0192 already", Vec::new()),
        Code::TrackBusy => ("others change track 0192 all the time", vec![Remedy::TryLater]),
        Code::TrackState => ("track 0192: it is paused", Vec::new()),
        Code::OtherProject => ("track 0192 belongs to the project /srv/shop", vec![Remedy::OpenProject]),
        Code::AmbiguousTrack => {
            (r#"several tracks have an id that starts or ends with "01a1""#, vec![Remedy::DidYouMean])
        }
        Code::TrackCycle => ("tickets wait for each other: a → b → a", Vec::new()),
        Code::InvalidTrack => ("the track has mistakes: 3:1: unknown field chek", Vec::new()),
        _ => return None,
    })
}

fn of_git(code: Code) -> Option<Sample> {
    let install = || vec![Remedy::InstallGit { least: "2.38".to_owned() }];
    Some(match code {
        Code::NoGit => ("git cannot be started", install()),
        Code::GitTooOld => (r#""git version 2.30.2" is not a version of git that works"#, install()),
        Code::GitFailed => ("`git worktree add` failed in /srv/shop: fatal: no space left", Vec::new()),
        Code::GitTimeout => ("`git status` took longer than 60 s in /srv/shop", vec![Remedy::TryLater]),
        Code::NoRepository => ("/srv/shop is not in a git repository with a commit", Vec::new()),
        Code::UnknownCommit => ("the repository has no commit release", Vec::new()),
        Code::BranchTaken => {
            ("the branch masque/shop/a exists, and it does not belong to the track", vec![Remedy::OtherName])
        }
        Code::BranchCheckedOut => (
            "the branch masque/shop/integration is checked out in /srv/shop",
            vec![Remedy::LeaveBranch { path: "/srv/shop".to_owned() }],
        ),
        Code::WorktreeUnsound => ("/srv/trees/a is not the worktree that belongs there", Vec::new()),
        Code::WorktreeDirty => ("the worktree /srv/trees/a has changes that are not committed", Vec::new()),
        Code::WorktreeBusy => ("another process works in /srv/trees/a", vec![Remedy::TryLater]),
        Code::PlaceInCheckout => (
            "worktrees in /srv/shop/trees would lie inside of the checkout /srv/shop",
            vec![Remedy::OtherDirectory],
        ),
        Code::NoPort => ("100 of 100 ports are leased or in use", Vec::new()),
        _ => return None,
    })
}
