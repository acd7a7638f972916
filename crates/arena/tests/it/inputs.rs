//! Answers, faults, diaries and changes at the table.

use arena::{
    Answer, Ask, AskId, Audience, Effect, Fault, Input, Newcomer, Outcome, Phase, Refusal, Role, SeatId,
    Table, Viewer,
};

use arena::tournament::{self, Conduct};

use super::play::{Play, assert_sound, check, setup};

#[test]
fn an_invalid_answer_has_one_more_try() {
    let play =
        Play::of(r#"parley Ana Ben; rounds=1 | Ana raw {"say": "x | Ana: Better. | Ben raw {} | Ben raw {}"#);
    assert_eq!(play.shown(), "Ana: Better. | (finished)");
    let asks: Vec<_> = play.prompts.iter().map(|(ask, _)| ask).collect();
    assert_eq!(asks[0].invalid, None);
    assert_eq!(asks[1].invalid.as_deref(), Some("Your answer is no valid JSON."));
    assert_eq!((asks[0].id.attempt, asks[1].id.attempt), (1, 2));
    assert_ne!(asks[0].sampling_seed, asks[1].sampling_seed);
    assert_eq!((play.facts("invalid").len(), play.facts("fell_back").len()), (3, 1));
    assert!(
        play.prompts[1]
            .1
            .messages
            .last()
            .expect("a message")
            .text
            .contains("not accepted. Your answer is no")
    );
}

#[test]
fn faults_are_counted_by_seat() {
    let play = Play::of("parley Ana Ben; rounds=1 | Ana garbles | Ana: Better. | Ben garbles | Ben garbles");
    let conduct = |seat| tournament::conduct(play.table.entries(), SeatId(seat));
    assert_eq!(conduct(0), Conduct { asked: 1, invalid: 1, fell_back: 0 });
    assert_eq!(conduct(1), Conduct { asked: 1, invalid: 2, fell_back: 1 });
}

#[test]
fn faults_of_a_player_are_a_pass() {
    check("parley Ana Ben; rounds=1 | Ana times out | Ben: I am here.", "Ben: I am here. | (finished)");
    check(
        "parley Ana Ben; rounds=1 | Ana garbles | Ana garbles | Ben: I am here.",
        "Ben: I am here. | (finished)",
    );
    check(
        "parley Ana Ben; rounds=1 | Ana garbles | Ana: Sorry! | Ben: I am here.",
        "Ana: Sorry! | Ben: I am here. | (finished)",
    );
    let play = Play::of("parley Ana Ben; rounds=1 | Ana times out | Ben: I am here.");
    assert_eq!(play.facts("fell_back")[0]["fault"], "timed_out");
}

#[test]
fn faults_of_a_provider_are_tried_again_and_then_void_the_game() {
    check(
        "parley Ana Ben; rounds=1 | Ana breaks | Ana breaks | Ana: At last. | Ben: I am here.",
        "Ana: At last. | Ben: I am here. | (finished)",
    );
    let void = "parley Ana Ben; rounds=1 | Ana breaks | Ana breaks | Ana breaks";
    check(void, "(void)");
    let play = Play::of(void);
    assert!(play.table.ending().expect("an end").winners.is_empty());
    check(&void.replace("Ana Ben;", "Ana Ben; limit.on_provider_fault=pass;"), "(drained)");
}

/// Two players who talk long, with a small memory.
fn long_talk() -> String {
    let words = "bread ".repeat(40);
    // Another one begins in each round.
    let round = |at: u32| {
        let (one, two) = if at.is_multiple_of(2) { ("Ana", "Ben") } else { ("Ben", "Ana") };
        format!("{one}: First {at}, {words}and {at}. | {two}: Second {at} is {words}or {at}.")
    };
    let rounds: Vec<String> = (0..6).map(round).collect();
    format!("parley Ana Ben; rounds=6; limit.memory_tokens=300 | {}", rounds.join(" | "))
}

#[test]
fn a_long_memory_becomes_a_diary() {
    let play = Play::of(&long_talk());
    let most = play.compactions.iter().map(|compact| compact.lines.len()).max().expect("a diary");
    assert!(most < 3_000, "{most}");
    // The last prompt begins with the diary and goes on with the lines after it.
    let (ask, prompt) = play.prompts.last().expect("a prompt");
    let memory = play.table.memory(ask.seat).expect("a memory");
    let diary = memory.diary();
    assert!(diary.lines > 0 && diary.lost == 0, "{diary:?}");
    assert_eq!(prompt.messages[0].role, Role::User);
    let begins = format!("Your diary of lines 1 to {}: \"I saw ", diary.lines);
    assert!(prompt.messages[0].text.starts_with(&begins), "{}", prompt.messages[0].text);
    let whole: String = prompt.messages.iter().map(|message| message.text.as_str()).collect();
    assert!(!whole.contains("First 0") && whole.contains("5"), "{whole}");
    assert!(whole.len() < 2_400, "{}", whole.len());
    let failed = play.facts("diary").iter().filter(|fact| fact["failed"] == true).count();
    assert_eq!(failed, 0);
}

#[test]
fn a_diary_that_fails_loses_its_lines_openly() {
    let setup = setup(long_talk().split('|').next().expect("a setup"));
    let mut table = Table::new(setup.clone(), arena::open(&setup).expect("a game"));
    let mut effects: std::collections::VecDeque<Effect> = table.step(Input::Start).expect("a start").into();
    let (mut last, mut turn) = (String::new(), 0);
    while let Some(effect) = effects.pop_front() {
        let input = match effect {
            Effect::Ask(ask) => {
                last = table.prompt(&ask, None).messages[0].text.clone();
                turn += 1;
                let words = format!("Turn {turn}: {} {turn}.", format!("bread{turn} ").repeat(60));
                Input::Answer { ask: ask.id, answer: Answer::text(words) }
            }
            Effect::Compact(compact) => {
                // The question comes after the diary, not before it.
                let early = Input::Answer { ask: compact.ask, answer: Answer::pass() };
                assert_eq!(table.step(early), Err(Refusal::Stale));
                Input::Diary { ask: compact.ask, text: None }
            }
            _ => continue,
        };
        effects.extend(table.step(input).expect("a step"));
    }
    assert!(last.contains("earlier lines are forgotten.)"), "{last}");
    assert_sound(&table);
}

/// A table whose questions are open: Ana and Ben are asked in parallel after a host's message.
fn asked_in_parallel() -> (Table, Vec<Ask>) {
    let setup = setup("parley Zoe* Ana Ben; turns=parallel");
    let mut table = Table::new(setup.clone(), arena::open(&setup).expect("a game"));
    table.step(Input::Start).expect("a start");
    let say = Input::Say { seat: SeatId(0), audience: Audience::All, content: "hello".to_owned() };
    let effects = table.step(say).expect("a message");
    (table, asks(effects))
}

fn asks(effects: Vec<Effect>) -> Vec<Ask> {
    let asks =
        effects.into_iter().filter_map(|effect| if let Effect::Ask(ask) = effect { Some(ask) } else { None });
    asks.collect()
}

fn answer(table: &mut Table, ask: &Ask, words: &str) -> Result<Vec<Effect>, Refusal> {
    table.step(Input::Answer { ask: ask.id, answer: Answer::text(words) })
}

#[test]
fn answers_count_once_all_are_in() {
    let (mut table, asks) = asked_in_parallel();
    assert!(table.open_asks().eq(&asks));
    let entries = table.entries().len();
    assert!(answer(&mut table, &asks[1], "I am Ben.").expect("an answer").is_empty());
    assert_eq!(table.entries().len(), entries);
    assert!(table.open_asks().eq(&asks[..1]));
    assert_eq!(answer(&mut table, &asks[1], "I am Ben again."), Err(Refusal::Stale));
    assert_eq!(answer(&mut table, &asks[0], "I am Ana.").expect("an answer").len(), 2);
    assert_eq!(answer(&mut table, &asks[0], "I am Ana again."), Err(Refusal::Stale));
    assert_eq!(table.phase(), Phase::Waiting);
    assert_sound(&table);
}

#[test]
fn a_leaver_is_not_waited_for() {
    let (mut table, asks) = asked_in_parallel();
    answer(&mut table, &asks[0], "I am Ana.").expect("an answer");
    table.step(Input::Leave { seat: SeatId(2) }).expect("a leaving");
    assert_eq!(answer(&mut table, &asks[1], "I am Ben."), Err(Refusal::Stale));
    assert_eq!(table.phase(), Phase::Waiting);
    assert!(
        table.memory(SeatId(2)).expect("a memory").len() < table.memory(SeatId(1)).expect("a memory").len()
    );
    assert_sound(&table);
    assert_eq!(table.step(Input::Leave { seat: SeatId(2) }), Err(Refusal::NoSeat));
}

#[test]
fn changes_at_the_table_wait_for_open_questions() {
    let (mut table, asks) = asked_in_parallel();
    let join = Input::Join { newcomer: Newcomer::player("Dora") };
    assert!(table.step(join).expect("a newcomer").is_empty());
    table.step(Input::Mute { seat: SeatId(1), muted: true }).expect("a mute");
    assert_eq!(table.seats().len(), 3);
    answer(&mut table, &asks[0], "I am Ana.").expect("an answer");
    answer(&mut table, &asks[1], "I am Ben.").expect("an answer");
    assert_eq!(table.seats().len(), 4);
    assert!(!table.seats().may_speak(SeatId(1)));
    assert_sound(&table);
}

#[test]
fn a_game_goes_on_with_who_is_there() {
    let setup = setup("parley Ana Ben Cleo; rounds=2");
    let mut table = Table::new(setup.clone(), arena::open(&setup).expect("a game"));
    let ana = asks(table.step(Input::Start).expect("a start")).remove(0);
    table.step(Input::Join { newcomer: Newcomer::player("Dora") }).expect("a newcomer");
    table.step(Input::Mute { seat: SeatId(1), muted: true }).expect("a mute");
    let mut asked = asks(table.step(Input::Leave { seat: SeatId(0) }).expect("a leaving"));
    assert_eq!(answer(&mut table, &ana, "Too late."), Err(Refusal::Stale));
    let mut order = Vec::new();
    while let Some(ask) = asked.pop() {
        order.push(table.seats().name(ask.seat).to_owned());
        asked =
            asks(answer(&mut table, &ask, &format!("Number {} speaks.", ask.id.batch)).expect("an answer"));
    }
    assert_eq!(order, ["Cleo", "Dora", "Cleo"], "Ben is muted, and Dora begins the second round");
    assert_sound(&table);
}

#[test]
fn a_message_during_open_questions_is_kept() {
    let (mut table, open) = asked_in_parallel();
    let say = Input::Say { seat: SeatId(0), audience: Audience::All, content: "wait".to_owned() };
    table.step(say).expect("a message");
    // It is in the log at once, and heard after the answers.
    let (mut again, effects) = Table::replay(&table.log()).expect("a replay");
    assert_eq!(asks(effects), open);
    for table in [&mut table, &mut again] {
        answer(table, &open[0], "I am Ana.").expect("an answer");
        let further = answer(table, &open[1], "I am Ben.").expect("an answer");
        assert_eq!(asks(further).len(), 2, "both answer the second message");
        let heard: Vec<&str> =
            table.view(Viewer::Audience).iter().filter_map(|(_, it)| it.payload.content()).collect();
        assert_eq!(heard, ["hello", "wait", "I am Ana.", "I am Ben."]);
    }
    assert_eq!(again.log(), table.log());
}

#[test]
fn inputs_out_of_place_are_refused() {
    let setup = setup("parley Zoe* Ana");
    let mut table = Table::new(setup.clone(), arena::open(&setup).expect("a game"));
    assert_eq!(table.phase(), Phase::New);
    assert_eq!(table.step(Input::Stop), Err(Refusal::NotStarted));
    table.step(Input::Start).expect("a start");
    assert_eq!(table.step(Input::Start), Err(Refusal::Started));
    assert_eq!(table.step(Input::Retry), Err(Refusal::NotPaused));
    let say = |seat: u16, content: &str| Input::Say {
        seat: SeatId(seat),
        audience: Audience::All,
        content: content.to_owned(),
    };
    assert_eq!(table.step(say(1, "hello")), Err(Refusal::NotHost));
    assert_eq!(table.step(say(9, "hello")), Err(Refusal::NoSeat));
    assert_eq!(table.step(say(0, "  ")), Err(Refusal::Unspeakable));
    assert_eq!(table.step(say(0, &"x".repeat(arena::limits::SPEECH_BYTES + 1))), Err(Refusal::Unspeakable));
    for _ in 2..arena::limits::SEATS {
        table.step(Input::Join { newcomer: Newcomer::player("Dora") }).expect("a newcomer");
    }
    assert_eq!(table.step(Input::Join { newcomer: Newcomer::player("Eve") }), Err(Refusal::Full));
    table.step(Input::Stop).expect("a stop");
    assert_eq!(table.step(say(0, "hello")), Err(Refusal::Over));
    assert_sound(&table);
}

#[test]
fn a_stop_leaves_open_questions_behind() {
    let (mut table, asks) = asked_in_parallel();
    answer(&mut table, &asks[0], "I am Ana.").expect("an answer");
    let effects = table.step(Input::Stop).expect("a stop");
    assert!(matches!(effects.last(), Some(Effect::End(ending)) if ending.outcome == Outcome::Stopped));
    assert_eq!(answer(&mut table, &asks[1], "I am Ben."), Err(Refusal::Over));
    assert_eq!(
        table.view(Viewer::Master).iter().filter(|(_, event)| event.payload.content().is_some()).count(),
        1
    );
    assert_sound(&table);
}

#[test]
fn a_failed_provider_pauses_the_game() {
    let (mut table, asks) = asked_in_parallel();
    let fault = Input::Fault { ask: asks[0].id, fault: Fault::Provider };
    let effects = table.step(fault.clone()).expect("a fault");
    assert_eq!(effects, [Effect::Pause { ask: AskId { attempt: 2, ..asks[0].id }, failures: 1 }]);
    assert_eq!(table.phase(), Phase::Paused);
    assert_eq!(table.step(fault), Err(Refusal::Stale));
    // The others' answers count meanwhile.
    answer(&mut table, &asks[1], "I am Ben.").expect("an answer");
    let again = self::asks(table.step(Input::Retry).expect("a retry"));
    assert_eq!((again.len(), table.phase()), (1, Phase::Ongoing));
    answer(&mut table, &again[0], "I am Ana.").expect("an answer");
    assert_eq!(table.phase(), Phase::Waiting);
    assert_sound(&table);
}

#[test]
fn an_answer_that_is_too_long_is_not_kept() {
    let (mut table, asks) = asked_in_parallel();
    let effects =
        answer(&mut table, &asks[0], &"x".repeat(arena::limits::ANSWER_BYTES + 1)).expect("an answer");
    let again = self::asks(effects);
    assert!(again[0].invalid.as_ref().is_some_and(|reason| reason.ends_with("or is too long.")));
    answer(&mut table, &again[0], "Shorter.").expect("an answer");
    answer(&mut table, &asks[1], "I am Ben.").expect("an answer");
    assert!(table.log().to_lines().len() < 10_000);
    assert_sound(&table);
}

#[test]
fn schemas_of_answers_fit_the_question() {
    let keys = |ask: &Ask| {
        let schema = ask.answer_schema().expect("a schema");
        schema["properties"].as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let (_, asks) = asked_in_parallel();
    assert_eq!(keys(&asks[0]), "pass say");
    let play = Play::of("parley Ana Ben; rounds=1; whispers; interrupts | Ana: One. Two. | Ben cuts 1");
    let kinds: Vec<String> = play.prompts.iter().map(|(ask, _)| keys(ask)).collect();
    assert_eq!(kinds, ["pass say to", "bid cut pass", "pass say to", "pass say to"]);
    let bids = Play::of("auction Ana Ben; talk=false");
    assert!(bids.prompts[0].0.answer_schema().is_none());
}
