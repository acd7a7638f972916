//! Files of the project in prompts: of ordinary sessions, and of tickets.

use std::collections::BTreeMap;

use agent::Event;
use app::running::{ApprovalPolicy, CreateSession, SendOptions};
use persona::{Kind, Scope};
use serde_json::{Value, json};
use uuid::Uuid;

use super::site::{Play, Site, done, on_site, say, states, ticket, track, write_file};
use crate::running::stage::{system, to_the_end};
use crate::world::{code, input, name};

const STABLE: &str = "You are Carl.";

/// A persona with a preset that selects everything that it can name.
async fn carl(site: &Site<'_>) -> Uuid {
    let preset = json!({ "name": "everything", "description": "All.", "entries": [
        { "glob": "src/**", "view": "full" }, { "path": ".env", "view": "full" },
        { "glob": "**/linked", "view": "full" },
    ] });
    site.world.create(Kind::ContextPreset, Scope::Shared, preset).await;
    let carl = json!({
        "name": "carl", "system_prompt": STABLE, "context_preset": "everything",
        "preferred_models": [{ "provider": "stage", "model": "actor" }],
    });
    site.world.persona(Scope::Shared, carl).await;
    let session = CreateSession {
        persona: name("carl"),
        scope: None,
        mode: None,
        model: None,
        overrides: BTreeMap::new(),
        root: None,
        greeting: None,
    };
    site.runtime.create_session(session).await.unwrap().session.id
}

async fn send(site: &Site<'_>, id: Uuid, content: &str) -> Vec<Event> {
    let options = SendOptions { policy: ApprovalPolicy::All, ..SendOptions::default() };
    to_the_end(site.runtime.send(id, content.to_owned(), options).await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_sees_its_files_as_they_are_at_each_message() {
    let play = Play::new()
        .reply(
            "model = \"actor\", last_user = \"change\"",
            &say(&[write_file("src/words", "hello\nchanged\nworld\n")]),
        )
        .says("actor", "", "I see.");
    on_site(play, async |site| {
        site.write(".env", "KEY=hunter2\n");
        let outside = tempfile::TempDir::new().unwrap();
        std::fs::write(outside.path().join("linked"), "from elsewhere\n").unwrap();
        std::os::unix::fs::symlink(outside.path().join("linked"), site.path("src/linked")).unwrap();
        let id = carl(site).await;
        send(site, id, "What is there?").await;
        send(site, id, "Please change it.").await;
        send(site, id, "And now?").await;
        let sent = site.sent_to("actor");
        let systems: Vec<&str> = sent.iter().map(system).collect();
        let [first, before, within, after] = systems.as_slice() else { panic!("{} calls", systems.len()) };
        for text in &systems {
            // The stable prompt comes first, so that providers can cache it.
            assert!(text.starts_with(STABLE), "{text}");
            assert!(text.contains("# Files of the project") && text.contains("call greet"), "{text}");
            assert!(!text.contains("hunter2") && !text.contains("from elsewhere"), "{text}");
        }
        assert!(first.contains("hello\nworld") && first == before);
        // The files stay as they are until the message is answered.
        assert_eq!(before, within);
        assert!(after.contains("hello\nchanged\nworld"), "{after}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_at_the_files_shows_what_a_session_is_sent() {
    let play = Play::new().says("actor", "", "I see.");
    on_site(play, async |site| {
        site.write(".env", "KEY=hunter2\n");
        let id = carl(site).await;
        let shown = site.runtime.show_context(input(json!({ "persona": "carl" }))).await.unwrap();
        assert_eq!(site.model.request_count(), 0);
        let paths: Vec<&str> = shown.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["src/greet", "src/main", "src/words"]);
        assert!(shown.tokens <= shown.budget);
        let left: Vec<Value> = shown.left_out.iter().map(|it| json!([it.path, it.reason])).collect();
        assert_eq!(left, [json!([".env", { "reason": "secret" }])]);
        send(site, id, "What is there?").await;
        assert!(system(&site.sent_to("actor")[0]).contains(shown.text.trim_end()));

        // A budget holds to the last token.
        for budget in [1, 30, 60, 100] {
            let look = json!({ "persona": "carl", "budget": budget });
            let shown = site.runtime.show_context(input(look)).await.unwrap();
            assert!(shown.tokens <= budget && shown.budget == budget, "{} of {budget}", shown.tokens);
        }
        let unknown = site.runtime.show_context(input(json!({ "preset": "everythin" }))).await;
        assert_eq!(code(unknown), app::Code::NotFound);
        // Neither a path that leads out nor a secret is shown, also if it is asked for by name.
        let asked =
            json!({ "preset": "everything", "files": ["../outside", ".env", "/etc/passwd", "src/words"] });
        let shown = site.runtime.show_context(input(asked)).await.unwrap();
        assert!(!shown.text.contains("hunter2") && !shown.text.contains("root:"), "{}", shown.text);
        assert!(shown.files.iter().any(|file| file.path == "src/words"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_sees_the_files_of_its_own_checkout() {
    let play = Play::new()
        .calls("worker", "# T1:", &[write_file("src/words", "hello\nzebra\nworld\n"), done("Zebra.")])
        .calls("worker", "# T2:", &[write_file("src/two", "2\n"), done("Two.")]);
    on_site(play, async |site| {
        // The user's own changes are no part of it.
        site.write("src/words", "hello\nunsaved\nworld\n");
        let tickets = json!([
            { "id": "T1", "title": "One", "files": ["src/words"] },
            { "id": "T2", "title": "Two", "files": ["src/words"], "depends_on": ["T1"] },
        ]);
        let id = site.start(&track(json!({ "tickets": tickets }))).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged, T2 merged", "{}", site.report(id).await);
        let sent = site.sent_to("worker");
        let [one, .., two] = sent.iter().map(system).collect::<Vec<_>>()[..] else { panic!("two tickets") };
        assert!(one.contains("hello\nworld") && !one.contains("zebra"), "{one}");
        assert!(two.contains("hello\nzebra\nworld"), "what was merged is there: {two}");
        assert!(sent.iter().all(|sent| !sent.to_string().contains("unsaved")));
        assert_eq!(ticket(&board, "T1").attempts.len(), 1);
    })
    .await;
}
