//! Branches that are green alone: what is merged always builds, and the user's checkout stays as it is.

use conductor::{Origin, Phase, State, TicketId};
use serde_json::{Value, json};

use super::site::{Play, ask, done, last_user, on_site, run_check, states, ticket, track, write_file};

/// Two tickets that are worked at the same time.
fn two(first: &str, second: &str) -> Value {
    track(json!({ "tickets": [{ "id": "T1", "title": first }, { "id": "T2", "title": second }] }))
}

// 3.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_green_alone_and_red_together_is_mended_on_top() {
    let play = Play::new()
        .calls("worker", "# T1:", &[ask("May I?")])
        .calls(
            "worker",
            "Rename it.",
            &[
                write_file("src/greet", "def welcome\n"),
                write_file("src/main", "call welcome\n"),
                run_check(),
                done("I renamed it. All tests pass."),
            ],
        )
        .calls("worker", "# T2:", &[ask("May I?")])
        .calls(
            "worker",
            "Call it.",
            &[write_file("src/extra", "call greet\n"), run_check(), done("I call it.")],
        )
        .calls(
            "worker",
            "red together",
            &[write_file("src/extra", "call welcome\n"), run_check(), done("I call the new one.")],
        );
    on_site(play, async |site| {
        let mut track = two("Rename greet", "Call greet");
        // What others merged meanwhile is no change of its own.
        track["tickets"][1]["scope"] = json!(["src/extra"]);
        let id = site.start(&track).await;
        // Both start from the same base.
        site.reaches(id, "T1", State::NeedsInput).await;
        site.reaches(id, "T2", State::NeedsInput).await;
        site.answer(id, "T1", "Rename it.").await;
        site.reaches(id, "T1", State::Merged).await;
        site.answer(id, "T2", "Call it.").await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T2 merged", "{}", site.report(id).await);
        assert_eq!(board.phase, Phase::Finished);
        let [first, second] = ticket(&board, "T2").attempts.as_slice() else { panic!("two attempts") };
        // Its own branch was green, and its worker went on upon what was merged meanwhile.
        assert_eq!(first.run.as_ref().and_then(|run| run.exit_code), Some(0));
        assert_eq!(first.session, second.session);
        let sent = site.sent_to("worker");
        let told = sent.iter().map(last_user).find(|told| told.contains("red together")).expect("it is told");
        assert!(told.contains("with T1") && told.contains("greet is not defined"), "{told}");
        assert_eq!(site.merged_file(&board, "src/extra").as_deref(), Some("call welcome\n"));
        // Each ticket is one commit: what its worker tried on the way is no part of the branch.
        let commits = site.merged_commits(&board);
        assert_eq!(commits.len(), 2);
        let subject = site.git(&["log", "-1", "--format=%s", &commits[1]]);
        assert_eq!(subject, "T2: Call greet\n");
        site.assert_every_commit_builds(&board);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_becomes_a_ticket_that_brings_both_changes_together() {
    let play = Play::new()
        .calls("worker", "# T1:", &[ask("May I?")])
        .calls(
            "worker",
            "First.",
            &[write_file("src/words", "hello\nfine\nworld\n"), run_check(), done("Fine.")],
        )
        .calls("worker", "# T2:", &[ask("May I?")])
        .calls(
            "worker",
            "Second.",
            &[write_file("src/words", "hello\nwide\nworld\n"), run_check(), done("Wide.")],
        )
        .calls(
            "worker",
            "# T2-resolve:",
            &[write_file("src/words", "hello\nfine\nwide\nworld\n"), run_check(), done("Both.")],
        );
    on_site(play, async |site| {
        let id = site.start(&two("Say fine", "Say wide")).await;
        site.reaches(id, "T1", State::NeedsInput).await;
        site.reaches(id, "T2", State::NeedsInput).await;
        site.answer(id, "T1", "First.").await;
        site.reaches(id, "T1", State::Merged).await;
        site.answer(id, "T2", "Second.").await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T2 merged, T2-resolve merged", "{}", site.report(id).await);
        let resolver = ticket(&board, "T2-resolve");
        let Origin::Resolver { of, with, paths } = &resolver.origin else { panic!("{:?}", resolver.origin) };
        assert_eq!(
            (of.as_str(), with[0].as_str(), paths.as_slice()),
            ("T2", "T1", &["src/words".to_owned()][..])
        );
        assert_eq!(ticket(&board, "T2").via.as_ref().map(TicketId::as_str), Some("T2-resolve"));
        // It is shown the change that conflicts, and starts from what was merged.
        let sent = site.sent_to("worker");
        let told = sent.iter().map(last_user).find(|told| told.contains("# T2-resolve:")).unwrap();
        assert!(told.contains("## The change to bring in") && told.contains("+wide"), "{told}");
        assert_eq!(resolver.base, ticket(&board, "T1").merged);
        assert_eq!(site.merged_file(&board, "src/words").as_deref(), Some("hello\nfine\nwide\nworld\n"));
        site.assert_every_commit_builds(&board);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_checkout_of_the_user_stays_as_it_is() {
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/words", "hello\nmy\nworld\n"), run_check(), done("My.")])
        .calls("worker", "# T2:", &[write_file("scratch", "the worker's\n"), run_check(), done("Scratch.")]);
    on_site(play, async |site| {
        // What the user has: a staged change, one that is not, a file that git does not know, an ignored one.
        site.write("src/main", "call greet\ncall greet\n");
        site.git(&["add", "src/main"]);
        site.write("src/words", "hello\nunsaved\nworld\n");
        site.write("scratch", "the user's own\n");
        site.write(".env", "KEY=secret\n");
        site.git(&["status"]);
        let before = site.checkout();
        let mut track = two("Say my", "Scratch");
        track["concurrency"] = json!(1);
        let id = site.start(&track).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T2 merged", "{}", site.report(id).await);
        assert_eq!(site.checkout(), before);
        // The branch has the work, without anything of the user's.
        assert_eq!(site.merged_file(&board, "src/words").as_deref(), Some("hello\nmy\nworld\n"));
        assert_eq!(site.merged_file(&board, "scratch").as_deref(), Some("the worker's\n"));
        assert_eq!(site.merged_file(&board, "src/main").as_deref(), Some("call greet\n"));
        assert!(site.home().join("worktrees").exists());

        // A branch with changes in its checkout is not moved; cleaned up, nothing else is touched either.
        let merge = crate::world::input(json!({ "id": id }));
        let merged = site.runtime.merge_track(merge).await.unwrap();
        assert_eq!((merged.merged, merged.obstacle), (false, Some(app::outputs::MergeObstacle::Uncommitted)));
        let cleaned = site.runtime.clean_tracks(app::inputs::CleanTracks { dry_run: false }).await.unwrap();
        assert!(!cleaned.items.is_empty());
        assert_eq!(site.checkout(), before);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_worktrees_one_after_the_other_works_in_the_project() {
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/one", "1\n"), run_check(), done("One. All tests pass.")])
        .calls("worker", "# T2:", &[write_file("src/two", "call nobody\n"), done("Two.")])
        .calls("worker", "Attempt 2.", &[done("Two, really.")]);
    on_site(play, async |site| {
        let id = site.create(&two("One", "Two")).await;
        let board = site.start_with(id, json!({ "isolate": false, "yes": true })).await;
        assert_eq!((board.concurrency, board.branch), (1, None));
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T2 failed", "{}", site.report(id).await);
        // The check ran in the project, which has the files.
        let run = ticket(&board, "T2").attempts[0].run.clone().unwrap();
        assert_eq!((run.exit_code, run.output.trim()), (Some(1), "nobody is not defined"));
        assert_eq!(std::fs::read_to_string(site.path("src/one")).unwrap(), "1\n");
        assert!(!site.git(&["for-each-ref"]).contains("masque"));
    })
    .await;
}
