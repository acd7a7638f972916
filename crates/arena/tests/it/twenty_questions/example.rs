//! One player keeps a word. The others ask in turn, or guess; a right guess wins.

use arena::{Act, Desk, Ending, Game, Move, Next, Outcome, Request, SeatId, Seats, Setup, Tool, Visible};
use serde_json::json;

#[derive(Debug)]
pub(crate) struct TwentyQuestions {
    word: String,
    /// Questions and guesses in all.
    most: u64,
    used: u64,
    keeper: SeatId,
    turn: Turn,
    ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nobody knows the word yet.
    Begin,
    Guesser,
    Keeper,
}

impl TwentyQuestions {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            word: setup.settings["word"].as_str().unwrap_or("piano").to_owned(),
            most: setup.settings["most"].as_u64().unwrap_or(20),
            used: 0,
            keeper: SeatId(0),
            turn: Turn::Begin,
            ending: None,
        }
    }

    /// Everybody but the keeper, one after the other.
    fn guesser(&self, seats: &Seats) -> Option<SeatId> {
        let guessers: Vec<SeatId> = seats.players().filter(|seat| *seat != self.keeper).collect();
        let turn = usize::try_from(self.used).unwrap_or_default();
        guessers.get(turn % guessers.len().max(1)).copied()
    }
}

impl Game for TwentyQuestions {
    fn name(&self) -> &'static str {
        "twenty"
    }

    // Made from the state, so that what is announced is what is done.
    fn how_to_play(&self, seats: &Seats) -> String {
        let (keeper, most) = (seats.name(self.keeper), self.most);
        format!("{keeper} keeps a word. The others ask or guess, {most} times in all. A right guess wins.")
    }

    // Called when everything queued is done. What it tells is delivered before its question.
    fn next(&mut self, desk: &mut Desk<'_>) -> Next {
        if let Some(ending) = self.ending.take() {
            return Next::End(ending);
        }
        match self.turn {
            Turn::Begin => {
                self.turn = Turn::Guesser;
                // Private: in nobody else's memory, and in nobody else's prompt.
                let text = format!("The word is {}.", self.word);
                desk.tell_to(Visible::only([self.keeper]), "word", text, json!({}));
                Next::Again
            }
            Turn::Guesser if self.used >= self.most => {
                Next::End(Ending::won_by(vec![self.keeper], format!("Nobody found it: {}.", self.word)))
            }
            Turn::Guesser => match self.guesser(desk.seats) {
                Some(seat) => {
                    let guess = Tool::action("guess", "Guesses the word.").text("word", "One word.");
                    Next::Ask(vec![Request::speak(seat, "Ask a question, or guess.").with(vec![guess])])
                }
                None => Next::End(Ending::new(Outcome::Drained, "Nobody is left to guess.")),
            },
            Turn::Keeper => {
                let answer = Tool::action("answer", "Answers the question.")
                    .choice("answer", ["yes", "no", "unclear"]);
                Next::Ask(vec![Request::act(self.keeper, "Answer the last question.", vec![answer])])
            }
        }
    }

    // An invalid action is asked for once more, with this reason; then it is a pass, or the fallback below.
    fn check(&self, _seat: SeatId, act: &Act, _seats: &Seats) -> Result<(), String> {
        match act.tool.as_str() {
            "guess" => act.text("word").map(|_| ()),
            _ => match act.text("answer")? {
                "yes" | "no" | "unclear" => Ok(()),
                _ => Err("Answer yes, no or unclear.".to_owned()),
            },
        }
    }

    fn fallback(&mut self, seat: SeatId, _desk: &mut Desk<'_>) -> Option<Act> {
        (seat == self.keeper).then(|| Act::new("answer", json!({"answer": "unclear"})))
    }

    fn take(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        for it in moves {
            let name = desk.seats.name(it.seat);
            if self.turn == Turn::Keeper {
                let answer = it.act.as_ref().and_then(|act| act.text("answer").ok()).unwrap_or("unclear");
                desk.tell("answer", format!("{name} answers: {answer}."), json!({ "answer": answer }));
                self.turn = Turn::Guesser;
                continue;
            }
            self.used += 1;
            if let Some(word) = it.act.as_ref().and_then(|act| act.text("word").ok()) {
                let word = word.trim().to_lowercase();
                let is_right = word == self.word;
                let verdict = if is_right { "right" } else { "wrong" };
                desk.tell(
                    "guess",
                    format!("{name} guesses {word}. That is {verdict}."),
                    json!({ "right": is_right }),
                );
                self.ending = is_right.then(|| Ending::won_by(vec![it.seat], format!("{name} found it.")));
            } else if it.spoke {
                self.turn = Turn::Keeper;
            }
        }
    }
}
