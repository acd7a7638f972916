use proptest::prelude::*;

use super::*;
use crate::{Cap, Caps, Escalation, Mma, Model, Money, ReviewPolicy, Setup, Tier, Tiers, parse_track};

#[test]
fn a_drafted_track_is_readable() {
    let id = |text: &str| TicketId::parse(text).expect("an id");
    let mut track = Track::new("Sign in");
    track.goal = "People sign in.\nThey say \"hello\".\n".into();
    track.check = Some("cargo test".into());
    track.caps.day.cost = Money::from_units(2.5);
    track.mma.default_personas.orchestrator = persona::Name::parse("lead").ok();
    track.review.rounds = 1;
    track.setup = Some(Setup { command: Some("npm ci".into()), ..Setup::default() });
    let mut form = Ticket::new(id("form"), "A form");
    form.acceptance = vec!["It has two fields.".into(), "x".repeat(100)];
    let mut page = Ticket::new(id("page"), "A page");
    page.depends_on = vec![id("form")];
    page.tier = Tier::TechLead;
    page.caps.tokens = Some(5);
    track.tickets = vec![form, page];
    let text = to_toml(&track);
    assert_eq!(parse_track(&text), Ok(track));
    insta::assert_snapshot!(text);
}

/// Texts with everything that a text of TOML could trip over.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z ]{0,19}",
        "x[\"'\\\\\n\t\r#=\\[\\]{}\u{1}\u{7f}\u{85}\u{feff}é…]{0,12}",
        "x(?s:.){0,20}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    "[a-z\"'\\\\#é]{1,20}"
}

fn word() -> impl Strategy<Value = String> {
    "[a-z\"'#=é][a-z\"'#= é]{0,12}"
}

fn name() -> impl Strategy<Value = persona::Name> {
    "[a-zA-Z0-9][a-zA-Z0-9_-]{0,8}".prop_map(|name| persona::Name::parse(&name).expect("a name"))
}

fn model() -> impl Strategy<Value = Model> {
    "[a-z]{1,4}/[a-z/:.\"]{1,6}".prop_map(|model| Model::parse(&model).expect("a model"))
}

fn cap() -> impl Strategy<Value = Cap> {
    let cost = prop::option::of((0..1_u64 << 40).prop_map(Money::from_micros));
    (prop::option::of(1..1_u64 << 52), cost).prop_map(|(tokens, cost)| Cap { tokens, cost })
}

fn tiers<T: std::fmt::Debug + Clone>(of: BoxedStrategy<T>) -> impl Strategy<Value = Tiers<T>> {
    let of = prop::option::of(of);
    (of.clone(), of.clone(), of.clone(), of).prop_map(|(orchestrator, tech_lead, worker, reviewer)| Tiers {
        orchestrator,
        tech_lead,
        worker,
        reviewer,
    })
}

prop_compose! {
    fn escalation()(
        (models, red_checks, transport_retries) in (0..4_u32, 1..4_u32, 0..9_u32),
        backoff in 0..9_u64,
        split in any::<bool>(),
        failures in 0..9_u32,
        (silence, tokens_without_change) in (1..9_999_u64, 0..1_u64 << 40),
    ) -> Escalation {
        Escalation {
            models, red_checks, transport_retries, backoff, split, failures, silence, tokens_without_change,
        }
    }
}

prop_compose! {
    fn ticket(at: usize)(
        title in line(),
        description in prop_oneof![Just(String::new()), text()],
        tier in prop::sample::select(Tier::ALL.to_vec()),
        after in prop::collection::btree_set(0..at.max(1), 0..at.min(3) + 1),
        persona_id in prop::option::of(name()),
        model_override in prop::option::of(model()),
        files in prop::collection::vec(word(), 0..3),
        context_preset in prop::option::of(name()),
        acceptance in prop::collection::vec(text(), 0..4),
        check in prop::option::of(text()),
        scope in prop::collection::vec("[a-z/*]{1,8}x", 0..3),
        caps in cap(),
    ) -> Ticket {
        let id = |at: usize| TicketId::parse(&format!("T{at}")).expect("an id");
        let scope = scope.into_iter().map(|it| it.trim_start_matches('/').to_owned()).collect();
        let depends_on = after.into_iter().filter(|it| *it < at).map(id).collect();
        Ticket {
            id: id(at), title, description, tier, depends_on, persona_id, model_override, files,
            context_preset, acceptance, check, scope, caps,
        }
    }
}

prop_compose! {
    fn track()(
        (title, goal) in (line(), prop_oneof![Just(String::new()), text()]),
        base in prop::option::of("[a-z]{1,9}"),
        check in prop::option::of(text()),
        setup in prop::option::of((prop::option::of(text()), 1..9_999_u64, prop::collection::vec("[a-z.]x", 0..3))),
        concurrency in 1..20_usize,
        step_approval in any::<bool>(),
        (ticket_cap, track_cap, day_cap) in (cap(), cap(), cap()),
        (default_personas, default_models) in (tiers(name().boxed()), tiers(model().boxed())),
        (enabled, rounds, other_model) in (any::<bool>(), 1..4_u32, any::<bool>()),
        escalation in escalation(),
        tickets in (1..6_usize).prop_flat_map(|count| (0..count).map(ticket).collect::<Vec<_>>()),
    ) -> Track {
        Track {
            title, goal, base, check, concurrency, step_approval, tickets, escalation,
            setup: setup.map(|(command, timeout, copy)| Setup { command, timeout, copy }),
            scope: Vec::new(),
            caps: Caps { ticket: ticket_cap, track: track_cap, day: day_cap },
            mma: Mma { default_personas, default_models },
            review: ReviewPolicy { enabled, rounds, other_model },
        }
    }
}

proptest! {
    #[test]
    fn a_written_track_is_read_back(track in track()) {
        let text = to_toml(&track);
        prop_assert_eq!(parse_track(&text), Ok(track), "{}", text);
    }
}
