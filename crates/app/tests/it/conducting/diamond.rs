//! Eight tickets with everything that can happen to them.

use app::outputs::TrackBoard;
use conductor::{Origin, Phase, ReviewVerdict, Ruling, State, TicketId};
use persona::{Name, Scope};
use serde_json::{Value, json};
use uuid::Uuid;

use super::site::{
    Play, Site, ask, done, last_user, on_site, review, run_check, states, text_of, ticket, track, write_file,
};
use crate::world::input;

/// A file of its own, and a report without claims.
fn plain(path: &str) -> [(&'static str, Value); 2] {
    [write_file(path, "here\n"), done("I added it.")]
}

fn play() -> Play {
    let finding = json!([{
        "path": "src/six", "line": 1, "severity": "major", "scenario": "Six alone is not enough.",
    }]);
    Play::new()
        .calls("worker", "# T1:", &plain("src/one"))
        .calls("worker", "# T2:", &[ask("May I?")])
        .calls("worker", "Second.", &[write_file("src/words", "hello\nfine\nworld\n"), done("Fine.")])
        .calls("worker", "# T3:", &[ask("May I?")])
        .calls("worker", "Third.", &[write_file("src/words", "hello\nwide\nworld\n"), done("Wide.")])
        .calls(
            "worker",
            "# T3-resolve:",
            &[write_file("src/words", "hello\nfine\nwide\nworld\n"), done("Both.")],
        )
        .calls("worker", "# T4:", &plain("src/four"))
        // The first model lies, the second one does the work.
        .calls("worker", "# T5:", &[write_file("src/five", "5\n"), done("Five. All tests pass.")])
        .calls(
            "second",
            "# T5:",
            &[write_file("src/five", "five\n"), run_check(), done("Five. All tests pass.")],
        )
        .calls("worker", "# T6:", &[write_file("src/six", "six\n"), done("Six.")])
        .calls(
            "worker",
            "Six alone is not enough.",
            &[write_file("src/six", "six\nsix\n"), done("Six and six.")],
        )
        .says("worker", "# T7:", "I do not know.")
        .says("worker", "nothing was handed in", "I still do not know.")
        .calls("second", "# T7:", &plain("src/seven"))
        .calls("worker", "# T8:", &plain("src/eight"))
        .calls("reviewer", "## Round 2", &[review("pass", json!([]))])
        .calls("reviewer", "# T6:", &[review("rework", finding)])
        .calls("reviewer", "## The change", &[review("pass", json!([]))])
}

fn eight() -> Value {
    let ticket = |number: usize, after: &[&str]| json!({ "id": format!("T{number}"), "title": format!("Number {number}"), "depends_on": after });
    let mut tickets = vec![
        ticket(1, &[]),
        ticket(2, &["T1"]),
        ticket(3, &["T1"]),
        ticket(4, &["T2", "T3"]),
        ticket(5, &[]),
        ticket(6, &[]),
        ticket(7, &[]),
        ticket(8, &["T7"]),
    ];
    tickets[4]["persona_id"] = json!("pia");
    tickets[6]["persona_id"] = json!("ghost");
    track(json!({ "tickets": tickets, "review": { "enabled": true }, "concurrency": 4 }))
}

async fn at_work(site: &Site<'_>) -> Uuid {
    let models = json!([
        { "provider": "stage", "model": "worker" }, { "provider": "stage", "model": "second" },
    ]);
    let pia = json!({ "name": "pia", "system_prompt": "You are Pia.", "preferred_models": models });
    site.world.persona(Scope::Shared, pia).await;
    let id = site.start(&eight()).await;
    // The two sides of the diamond start from the same base, so that the later one conflicts.
    site.reaches(id, "T2", State::NeedsInput).await;
    site.reaches(id, "T3", State::NeedsInput).await;
    site.answer(id, "T2", "Second.").await;
    site.reaches(id, "T2", State::Merged).await;
    site.answer(id, "T3", "Third.").await;
    id
}

/// The end of one ticket is not after the beginning of another.
#[track_caller]
fn assert_after(board: &TrackBoard, later: &str, earlier: &str) {
    let (ended, began) = (ticket(board, earlier).ended_at, ticket(board, later).began_at);
    assert!(ended.is_some() && ended <= began, "{later} began at {began:?}, {earlier} ended at {ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_tickets_come_to_their_end() {
    on_site(play(), async |site| {
        site.write("src/words", "hello\nunsaved\nworld\n");
        let before = site.checkout();
        let id = at_work(site).await;
        let board = site.settled(id).await;
        let expected = "T1 merged, T2 merged, T3 merged, T4 merged, T5 merged, T6 merged, T7 failed, T8 blocked, \
                        T3-resolve merged";
        assert_eq!(states(&board), expected, "{}", site.report(id).await);
        assert_eq!(board.phase, Phase::Finished);
        assert_eq!(ticket(&board, "T8").waits_for.iter().map(TicketId::as_str).collect::<Vec<_>>(), ["T7"]);
        assert!(ticket(&board, "T8").attempts.is_empty());

        // The cascade lifts once its cause is mended: the track that had ended goes on.
        let retry = json!({ "id": id, "ticket": "T7", "model": "stage/second", "note": "Another one tries." });
        site.runtime.retry_ticket(site.author(), input(retry)).await.unwrap();
        let board = site.reaches(id, "T8", State::Merged).await;
        let board = if board.phase == Phase::Finished { board } else { site.settled(id).await };
        assert_eq!(board.phase, Phase::Finished);
        assert!(board.tickets.iter().all(|ticket| ticket.state == State::Merged), "{}", states(&board));
        for (later, earlier) in [("T2", "T1"), ("T3", "T1"), ("T4", "T2"), ("T4", "T3"), ("T8", "T7")] {
            assert_after(&board, later, earlier);
        }
        assert_parts(site, &board).await;
        site.assert_every_commit_builds(&board);
        assert_eq!(site.checkout(), before);

        let files = ["src/one", "src/four", "src/five", "src/six", "src/seven", "src/eight"];
        let merged = files.map(|path| site.merged_file(&board, path).unwrap_or_default());
        assert_eq!(merged, ["here\n", "here\n", "five\n", "six\nsix\n", "here\n", "here\n"]);
        assert_eq!(site.merged_file(&board, "src/words").as_deref(), Some("hello\nfine\nwide\nworld\n"));
    })
    .await;
}

/// Each of the tickets to which something happened.
async fn assert_parts(site: &Site<'_>, board: &TrackBoard) {
    // One escalation.
    let models = |id: &str| -> Vec<String> {
        ticket(board, id).attempts.iter().map(|attempt| attempt.model.to_string()).collect()
    };
    assert_eq!(models("T5"), ["stage/worker", "stage/second"]);
    assert_eq!(ticket(board, "T5").attempts[0].ruling, Some(Ruling::Rejected));

    // One review that sends the result back: the same worker mends it, and a fresh round looks at the rest.
    let [first, second] = ticket(board, "T6").rounds.as_slice() else { panic!("two rounds") };
    let verdicts = (first.verdict, second.verdict);
    assert_eq!(verdicts, (Some(ReviewVerdict::Rework), Some(ReviewVerdict::Pass)));
    let [before, after] = ticket(board, "T6").attempts.as_slice() else { panic!("two attempts") };
    assert_eq!((before.session, first.session == second.session), (after.session, false));
    let sent = site.sent_to("reviewer");
    let told = sent.iter().map(last_user).find(|told| told.contains("## Round 2")).unwrap();
    assert!(told.contains("src/six:1: Six alone is not enough."), "{told}");
    assert!(told.contains("+six") && !told.contains("new file"), "only what changed since: {told}");

    // One persona that does not exist: the defaults work, and everybody can see it.
    let seven = ticket(board, "T7");
    assert_eq!(seven.fell_back.iter().map(|it| it.persona.as_str()).collect::<Vec<_>>(), ["ghost"]);
    assert!(!seven.fell_back[0].reason.is_empty());
    let worked: Vec<&str> =
        seven.attempts.iter().filter_map(|it| it.persona.as_ref()).map(Name::as_str).collect();
    assert_eq!(worked, ["code_worker"; 3]);
    let sent = site.sent_to("second");
    let told = sent.iter().find(|sent| last_user(sent).contains("# T7:")).unwrap();
    assert!(text_of(told).contains("You work one ticket"), "{told}");
    let events = site.events(board.id).await;
    let warned = events.iter().filter(|it| it["event"]["type"] == "persona_fell_back").count();
    assert_eq!(warned, 1, "one warning, however many attempts");
    assert_eq!(models("T7"), ["stage/worker", "stage/worker", "stage/second"]);

    // One conflict.
    let resolver = ticket(board, "T3-resolve");
    assert!(matches!(&resolver.origin, Origin::Resolver { of, .. } if of.as_str() == "T3"));
    assert_eq!(ticket(board, "T3").via.as_ref(), Some(&resolver.id));

    let report = site.report(board.id).await;
    for part in
        ["9 tickets: 9 completed.", "Escalations to another model: 2.", "ghost", "Six alone is not enough."]
    {
        assert!(report.contains(part), "{part} is missing in\n{report}");
    }
}
