//! Caps: a model that loops spends at most what it may.

use app::outputs::TrackBoard;
use conductor::{Account, CapUnit, Money, Need, Phase};
use llm::{Price, Prices};
use persona::Scope;
use serde_json::{Value, json};

use super::site::{
    Play, Site, done, last_user, on_site, on_site_with, say, states, ticket, track, write_file,
};
use crate::world::input;

/// The tokens of one call of the model that loops.
const INPUT: u64 = 1_000;
const OUTPUT: u64 = 50;

/// A model that writes another number into a file for ever, until it is told to go on.
fn looping() -> Play {
    let loop_on = format!(
        "{}\nusage = {{ input = {INPUT}, output = {OUTPUT} }}",
        say(&[write_file("src/loop", "number {{call}}\n")])
    );
    let finish = say(&[write_file("src/loop", "enough\n"), done("Enough.")]);
    Play::new()
        .reply("tool_result_of = \"submit_work\"", "text = \"That is it.\"")
        .reply("model = \"worker\", last_user = \"Attempt 2\"", &finish)
        .reply("model = \"worker\", last_user = \"# T\"", &loop_on)
        .reply("model = \"worker\", tool_result = \"\"", &loop_on)
}

fn tickets(count: usize, fields: Value) -> Value {
    let tickets: Vec<Value> =
        (1..=count).map(|at| json!({ "id": format!("T{at}"), "title": "Loop" })).collect();
    let mut track = track(fields);
    track["tickets"] = json!(tickets);
    track
}

/// The cap that a ticket waits for.
#[track_caller]
fn reached(board: &TrackBoard, id: &str) -> (Account, CapUnit) {
    match ticket(board, id).need.clone().map(|need| need.need) {
        Some(Need::Cap { account, unit }) => (account, unit),
        other => panic!("{other:?}"),
    }
}

/// The file of the loop as the last checkpoint has it.
fn kept(site: &Site<'_>, events: &[Value]) -> String {
    let last = events.iter().rev().find(|it| it["event"]["type"] == "checkpointed").expect("a checkpoint");
    let (reference, commit) = (last["event"]["reference"].as_str(), last["event"]["commit"].as_str());
    let (reference, commit) = (reference.expect("a reference"), commit.expect("a commit"));
    assert_eq!(site.git(&["rev-parse", reference]).trim(), commit);
    site.git(&["show", &format!("{commit}:src/loop")])
}

// 7.
#[tokio::test(flavor = "multi_thread")]
async fn a_loop_spends_at_most_the_cap_in_tokens_and_goes_on_once_it_is_raised() {
    const CAP: u64 = 40_000;
    on_site(looping(), async |site| {
        let id = site.start(&tickets(1, json!({ "caps": { "ticket": { "tokens": CAP } } }))).await;
        let board = site.settled(id).await;
        assert_eq!((states(&board).as_str(), board.phase), ("T1 needs_input", Phase::Waiting));
        let (account, unit) = reached(&board, "T1");
        assert!(matches!(account, Account::Ticket { ticket } if ticket.as_str() == "T1"));
        assert_eq!(unit, CapUnit::Tokens);
        // What was sent is what was spent, and no call more.
        let calls = site.model.request_count();
        assert!(calls > 2, "{calls}");
        assert_eq!(board.spent.tokens, calls * (INPUT + OUTPUT));
        assert!(board.spent.tokens <= CAP, "{:?}", board.spent);
        assert_eq!(ticket(&board, "T1").spent, board.spent);
        let sentence = &board.needs[0].sentence;
        assert!(sentence.contains("raise the cap"), "{sentence}");
        // Its work is kept.
        assert_eq!(kept(site, &site.events(id).await), format!("number {calls}\n"));

        let raised = json!({ "id": id, "ticket": "T1", "tokens": 4 * CAP });
        site.runtime.raise_cap(site.author(), input(raised)).await.unwrap();
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 merged", "{}", site.report(id).await);
        let [first, second] = ticket(&board, "T1").attempts.as_slice() else { panic!("two attempts") };
        assert_eq!(first.session, second.session, "the same worker goes on");
        assert!(
            first.fault.as_ref().unwrap().contains("the cap in tokens of ticket T1"),
            "{:?}",
            first.fault
        );
        // Nobody tells it that its work was bad.
        let sent = site.sent_to("worker");
        let told = last_user(sent.last().unwrap());
        assert!(told.contains("Attempt 2") && !told.contains("did not suffice"), "{told}");
        assert_eq!(site.merged_file(&board, "src/loop").as_deref(), Some("enough\n"));
    })
    .await;
}

// 7.
#[tokio::test(flavor = "multi_thread")]
async fn tickets_at_the_same_time_share_the_cap_of_their_track() {
    const CAP: u64 = 60_000;
    on_site(looping(), async |site| {
        let id = site.start(&tickets(3, json!({ "caps": { "track": { "tokens": CAP } } }))).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 needs_input, T2 needs_input, T3 needs_input");
        for ticket in ["T1", "T2", "T3"] {
            assert_eq!(reached(&board, ticket), (Account::Track, CapUnit::Tokens));
        }
        assert_eq!(board.spent.tokens, site.model.request_count() * (INPUT + OUTPUT));
        assert!(board.spent.tokens <= CAP, "{:?}", board.spent);
    })
    .await;
}

/// Two for a million tokens that are read, ten for a million that are written.
const PRICE: Price = Price { input: 2.0, output: 10.0, cache_read: None, cache_write: None };

// 7.
#[tokio::test(flavor = "multi_thread")]
async fn a_loop_spends_at_most_the_cap_in_money() {
    let price = |options: &mut app::RuntimeOptions| {
        options.prices = Prices::from_iter([("stage/worker".parse().unwrap(), PRICE)]);
    };
    on_site_with(looping(), price, async |site| {
        let cap = Money::from_units(0.13).unwrap();
        let id = site.start(&tickets(1, json!({ "caps": { "day": { "cost": cap } } }))).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 needs_input", "{}", site.report(id).await);
        let (account, unit) = reached(&board, "T1");
        assert!(matches!(account, Account::Day { .. }) && unit == CapUnit::Cost, "{account:?} {unit:?}");
        let calls = site.model.request_count();
        assert!(calls > 2, "{calls}");
        // 1,000 tokens read and 50 written cost 0.0025.
        assert_eq!(board.spent.cost, Money::from_micros(calls * 2_500));
        assert!(board.spent.cost <= cap && board.spent.unpriced_tokens == 0, "{:?}", board.spent);
        assert_eq!(board.spent_today, board.spent);
        let raised = json!({ "id": id, "day": true, "cost": 5.0 });
        site.runtime.raise_cap(site.author(), input(raised)).await.unwrap();
        assert_eq!(states(&site.settled(id).await), "T1 merged");
    })
    .await;
}

// 7.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_a_price_is_not_called_under_a_cap_in_money() {
    on_site(looping(), async |site| {
        let id = site.start(&tickets(1, json!({ "caps": { "track": { "cost": 1.0 } } }))).await;
        let board = site.settled(id).await;
        let need = ticket(&board, "T1").need.clone().unwrap();
        assert!(matches!(&need.need, Need::Price { model } if model.as_str() == "stage/worker"), "{need:?}");
        assert!(need.sentence.contains("give it a price, or remove the cap in money"), "{}", need.sentence);
        assert_eq!((site.model.request_count(), board.spent.tokens), (0, 0));
        // Without the cap it goes on, and its cost is unknown.
        let removed = json!({ "id": id, "tokens": 40_000 });
        site.runtime.raise_cap(site.author(), input(removed)).await.unwrap();
        let board = site.until(id, "it is worked", |board| board.spent.unpriced_tokens > 0).await;
        assert_eq!(board.spent.unpriced_tokens, board.spent.tokens);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_warned_once_when_a_cap_is_close() {
    on_site(looping(), async |site| {
        // With short replies little has to be reserved, so that the sum comes close to its cap.
        let models = json!([{ "provider": "stage", "model": "worker", "max_output_tokens": OUTPUT }]);
        let coda = json!({ "name": "coda", "system_prompt": "You are Coda.", "preferred_models": models });
        site.world.persona(Scope::Shared, coda).await;
        let mut track = tickets(1, json!({ "caps": { "ticket": { "tokens": 30_000 } } }));
        track["tickets"][0]["persona_id"] = json!("coda");
        let id = site.start(&track).await;
        let board = site.settled(id).await;
        assert_eq!(states(&board), "T1 needs_input", "{}", site.report(id).await);
        let spent = board.spent.tokens;
        assert!((24_000..=30_000).contains(&spent), "{spent}");
        let events = site.events(id).await;
        let places = |name: &str| {
            let found = events.iter().enumerate().filter(|(_, it)| it["event"]["type"] == name);
            found.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let (warned, faulted) = (places("cap_warned"), places("faulted"));
        let (&[warned], &[faulted]) = (&warned[..], &faulted[..]) else {
            panic!("one warning, one end: {events:?}")
        };
        assert!(warned < faulted);
        assert_eq!(events[warned]["event"]["account"]["ticket"], "T1");
    })
    .await;
}
