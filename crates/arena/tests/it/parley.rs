//! Open conversation: who speaks when, and who hears it.

use arena::{SetupError, Viewer};

use super::play::{Play, check, check_dropped, seat, setup, text};

#[test]
fn round_robin_goes_around_and_another_one_begins_each_time() {
    check(
        "parley Ana Ben Cleo; rounds=2 | Ana: a1 | Ben: b1 | Cleo: c1 | Ben: b2 | Cleo: c2 | Ana: a2",
        "Ana: a1 | Ben: b1 | Cleo: c1 | Ben: b2 | Cleo: c2 | Ana: a2 | (finished)",
    );
}

#[test]
fn silence_ends_a_conversation() {
    check("parley Ana Ben", "(drained)");
    check("parley Ana Ben; rounds=9 | Ana: a1 | Ben passes | Ben passes", "Ana: a1 | (drained)");
    check("parley Ana; topic=Bread | Ana: a1", "[The topic: Bread] | Ana: a1 | (drained)");
}

#[test]
fn a_room_waits_for_its_host() {
    check("parley Zoe* Ana Ben", "");
    check("parley Zoe* Ana Ben | say Zoe: hi | Ana: a | Ben: b", "Zoe: hi | Ana: a | Ben: b");
    check(
        "parley Zoe* Ana Ben | say Zoe: one | Ana: a | Ben: b | say Zoe: two | Ben: b2 | Ana: a2 | stop",
        "Zoe: one | Ana: a | Ben: b | Zoe: two | Ben: b2 | Ana: a2 | (stopped)",
    );
}

/// Asserts who is asked after a host's message, in order, where nobody has anything to say.
#[track_caller]
fn check_asked(script: &str, expected: &str) {
    let play = Play::of(script);
    let asked = play.prompts.iter().map(|(ask, _)| play.table.seats().name(ask.seat));
    assert_eq!(asked.collect::<Vec<_>>().join(" "), expected, "\n  script: {script}");
}

#[test]
fn an_at_sign_of_the_host_addresses() {
    for turns in ["round_robin", "natural", "pooled", "bidding", "parallel"] {
        let room = format!("parley Zoe* Ana Ben Cleo; turns={turns}");
        check_asked(&format!("{room} | say Zoe: @Cleo and @ana, well?"), "Cleo Ana");
    }
    let play = Play::of("parley Zoe* Ana Ben Cleo; turns=natural | say Zoe: @Cleo @all");
    assert_eq!(play.prompts[0].0.seat, seat(&play.table, "Cleo"));
}

#[test]
fn a_plain_name_raises_priority_only() {
    check_asked("parley Zoe* Ana Ben Cleo | say Zoe: Cleo?", "Ana Ben Cleo");
    let room = "parley Zoe* Ana Ben Cleo; turns=natural";
    for seed in 0..10 {
        let play = Play::of(&format!("{room}; seed={seed} | say Zoe: I ask Cleo, then Ana."));
        let asked: Vec<&str> =
            play.prompts.iter().map(|(ask, _)| play.table.seats().name(ask.seat)).collect();
        assert_eq!(asked[..2], ["Cleo", "Ana"]);
    }
}

#[test]
fn natural_turns_depend_on_talkativeness_and_the_seed() {
    let asked = |seed: u64| {
        let play =
            Play::of(&format!("parley Zoe* Ana Ben Cleo; turns=natural; seed={seed} | say Zoe: hello"));
        assert!(!play.prompts.is_empty(), "at least one speaks");
        play.prompts.iter().map(|(ask, _)| ask.seat.0).collect::<Vec<_>>()
    };
    let orders: std::collections::BTreeSet<_> = (0..30).map(asked).collect();
    assert!(orders.len() > 5, "{orders:?}");
    assert_eq!(asked(3), asked(3));
}

#[test]
fn the_last_speaker_waits() {
    for seed in 0..20 {
        let play = Play::of(&format!(
            "parley Zoe* Ana Ben; turns=natural; seed={seed} | say Zoe: @Ana hello | Ana: Hello Zoe. | say Zoe: and now"
        ));
        let asked: Vec<&str> =
            play.prompts.iter().map(|(ask, _)| play.table.seats().name(ask.seat)).collect();
        assert_eq!(asked, ["Ana", "Ben"], "{seed}");
    }
}

#[test]
fn pooled_asks_everybody_once() {
    let orders: std::collections::BTreeSet<_> = (0..20)
        .map(|seed| {
            let play =
                Play::of(&format!("parley Zoe* Ana Ben Cleo; turns=pooled; seed={seed} | say Zoe: hello"));
            let mut asked: Vec<u16> = play.prompts.iter().map(|(ask, _)| ask.seat.0).collect();
            let order = asked.clone();
            asked.sort_unstable();
            assert_eq!(asked, [1, 2, 3]);
            order
        })
        .collect();
    assert!(orders.len() > 2);
}

#[test]
fn the_highest_bid_speaks() {
    let room = "parley Zoe* Ana Ben Cleo; turns=bidding";
    check(
        &format!(
            "{room} | say Zoe: hello | Ana bid 1 | Ben bid 3 | Ben: I am Ben. | Ana bid 2 | Cleo bid 1 | Ana: I am Ana."
        ),
        "Zoe: hello | Ben: I am Ben. | Ana: I am Ana.",
    );
    // Nobody wants to: the host is next.
    check(&format!("{room} | say Zoe: hello"), "Zoe: hello");
    // Ties: who is mentioned, who was heard least, the seat.
    check(
        &format!("{room} | say Zoe: hello Cleo | Ana bid 2 | Cleo bid 2 | Cleo: Yes?"),
        "Zoe: hello Cleo | Cleo: Yes?",
    );
    check(
        &format!(
            "{room} | say Zoe: hello | Ana bid 2 | Ben bid 2 | Ana: So. | say Zoe: go on | Ana bid 2 | Ben bid 2 | Ben: On."
        ),
        "Zoe: hello | Ana: So. | Zoe: go on | Ben: On.",
    );
}

#[test]
fn bids_are_sealed_and_the_last_speaker_waits() {
    let play =
        Play::of("parley Zoe* Ana Ben Cleo; turns=bidding | say Zoe: hello | Ben bid 3 | Ben: I am Ben.");
    let bids: Vec<_> = play.prompts.iter().filter(|(ask, _)| !ask.tools.is_empty()).collect();
    let rounds: Vec<u32> = bids.iter().map(|(ask, _)| ask.id.batch).collect();
    assert_eq!(rounds, [1, 1, 1, 3, 3]);
    assert!(bids.iter().all(|(_, prompt)| !text(prompt).contains("bid 3")));
    assert!(bids[3..].iter().all(|(ask, _)| ask.seat != seat(&play.table, "Ben")));
}

#[test]
fn a_moderator_calls_on_speakers() {
    let room = "parley Zoe* Mod Ana Ben; turns=moderator; moderator=Mod";
    check(
        &format!(
            "{room} | say Zoe: hello | Mod call_on Ben | Ben: I am Ben. | Mod call_on Ana | Ana: I am Ana. | Mod wait_for_user"
        ),
        "Zoe: hello | Ben: I am Ben. | Ana: I am Ana.",
    );
    check(&format!("{room} | say Zoe: hello"), "Zoe: hello");
    let play =
        Play::of(&format!("{room} | say Zoe: hello | Mod call_on Mod | Mod call_on Ben | Ben: I am Ben."));
    assert_eq!(play.facts("invalid")[0]["reason"], "call_on needs \"name\", one of: Ana, Ben.");
}

#[test]
fn a_moderator_without_a_usable_answer_makes_the_round_pooled() {
    let room = "parley Zoe* Mod Ana Ben; turns=moderator; moderator=Mod";
    let play = Play::of(&format!("{room} | say Zoe: hello | Mod garbles | Mod garbles"));
    let mut asked: Vec<&str> =
        play.prompts.iter().map(|(ask, _)| play.table.seats().name(ask.seat)).collect();
    asked[2..].sort_unstable();
    assert_eq!(asked, ["Mod", "Mod", "Ana", "Ben"]);
}

#[test]
fn a_moderator_who_is_muted_makes_the_round_pooled() {
    let room = "parley Zoe* Mod Ana Ben; turns=moderator; moderator=Mod";
    let play = Play::of(&format!("{room} | mute Mod | say Zoe: hello"));
    assert_eq!(play.prompts.len(), 2);
    assert!(play.prompts.iter().all(|(ask, _)| ask.seat != seat(&play.table, "Mod")));
}

#[test]
fn the_rules_say_what_is_done() {
    let rules = |clause: &str| {
        let play = Play::of(clause);
        play.table.game().how_to_play(play.table.seats())
    };
    let plain = rules("parley Zoe* Ana; topic=Bread; turns_per_message=5");
    for rule in [
        "The topic: Bread",
        "The host is Zoe.",
        "At most 5 turns follow one message",
        "Write @",
        "Nobody can whisper",
    ] {
        assert!(plain.contains(rule), "{rule}: {plain}");
    }
    assert!(!plain.contains("cut in") && !plain.contains("react"));
    let open = rules("parley Ana; rounds=4; whispers; interrupts; reactions");
    for rule in ["It has 4 rounds", "You may whisper", "may cut in", "may react"] {
        assert!(open.contains(rule), "{rule}: {open}");
    }
    assert!(!rules("parley Ana; turns=parallel").contains("Write @"));
    let isolated = rules("parley Zoe* Ana; context=isolated");
    assert!(isolated.contains("only the host hears you") && !isolated.contains("Write @"));
}

#[test]
fn parallel_players_have_one_snapshot() {
    let play = Play::of(
        "parley Zoe* Ana Ben Cleo; turns=parallel | say Zoe: hello | Ben: I am Ben. | Ana: I am Ana.",
    );
    assert_eq!(play.shown(), "Zoe: hello | Ana: I am Ana. | Ben: I am Ben.");
    assert!(play.prompts.iter().all(|(ask, prompt)| ask.as_of == 2 && !text(prompt).contains("I am")));
    assert_eq!(play.prompts.len(), 3);
    // In turn, each hears those before.
    let play = Play::of("parley Zoe* Ana Ben | say Zoe: hello | Ana: I am Ana. | Ben: I am Ben.");
    assert!(text(&play.prompts[1].1).contains("I am Ana."));
}

#[test]
fn isolated_players_hear_the_host_and_themselves() {
    for turns in ["round_robin", "parallel"] {
        let play = Play::of(&format!(
            "parley Zoe* Ana Ben; context=isolated; turns={turns} | say Zoe: hello | Ana: I am Ana. | Ben: I am Ben. | \
             say Zoe: go on | Ana: More of Ana. | Ben: More of Ben."
        ));
        let shown = |name: &str| play.shown_to(Viewer::Seat(seat(&play.table, name)));
        assert_eq!(shown("Ana"), "Zoe: hello | Ana>Zoe: I am Ana. | Zoe: go on | Ana>Zoe: More of Ana.");
        assert_eq!(shown("Ben"), "Zoe: hello | Ben>Zoe: I am Ben. | Zoe: go on | Ben>Zoe: More of Ben.");
        assert!(shown("Zoe").contains("I am Ana.") && shown("Zoe").contains("I am Ben."));
        let others = play.prompts.iter().filter(|(ask, _)| ask.seat == seat(&play.table, "Ben"));
        assert!(
            others
                .into_iter()
                .all(|(_, prompt)| !text(prompt).contains("of Ana") && !text(prompt).contains("am Ana"))
        );
    }
}

#[test]
fn players_call_on_one_another_within_the_caps() {
    let room = "parley Zoe* Ana Ben Cleo";
    check(
        &format!("{room} | say Zoe: @Ana hello | Ana: @Ben, what do you say? | Ben: Nothing, @Zoe."),
        "Zoe: @Ana hello | Ana: @Ben, what do you say? | Ben: Nothing, @Zoe.",
    );
    // An @all of a player is ignored, and so is its own name.
    check(
        &format!("{room} | say Zoe: @Ana hello | Ana: @all @Ana listen!"),
        "Zoe: @Ana hello | Ana: @all @Ana listen!",
    );
    let chatter = |rounds: u32| {
        (0..rounds)
            .map(|at| format!(" | Ana: {at} and you, @Ben? | Ben: {at} but you, @Ana?"))
            .collect::<String>()
    };
    let deep = format!("{room} | say Zoe: @Ana hello{}", chatter(2));
    assert_eq!(Play::of(&deep).prompts.len(), 4, "a call, and three that follow from it");
    check(
        &deep,
        "Zoe: @Ana hello | Ana: 0 and you, @Ben? | Ben: 0 but you, @Ana? | Ana: 1 and you, @Ben? | Ben: 1 but you, @Ana?",
    );
    let many = format!("{room}; depth=100 | say Zoe: @Ana hello{}", chatter(4));
    assert_eq!(Play::of(&many).prompts.len(), 8, "eight turns for one message");
}

#[test]
fn courtesies_and_echoes_end_a_stretch() {
    check_dropped(
        "parley Zoe* Ana Ben | say Zoe: what is good bread? | Ana: What is good bread?!",
        "Ana echo",
    );
    check_asked(
        "parley Zoe* Ana Ben Cleo | say Zoe: tell me of bread | Ana: Thank you! | Ben: Thanks, well said.",
        "Ana Ben",
    );
}

#[test]
fn muted_players_listen_and_leavers_do_not() {
    let play = Play::of(
        "parley Zoe* Ana Ben Cleo | mute Ana | say Zoe: one | Ben: b1 | leave Cleo | say Zoe: two | Ben: b2 | unmute Ana | \
         say Zoe: three | Ana: a3",
    );
    assert_eq!(play.shown(), "Zoe: one | Ben: b1 | -Cleo | Zoe: two | Ben: b2 | Zoe: three | Ana: a3");
    assert!(play.last_prompt("Ana").contains("b1"));
    assert_eq!(play.shown_to(Viewer::Seat(seat(&play.table, "Cleo"))), "Zoe: one | Ben: b1");
}

#[test]
fn newcomers_know_nothing_of_what_was_before() {
    let play = Play::of(
        "parley Zoe* Ana | say Zoe: a secret | Ana: I keep it. | join Dora | say Zoe: hello | Ana: Hi, Dora. | Dora: Hi.",
    );
    assert_eq!(
        play.shown_to(Viewer::Seat(seat(&play.table, "Dora"))),
        "+Dora | Zoe: hello | Dora: Hi. | Ana: Hi, Dora."
    );
    let prompt = play.last_prompt("Dora");
    assert!(
        !prompt.contains("secret") && prompt.contains(r#"{"n":1,"from":"table","notice":"Dora joins."}"#),
        "{prompt}"
    );
}

#[test]
fn a_message_for_some_is_answered_by_them() {
    let play = Play::of("parley Zoe* Ana Ben; | say Zoe > Ben: between us | Ben: I see.");
    assert_eq!(play.shown(), "Zoe>Ben: between us | Ben>Zoe: I see.");
    assert_eq!(play.prompts.len(), 1);
}

#[test]
fn whispers_reach_those_who_are_named() {
    let play = Play::of("parley Ana Ben Cleo; rounds=1; whispers | Ana > Ben: psst, Ben | Ben: What?");
    assert_eq!(play.shown(), "Ana>Ben: psst, Ben | Ben: What? | (finished)");
    assert!(!play.last_prompt("Cleo").contains("psst"));
    // A public speech is no answer to a whisper.
    let answer =
        play.table.events().find(|event| event.payload.content() == Some("What?")).expect("a speech");
    assert!(answer.blocks.is_empty());
    let play = Play::of("parley Ana Ben Cleo; rounds=1 | Ana > Ben: psst | Ana: All right, aloud.");
    assert_eq!(play.shown(), "Ana: All right, aloud. | (finished)");
}

#[test]
fn the_host_ends_a_stretch_when_its_time_is_up() {
    let script =
        "parley Zoe* Ana Ben; turns=moderator; moderator=Ana | say Zoe: hello | time up | say Zoe: again";
    check(script, "Zoe: hello | Zoe: again");
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let refused = |clause: &str| match arena::open(&setup(clause)) {
        Err(SetupError::Invalid { field, .. }) => field.to_owned(),
        Err(SetupError::Players { game, .. }) => format!("{game} players"),
        Err(SetupError::NoGame { name }) => format!("no {name}"),
        Err(SetupError::Settings { .. }) => "settings".to_owned(),
        Ok(_) => "nothing".to_owned(),
    };
    assert_eq!(refused("parley Ana"), "nothing");
    assert_eq!(refused("parley Ana; context=isolated"), "context");
    assert_eq!(refused("parley Ana; turns=moderator"), "moderator");
    assert_eq!(refused("parley Ana; moderator=Zed"), "moderator");
    assert_eq!(refused("parley Ana; colour=red"), "settings");
    assert_eq!(
        refused(&format!("parley Ana; topic={}", "x".repeat(arena::limits::SETTINGS_BYTES))),
        "settings"
    );
    assert_eq!(refused("chess Ana Ben"), "no chess");
    assert_eq!(refused("mafia Ana Ben Cleo Dan; discussion=999"), "discussion");
    assert_eq!(refused("mafia Ana Ben Cleo"), "mafia players");
    assert_eq!(refused("mafia Ana Ben Cleo Dan; mafia=2"), "mafia");
    assert_eq!(refused(r#"mafia Ana Ben Cleo Dan; roles={"Zed":"mafia"}"#), "roles");
    assert_eq!(refused(r#"mafia Ana Ben Cleo Dan; roles={"Ana":"mafia","Ben":"mafia"}"#), "roles");
    assert_eq!(refused("auction Ana"), "auction players");
    assert_eq!(refused("auction Ana Ben; lots=[]"), "lots");
    assert_eq!(refused("auction Ana Ben; budget=-1"), "budget");
    assert_eq!(refused("auction Ana Ben; step=0"), "step");
    assert_eq!(refused("debate Ana Ben; motion=x"), "debate players");
    assert_eq!(refused("debate Ana Ben Jo"), "motion");
    assert_eq!(refused("debate Ana Ben Jo; motion=x; judge=Zed"), "judge");
    assert_eq!(refused(r#"debate Ana Ben Jo; motion=x; proposition=["Jo"]; opposition=["Ana"]"#), "sides");
    assert_eq!(refused("debate Ana Ben Jo; motion=x; rounds=99"), "rounds");
    assert_eq!(refused(r#"debate Ana Ben Jo; motion=x; criteria=["a b"]"#), "criteria");
}
