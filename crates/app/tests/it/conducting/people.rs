//! What people decide: answers, permissions, pauses, plans, steps.

use agent::DutyRole;
use app::inputs::ByTrack;
use app::outputs::TrackBoard;
use conductor::{Need, Origin, Phase, State, StepKind};
use persona::Scope;
use serde_json::{Value, json};

use super::site::{
    Play, ask, done, last_user, on_site, run_check, say, states, text_of, ticket, track, until, write_file,
};
use crate::running::stage::{approved, offered, turns};
use crate::world::{code, input};

fn one(fields: Value) -> Value {
    let mut track = track(fields);
    track["tickets"] = json!([{ "id": "T1", "title": "Say more" }]);
    track
}

fn plain(path: &str) -> [(&'static str, Value); 2] {
    [write_file(path, "here\n"), done("I added it.")]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_in_the_session_that_asked() {
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/draft", "half\n"), ask("Which name?")])
        .calls("worker", "Name it more.", &[write_file("src/more", "more\n"), done("I named it.")]);
    on_site(play, async |site| {
        let id = site.start(&one(json!({}))).await;
        let board = site.settled(id).await;
        assert_eq!((states(&board).as_str(), board.phase), ("T1 needs_input", Phase::Waiting));
        assert_eq!(board.needs[0].need, Need::Answer { question: "Which name?".to_owned() });
        assert_eq!(board.needs[0].sentence, "asks: Which name?");
        site.answer(id, "T1", "Name it more.").await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged", "{}", site.report(id).await);
        let attempts = &ticket(&board, "T1").attempts;
        assert_eq!(attempts.len(), 1, "an answer is no new attempt");
        let view = site.runtime.session(attempts[0].session).await.unwrap();
        assert_eq!(view.session.duty.as_ref().map(|duty| duty.role), Some(DutyRole::Work));
        let told = site.sent_to("worker");
        let told = told.iter().find(|sent| last_user(sent).contains("Name it more.")).unwrap();
        assert!(text_of(told).contains("# T1:"), "it remembers the ticket");
        // Both halves of the work are there.
        assert_eq!(site.merged_file(&board, "src/draft").as_deref(), Some("half\n"));
        // An answer to nobody is refused.
        let late = json!({ "id": id, "ticket": "T1", "answer": "Again." });
        let late = site.runtime.answer_ticket(site.author(), input(late)).await;
        assert_eq!(code(late), app::Code::TrackState);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_a_worker_waits_for_permission_on_the_board() {
    let play = Play::new()
        .reply(
            "model = \"worker\", tool_result_of = \"run_command\"",
            &say(&[done("I ran the check. All tests pass.")]),
        )
        .calls(
            "worker",
            "# T1:",
            &[
                write_file("src/more", "more\n"),
                ("run_command", json!({ "command": "./check.sh && rm src/greet.old; true" })),
            ],
        );
    on_site(play, async |site| {
        let id = site.start(&one(json!({}))).await;
        let waits = |board: &TrackBoard| !ticket(board, "T1").approvals.is_empty();
        let board = site.until(id, "it waits for permission", waits).await;
        assert_eq!(states(&board), "T1 working");
        let approval = &ticket(&board, "T1").approvals[0];
        assert_eq!(approval.call.name, "run_command");
        let session = ticket(&board, "T1").attempts[0].session;
        assert_eq!(ticket(&board, "T1").session, Some(session));
        // A process that does not work the track only stores the answer: it pays for no call.
        let other = site.restarted().await;
        other.decide(session, &approval.call.id, approved()).await.unwrap();
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged", "{}", site.report(id).await);
        assert!(ticket(&board, "T1").approvals.is_empty() && ticket(&board, "T1").session.is_none());
        let usage = site.runtime.session(session).await.unwrap().session.usage;
        assert_eq!(ticket(&board, "T1").spent.tokens, usage.input_tokens + usage.output_tokens);
        other.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_track_starts_nothing_until_it_is_resumed() {
    let play = Play::new()
        .calls("worker", "# T1:", &[ask("May I?")])
        .calls("worker", "Yes.", &plain("src/one"))
        .calls("worker", "# T2:", &plain("src/two"));
    on_site(play, async |site| {
        let mut track = one(json!({}));
        track["tickets"] = json!([
            { "id": "T1", "title": "One" }, { "id": "T2", "title": "Two", "depends_on": ["T1"] },
        ]);
        let id = site.start(&track).await;
        site.settled(id).await;
        let by_id = ByTrack { id };
        let board = site.runtime.pause_track(site.author(), by_id).await.unwrap();
        assert_eq!(board.phase, Phase::Paused);
        let again = site.runtime.pause_track(site.author(), by_id).await;
        assert_eq!(code(again), app::Code::TrackState);
        site.answer(id, "T1", "Yes.").await;
        assert_eq!(site.board(id).await.phase, Phase::Paused);
        let board = site.runtime.resume_track(site.author(), by_id).await.unwrap();
        assert!(board.is_worked_here && board.paused.is_none());
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T2 merged", "{}", site.report(id).await);
        // Nothing began in between.
        let events = site.events(id).await;
        let names: Vec<&str> = events.iter().map(|it| it["event"]["type"].as_str().unwrap()).collect();
        let place = |name: &str| names.iter().position(|it| *it == name).unwrap();
        assert_eq!(&names[place("paused")..=place("resumed")], ["paused", "answered", "resumed"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drafted_track_is_worked_as_far_as_it_is_approved() {
    let play =
        Play::new().calls("worker", "# T1:", &plain("src/one")).calls("worker", "# T2:", &plain("src/two"));
    on_site(play, async |site| {
        let mut track = one(json!({}));
        track["tickets"] = json!([{ "id": "T1", "title": "One" }, { "id": "T2", "title": "Two" }]);
        let id = site.create(&track).await;
        let board = site.start_with(id, json!({ "drafted": true })).await;
        assert_eq!(states(&board), "T1 awaiting_approval, T2 awaiting_approval");
        assert_eq!((board.phase, &board.needs[0].need), (Phase::Waiting, &Need::Plan));
        let some = json!({ "id": id, "tickets": ["T1"] });
        site.runtime.approve_tickets(site.author(), input(some)).await.unwrap();
        let board = site.reaches(id, "T1", State::Merged).await;
        assert_eq!(states(&board), "T1 merged, T2 awaiting_approval");
        assert!(site.sent_to("worker").iter().all(|sent| !last_user(sent).contains("# T2:")));
        site.runtime.approve_tickets(site.author(), input(json!({ "id": id }))).await.unwrap();
        let board = site.reaches(id, "T2", State::Merged).await;
        assert_eq!(states(&board), "T1 merged, T2 merged");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_wait_for_approval_where_the_track_wants_it() {
    let play = Play::new().calls("worker", "# T1:", &plain("src/one"));
    on_site(play, async |site| {
        let id = site.start(&one(json!({ "step_approval": true }))).await;
        for step in [StepKind::Work, StepKind::Integrate] {
            let board = site.settled(id).await;
            assert_eq!(board.needs[0].need, Need::Step { step }, "{}", site.report(id).await);
            let calls = site.model.request_count();
            assert_eq!(calls > 0, step == StepKind::Integrate, "the worker waits");
            assert_eq!(site.merged_commits(&board), [""; 0]);
            let of = json!({ "id": id, "ticket": "T1" });
            site.runtime.approve_step(site.author(), input(of)).await.unwrap();
        }
        assert_eq!(states(&site.settled(id).await), "T1 merged");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_defeats_its_worker_is_broken_down_by_tier_2() {
    let parts = json!({ "tickets": [
        { "id": "T1-a", "title": "The first half" },
        { "id": "T1-b", "title": "The second half", "depends_on": ["T1-a"] },
    ] });
    let play = Play::new()
        .calls_once("worker", "# T1:", &[write_file("src/more", "m\n"), done("All tests pass.")])
        .calls("lead", "# T1:", &[("submit_tickets", parts)])
        .calls("worker", "# T1-a:", &plain("src/a"))
        .calls("worker", "# T1-b:", &plain("src/b"))
        .calls("worker", "# T1:", &[write_file("src/more", "more\n"), run_check(), done("It is whole.")]);
    on_site(play, async |site| {
        let id = site.create(&one(json!({ "escalation": { "split": true, "backoff": 0 } }))).await;
        site.start_with(id, json!({})).await;
        let board = site.settled(id).await;
        assert_eq!(
            states(&board),
            "T1 blocked, T1-a awaiting_approval, T1-b awaiting_approval",
            "{}",
            site.report(id).await
        );
        assert!(matches!(&ticket(&board, "T1-a").origin, Origin::Split { of } if of.as_str() == "T1"));
        // The lead plans: it sees what failed, and has no tool that changes anything.
        let sent = site.sent_to("lead");
        assert!(last_user(&sent[0]).contains("but no test was run"), "{}", last_user(&sent[0]));
        let tools = offered(&sent[0]);
        assert!(tools.contains(&"submit_tickets") && tools.contains(&"read_file"), "{tools:?}");
        assert!(!tools.contains(&"write_file") && !tools.contains(&"run_command"), "{tools:?}");

        site.runtime.approve_tickets(site.author(), input(json!({ "id": id }))).await.unwrap();
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T1-a merged, T1-b merged", "{}", site.report(id).await);
        // The closing attempt has the parts before it.
        let closing = ticket(&board, "T1").attempts.last().unwrap();
        assert_ne!(closing.session, ticket(&board, "T1").attempts[0].session);
        assert_eq!(site.merged_file(&board, "src/more").as_deref(), Some("more\n"));
        site.assert_every_commit_builds(&board);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_finds_is_a_draft_until_a_person_wants_it() {
    let found = json!({
        "outcome": "done", "summary": "I added it.",
        "out_of_scope": [{ "title": "Rename greet", "description": "Its name is odd." }],
    });
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/one", "here\n"), ("submit_work", found)])
        .calls("worker", "# T1-found-1:", &plain("src/found"));
    on_site(play, async |site| {
        let id = site.start(&one(json!({}))).await;
        let board = site.settled(id).await;
        assert_eq!((states(&board).as_str(), board.phase), ("T1 merged, T1-found-1 draft", Phase::Finished));
        // Wanted after the end, it is worked all the same.
        let wanted = json!({ "id": id, "tickets": ["T1-found-1"] });
        site.runtime.approve_tickets(site.author(), input(wanted)).await.unwrap();
        let board = site.reaches(id, "T1-found-1", State::Merged).await;
        assert_eq!(site.merged_file(&board, "src/found").as_deref(), Some("here\n"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_track_ends_its_work_and_keeps_it() {
    let play = Play::new().calls("worker", "# T1:", &[write_file("src/half", "half\n"), ask("Which?")]);
    on_site(play, async |site| {
        let id = site.start(&one(json!({}))).await;
        let board = site.settled(id).await;
        let branch = ticket(&board, "T1").branch.clone().unwrap();
        let cancel = json!({ "id": id, "reason": "No time." });
        let board = site.runtime.cancel_track(site.author(), input(cancel)).await.unwrap();
        assert_eq!((states(&board).as_str(), board.phase), ("T1 cancelled", Phase::Cancelled));
        // Cleaning keeps what no branch has.
        let clean = |dry_run| site.runtime.clean_tracks(app::inputs::CleanTracks { dry_run });
        let shown = serde_json::to_value(clean(true).await.unwrap().items).unwrap();
        let done = serde_json::to_value(clean(false).await.unwrap().items).unwrap();
        let outcomes = |items: &Value| -> Vec<(Value, Value)> {
            let items = items.as_array().unwrap().iter();
            items.map(|it| (it["ticket"].clone(), it["outcome"].clone())).collect()
        };
        assert_eq!(outcomes(&shown), outcomes(&done), "the dry run says what happens");
        let of_ticket = done.as_array().unwrap().iter().find(|it| it["ticket"] == "T1").unwrap();
        assert_eq!(of_ticket["outcome"], "archived", "{done}");
        let kept = of_ticket["reference"].as_str().unwrap();
        assert_eq!(site.git(&["show", &format!("{kept}:src/half")]), "half\n");
        assert!(branch.starts_with("refs/heads/masque/"), "{branch}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_goes_on_from_what_the_last_worker_left() {
    let play = Play::new()
        .reply(
            "model = \"worker\", last_user = \"# T1:\"",
            &format!("times = 1\n{}", say(&[write_file("src/half", "half\n")])),
        )
        .says("worker", "nothing was handed in", "I do not know.")
        .calls("worker", "# T2:", &plain("src/two"))
        .calls("second", "# T1:", &[write_file("src/whole", "whole\n"), done("It is whole.")]);
    on_site(play, async |site| {
        let mut track = one(json!({ "concurrency": 1 }));
        track["tickets"] = json!([{ "id": "T1", "title": "One" }, { "id": "T2", "title": "Two" }]);
        let id = site.start(&track).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 failed, T2 merged", "{}", site.report(id).await);
        let note = "Look at src/half.";
        let retry = json!({ "id": id, "ticket": "T1", "model": "stage/second", "note": note });
        site.runtime.retry_ticket(site.author(), input(retry)).await.unwrap();
        let board = site.until(id, "it is merged", |board| states(board) == "T1 merged, T2 merged").await;
        // What was not handed in is kept, on top of what was merged meanwhile.
        assert_eq!(site.merged_file(&board, "src/half").as_deref(), Some("half\n"));
        assert_eq!(site.merged_file(&board, "src/whole").as_deref(), Some("whole\n"));
        assert_eq!(site.merged_commits(&board).len(), 2);
        let sent = site.sent_to("second");
        let told = last_user(&sent[0]);
        assert!(told.contains("## What was tried before") && told.contains(note), "{told}");
        let target = ticket(&board, "T2").merged.clone().unwrap();
        assert!(told.contains(&format!("The base is {target}")), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_goes_on_where_one_stopped() {
    let permitted = say(&[done("I asked for it. All tests pass.")]);
    let play = Play::new()
        .reply("model = \"second\", tool_result_of = \"run_command\"", &permitted)
        .calls("worker", "# T1:", &[done("All tests pass.")])
        .calls(
            "second",
            "# T1:",
            &[write_file("src/more", "more\n"), ("run_command", json!({ "command": "./check.sh" }))],
        );
    on_site(play, async |site| {
        let models =
            json!([{ "provider": "stage", "model": "worker" }, { "provider": "stage", "model": "second" }]);
        let pia = json!({ "name": "pia", "system_prompt": "You are Pia.", "preferred_models": models });
        site.world.persona(Scope::Shared, pia).await;
        let mut track = one(json!({}));
        track["tickets"][0]["persona_id"] = json!("pia");
        let id = site.start(&track).await;
        let waits = |board: &TrackBoard| !ticket(board, "T1").approvals.is_empty();
        site.until(id, "it waits for permission", waits).await;
        site.runtime.stop().await;

        let other = site.restarted().await;
        other.resume_track(site.author(), ByTrack { id }).await.unwrap();
        let board = until(&other, id, "it still waits", waits).await;
        let second = ticket(&board, "T1").attempts[1].session;
        other.decide(second, &ticket(&board, "T1").approvals[0].call.id, approved()).await.unwrap();
        let board = until(&other, id, "it ends", |board| board.phase == Phase::Finished).await;
        assert_eq!(states(&board), "T1 merged");
        assert_eq!(ticket(&board, "T1").attempts.len(), 2);
        // Its message was sent once, however its handover reads by now.
        let view = other.session(second).await.unwrap();
        assert_eq!(turns(&view).matches("user").count(), 1, "{}", turns(&view));
        other.stop().await;
    })
    .await;
}
