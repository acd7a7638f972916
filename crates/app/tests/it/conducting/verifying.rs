//! Results that are distrusted: claims without a run, tests that are gone, results without a check.

use conductor::{ApprovalReason, Need, Phase, Ruling};
use persona::Scope;
use serde_json::{Value, json};

use super::site::{
    Play, Site, done, last_user, on_site, review, run_check, states, ticket, track, write_file,
};
use crate::world::input;

/// One ticket with these fields.
fn with_ticket(mut fields: Value, of_track: Value) -> Value {
    fields["id"] = json!("T1");
    fields["title"] = json!("Say more");
    let mut track = track(of_track);
    track["tickets"] = json!([fields]);
    track
}

/// A persona with two models, the second of which is tried when the first fails.
async fn pia(site: &Site<'_>) {
    let models = json!([
        { "provider": "stage", "model": "worker" }, { "provider": "stage", "model": "second" },
    ]);
    let persona = json!({ "name": "pia", "system_prompt": "You are Pia.", "preferred_models": models });
    site.world.persona(Scope::Shared, persona).await;
}

// 1.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_of_passing_tests_without_a_run_is_rejected() {
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/more", "more\n"), done("I added it. All tests pass.")])
        .calls(
            "second",
            "# T1:",
            &[write_file("src/more", "more of it\n"), run_check(), done("All tests pass.")],
        );
    on_site(play, async |site| {
        pia(site).await;
        let id = site.start(&with_ticket(json!({ "persona_id": "pia" }), json!({}))).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged", "{}", site.report(id).await);
        let [first, second] = ticket(&board, "T1").attempts.as_slice() else { panic!("two attempts") };
        // The check itself is green: the claim alone is false.
        assert_eq!(first.ruling, Some(Ruling::Rejected));
        assert_eq!(first.objections, ["the report says \"All tests pass.\", but no test was run"]);
        assert_eq!(first.run.as_ref().and_then(|run| run.exit_code), Some(0));
        assert_eq!((second.ruling, second.objections.len()), (Some(Ruling::Accepted), 0));
        // The next model starts afresh, and learns what was wrong.
        assert_ne!(first.session, second.session);
        assert_eq!(second.model.as_str(), "stage/second");
        let sent = site.sent_to("second");
        let told = last_user(&sent[0]);
        assert!(told.contains("## What was tried before") && told.contains("but no test was run"), "{told}");
        assert_eq!(site.merged_file(&board, "src/more").as_deref(), Some("more of it\n"));
    })
    .await;
}

// 1.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_was_not_run_proves_nothing() {
    let claim = json!({
        "outcome": "done", "summary": "It works.", "commands": ["./check.sh"],
        "criteria": [{ "criterion": "It says more", "status": "met",
            "evidence": { "kind": "place", "place": "src/more:9" } }],
    });
    let play =
        Play::new().calls("worker", "# T1:", &[write_file("src/more", "more\n"), ("submit_work", claim)]);
    on_site(play, async |site| {
        let id = site.start(&with_ticket(json!({ "acceptance": ["It says more"] }), json!({}))).await;
        let board = site.settled(id).await;
        // No other model is left, and nothing is broken down here.
        assert_eq!((states(&board).as_str(), board.phase), ("T1 failed", Phase::Finished));
        let found = &ticket(&board, "T1").attempts[0].objections;
        assert!(found.iter().any(|it| it.contains("`./check.sh`, which did not succeed")), "{found:?}");
        assert!(found.iter().any(|it| it == "src/more:9 does not exist"), "{found:?}");
        assert!(matches!(board.needs[0].need, Need::Decision), "{:?}", board.needs);
        assert_eq!(site.merged_commits(&board), [""; 0]);
        let report = site.report(id).await;
        assert!(
            report.contains("1 tickets: 1 failed") && report.contains("src/more:9 does not exist"),
            "{report}"
        );
    })
    .await;
}

// 2.
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_test_that_is_deleted_or_skipped_is_found() {
    let changed = |tests: &str| {
        [
            write_file("src/words", "hello\n"),
            write_file("tests/words.test.js", tests),
            run_check(),
            done("I dropped a word. All tests pass."),
        ]
    };
    let deleted = changed("test(\"src/words says hello\", () => {});\n");
    let skipped = changed(
        "test(\"src/words says hello\", () => {});\ntest.skip(\"src/words says world\", () => {});\n",
    );
    let play = Play::new()
        .calls("worker", "# Deleting:", &deleted)
        .calls("worker", "# Skipping:", &skipped)
        .calls("worker", "Attempt 2.", &[done("I insist.")]);
    on_site(play, async |site| {
        let ticket_of = |id: &str| json!({ "id": id, "title": "Drop a word" });
        let id =
            site.start(&track(json!({ "tickets": [ticket_of("Deleting"), ticket_of("Skipping")] }))).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "Deleting failed, Skipping failed", "{}", site.report(id).await);
        for (name, how) in [("Deleting", "tests were deleted"), ("Skipping", "tests are skipped")] {
            let first = &ticket(&board, name).attempts[0];
            assert_eq!(first.ruling, Some(Ruling::Rejected));
            let named = format!("{how}, and the report hides it: tests/words.test.js: src/words says world");
            assert!(first.objections.contains(&named), "{:?}", first.objections);
            // The check is green with the worker's tests, and red with those of the base.
            let of_base = "with the tests of the base the check is red (changed: tests/words.test.js";
            let red = first.objections.iter().find(|it| it.starts_with(of_base)).expect("it is red");
            assert!(red.ends_with("src/words does not say world"), "{red}");
            assert_eq!(first.run.as_ref().and_then(|run| run.exit_code), Some(0));
            // The worker is told once, then it is over.
            assert_eq!(ticket(&board, name).attempts.len(), 2);
        }
        let told: Vec<Value> = site.sent_to("worker");
        assert!(
            told.iter().any(|sent| last_user(sent).contains("tests are skipped, and the report hides it"))
        );
        assert_eq!(site.merged_commits(&board), [""; 0]);
    })
    .await;
}

// 2.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_is_declared_to_be_gone_is_shown_to_the_reviewer() {
    let declared = json!({
        "outcome": "done", "summary": "I dropped a word.",
        "test_changes": [{ "test": "src/words says world", "why": "The ticket drops the word." }],
    });
    let play = Play::new()
        .calls(
            "worker",
            "# T1:",
            &[
                write_file("src/words", "hello\n"),
                write_file("tests/words.test.js", "test(\"src/words says hello\", () => {});\n"),
                ("submit_work", declared),
            ],
        )
        .calls("reviewer", "# T1:", &[review("pass", json!([]))]);
    on_site(play, async |site| {
        let id = site.start(&with_ticket(json!({}), json!({ "review": { "enabled": true } }))).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged", "{}", site.report(id).await);
        let sent = site.sent_to("reviewer");
        let told = last_user(&sent[0]);
        // Ticket, diff, check and objections come before what the worker says.
        let places: Vec<usize> = [
            "# T1:",
            "## The change",
            "-world",
            "`./check.sh` ended with 0.",
            "## What the conductor noticed",
            "tests were deleted, as the report says",
            "## What the worker says",
            "The ticket drops the word.",
        ]
        .iter()
        .map(|part| told.find(part).unwrap_or_else(|| panic!("{part} is missing in\n{told}")))
        .collect();
        assert!(places.is_sorted(), "{places:?}\n{told}");
        assert_eq!(site.merged_file(&board, "src/words").as_deref(), Some("hello\n"));
    })
    .await;
}

// 4.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_check_a_person_approves() {
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/more", "more\n"), done("I added it.")])
        .calls("reviewer", "# T1:", &[review("pass", json!([]))]);
    on_site(play, async |site| {
        // A review that passes is no check either.
        for is_reviewed in [false, true] {
            let of_track = json!({ "check": null, "review": { "enabled": is_reviewed } });
            let id = site.start(&with_ticket(json!({}), of_track)).await;
            let board = site.settled(id).await;
            assert_eq!((states(&board).as_str(), board.phase), ("T1 needs_input", Phase::Waiting));
            let need = ticket(&board, "T1").need.clone().unwrap().need;
            assert_eq!(need, Need::Approval { why: ApprovalReason::Unverified });
            assert_eq!(ticket(&board, "T1").attempts[0].ruling, Some(Ruling::Unverified));
            assert_eq!(site.merged_commits(&board), [""; 0]);

            let judged = json!({ "id": id, "ticket": "T1", "note": "I looked at it." });
            site.runtime.approve_result(site.author(), input(judged)).await.unwrap();
            let board = site.settled(id).await;
            assert_eq!((states(&board).as_str(), board.phase), ("T1 merged", Phase::Finished));
            assert_eq!(site.merged_file(&board, "src/more").as_deref(), Some("more\n"));
            assert_eq!(ticket(&board, "T1").merged, site.merged_commits(&board).pop());
        }
    })
    .await;
}

// 4.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_a_person_rejects_goes_back_to_its_worker() {
    let play =
        Play::new().calls("worker", "# T1:", &[write_file("src/more", "more\n"), done("I added it.")]).calls(
            "worker",
            "Say it twice.",
            &[write_file("src/more", "more\nmore\n"), done("I said it twice.")],
        );
    on_site(play, async |site| {
        let id = site.start(&with_ticket(json!({}), json!({ "check": null }))).await;
        site.settled(id).await;
        let judged = json!({ "id": id, "ticket": "T1", "note": "Say it twice." });
        site.runtime.reject_result(site.author(), input(judged)).await.unwrap();
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 needs_input", "{}", site.report(id).await);
        let [first, second] = ticket(&board, "T1").attempts.as_slice() else { panic!("two attempts") };
        assert_eq!(first.session, second.session, "the same worker goes on");
        let judged = json!({ "id": id, "ticket": "T1" });
        site.runtime.approve_result(site.author(), input(judged)).await.unwrap();
        let board = site.settled(id).await;
        assert_eq!(site.merged_file(&board, "src/more").as_deref(), Some("more\nmore\n"));
        assert_eq!(states(&board), "T1 merged");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_base_is_for_a_person_before_anything_is_worked() {
    let play = Play::new().calls("worker", "# T1:", &[write_file("src/more", "more\n"), done("I added it.")]);
    on_site(play, async |site| {
        site.write("src/words", "hello\n");
        site.commit("Break it");
        let id = site.start(&with_ticket(json!({}), json!({}))).await;
        let board = site.settled(id).await;
        assert_eq!((states(&board).as_str(), board.phase), ("T1 blocked", Phase::Waiting));
        let need = ticket(&board, "T1").need.clone().unwrap();
        assert_eq!(need.need, Need::Baseline { command: "./check.sh".to_owned() });
        assert!(ticket(&board, "T1").why[0].contains("ended with 1"), "{:?}", ticket(&board, "T1").why);
        assert_eq!(site.model.request_count(), 0, "no model is called for it");
        // Mended by the user, it goes on.
        site.write("src/words", "hello\nworld\n");
        site.commit("Mend it");
        let retry = json!({ "id": id, "ticket": "T1" });
        site.runtime.retry_ticket(site.author(), input(retry)).await.unwrap();
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged", "{}", site.report(id).await);
        assert_eq!(ticket(&board, "T1").base.as_deref(), Some(site.git(&["rev-parse", "main"]).trim()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_change_is_confirmed_by_a_reviewer_or_a_person() {
    let nothing = ("submit_work", json!({ "outcome": "no_change", "summary": "It is there." }));
    let play = Play::new()
        .calls("worker", "# T1:", std::slice::from_ref(&nothing))
        .calls("worker", "# T2:", &[write_file("src/more", "more\n"), nothing])
        .calls("worker", "src/more", &[done("I added it.")])
        .calls("reviewer", "# T", &[review("pass", json!([]))]);
    on_site(play, async |site| {
        let tickets = json!([
            { "id": "T1", "title": "Nothing" }, { "id": "T2", "title": "Something", "depends_on": ["T1"] },
        ]);
        let of_track = json!({ "tickets": tickets, "review": { "enabled": true } });
        let id = site.start(&track(of_track)).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 no_change, T2 merged", "{}", site.report(id).await);
        assert_eq!(ticket(&board, "T1").merged, None);
        // One that says so and changes something is not believed.
        let first = &ticket(&board, "T2").attempts[0];
        assert_eq!(
            first.objections,
            ["the report says that nothing had to be changed, but this changed: src/more"]
        );

        let alone = track(json!({ "tickets": [{ "id": "T1", "title": "Nothing" }] }));
        let id = site.start(&alone).await;
        let board = site.settled(id).await;
        assert_eq!(board.needs[0].need, Need::Approval { why: ApprovalReason::NoChange });
        let judged = json!({ "id": id, "ticket": "T1" });
        site.runtime.approve_result(site.author(), input(judged)).await.unwrap();
        assert_eq!(states(&site.settled(id).await), "T1 no_change");
    })
    .await;
}
