//! Tracks before they are worked: plans that call no model, drafts by tier 1.

use app::inputs::ListTracks;
use persona::{Name, Scope};
use serde_json::{Value, json};

use super::site::{Play, last_user, on_site, states, track};
use crate::running::stage::offered;
use crate::world::{code, input};

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_who_would_work_what_and_calls_no_model() {
    on_site(Play::new(), async |site| {
        let models = json!([{ "provider": "stage", "model": "worker" }, { "provider": "stage", "model": "second" }]);
        let pia = json!({
            "name": "pia", "system_prompt": "You are Pia.", "preferred_models": models,
            "aggregation_strategy": "full",
        });
        site.world.persona(Scope::Shared, pia).await;
        let tickets = json!([
            { "id": "T2", "title": "Two", "depends_on": ["T1"], "persona_id": "ghost" },
            { "id": "T1", "title": "One", "persona_id": "pia", "model_override": "stage/other", "files": ["src/words"] },
        ]);
        let track = track(json!({ "tickets": tickets, "review": { "enabled": true } }));
        let plan = site.runtime.plan_track(input(json!({ "track": track }))).await.unwrap();
        assert!(plan.isolate);
        let [one, two] = plan.tickets.as_slice() else { panic!("two tickets") };
        assert_eq!((one.id.as_str(), one.depth, two.id.as_str(), two.depth), ("T1", 0, "T2", 1));
        let names = |ticket: &app::outputs::PlannedTicket| {
            ticket.models.iter().map(|model| model.name().to_owned()).collect::<Vec<_>>()
        };
        // The ticket's model, then the persona's in their order; the tier's model for a persona without one.
        assert_eq!((names(one), names(two)), (
            ["other", "worker", "second"].map(str::to_owned).to_vec(),
            vec!["worker".to_owned()],
        ));
        assert_eq!(one.persona.as_ref().map(Name::as_str), Some("pia"));
        assert_eq!(two.persona.as_ref().map(Name::as_str), Some("code_worker"));
        assert_eq!(two.fell_back[0].persona.as_str(), "ghost");
        assert_eq!(one.reviewer.as_ref().map(Name::as_str), Some("qa_reviewer"));
        assert_eq!((one.check.as_deref(), one.cap.tokens), (Some("./check.sh"), None));
        let context = one.context.expect("files");
        assert!(context.files >= 4 && context.tokens > 0 && context.tokens <= context.budget, "{context:?}");
        assert!(one.tokens > 0);
        // Nothing was called, and nothing was stored.
        assert_eq!(site.model.request_count(), 0);
        assert!(site.runtime.list_tracks(ListTracks::default()).await.unwrap().items.is_empty());
        assert!(!site.git(&["for-each-ref"]).contains("masque"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tickets_that_wait_for_each_other_are_refused_with_their_cycle() {
    on_site(Play::new(), async |site| {
        let tickets = json!([
            { "id": "T1", "title": "One", "depends_on": ["T3"] }, { "id": "T2", "title": "Two", "depends_on": ["T1"] },
            { "id": "T3", "title": "Three", "depends_on": ["T2"] },
        ]);
        let track = track(json!({ "tickets": tickets }));
        let refused = site.runtime.create_track(input(json!({ "track": track }))).await.unwrap_err();
        let path = ["T1 → T3 → T2 → T1", "T1 → T2 → T3 → T1"];
        assert!(path.iter().any(|path| refused.to_string().contains(path)), "{refused}");
        let planned = site.runtime.plan_track(input(json!({ "track": track }))).await;
        assert_eq!(code(planned), refused.report().code);
    })
    .await;
}

/// A track as a model hands it in.
fn drafted() -> Value {
    json!({
        "title": "Say more", "goal": "The project says more.", "check": "./check.sh",
        "review": { "enabled": false },
        "mma": { "default_models": { "Tier 3": "stage/worker" } },
        "tickets": [{ "id": "T1", "title": "Say more", "acceptance": ["src/more says more"] }],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_of_tier_1_is_only_a_text_until_a_person_creates_it() {
    let mut bad = drafted();
    bad["tickets"] = json!([]);
    let play = Play::new()
        .reply(
            "model = \"planner\", tool_result = \"the track has no tickets\"",
            &super::site::say(&[("submit_track", drafted())]),
        )
        .calls("planner", "# The epic", &[("submit_track", bad)]);
    on_site(play, async |site| {
        let epic = json!({ "epic": "Say more than two words.", "model": "stage/planner" });
        let draft = site.runtime.draft_track(input(epic.clone())).await.unwrap();
        assert_eq!((draft.track.title.as_str(), draft.track.tickets.len()), ("Say more", 1));
        assert_eq!(conductor::parse_track(&draft.toml).unwrap(), draft.track);
        // It read the project in plan mode: nothing that changes anything, and no refused track.
        let sent = site.sent_to("planner");
        let tools = offered(&sent[0]);
        assert!(tools.contains(&"submit_track") && tools.contains(&"read_file"), "{tools:?}");
        assert!(!tools.contains(&"write_file") && !tools.contains(&"run_command"), "{tools:?}");
        assert!(last_user(&sent[0]).contains("Say more than two words."));
        assert!(site.runtime.list_tracks(ListTracks::default()).await.unwrap().items.is_empty());

        // Asked again, the result is there without another call.
        let calls = site.model.request_count();
        let mut again = epic;
        again["session"] = json!(draft.session);
        let again = site.runtime.draft_track(input(again)).await.unwrap();
        assert_eq!((again.toml, site.model.request_count()), (draft.toml.clone(), calls));

        let created = site.runtime.create_track(input(json!({ "toml": draft.toml }))).await.unwrap();
        let board = site.start_with(created.id, json!({ "drafted": true })).await;
        assert_eq!(states(&board), "T1 awaiting_approval");
        assert_eq!(site.model.request_count(), calls);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_is_never_handed_in_is_an_error_that_says_so() {
    let play = Play::new().says("planner", "", "It is a good epic.");
    on_site(play, async |site| {
        let epic = json!({ "epic": "Say more.", "model": "stage/planner" });
        let refused = site.runtime.draft_track(input(epic)).await.unwrap_err();
        assert!(refused.to_string().contains("nothing was handed in"), "{refused}");
        // It was reminded once.
        assert_eq!(site.model.request_count(), 2);
    })
    .await;
}
