//! The rules in words, from the settings.

use super::{Context, Parley, Turns};
use crate::games::counted;
use crate::{SeatId, Seats};

impl Parley {
    pub(super) fn rules(&self, seats: &Seats) -> String {
        let settings = &self.settings;
        let mut rules = vec!["This is an open conversation.".to_owned()];
        if !settings.topic.is_empty() {
            rules.push(format!("The topic: {}", settings.topic));
        }
        let hosts: Vec<SeatId> = seats.hosts().collect();
        if hosts.is_empty() {
            let rounds = counted(settings.rounds, "round");
            rules.push(format!("It has {rounds}, and ends earlier if nobody speaks."));
        } else {
            rules.push(format!("The host is {}.", seats.names(hosts)));
        }
        rules.push(self.turn_rule(seats));
        let most = counted(settings.turns_per_message, "turn");
        let stretch = if self.is_hosted() { "message of the host" } else { "round" };
        rules.push(format!("At most {most} follow one {stretch}."));
        if settings.context == Context::Isolated {
            rules.push("You hear the host and nobody else; only the host hears you.".to_owned());
        } else if settings.follows_calls() {
            rules.push("Write @ before a name to call on that player.".to_owned());
        }
        rules.push(match settings.whispers {
            true => "You may whisper: name the listeners, and nobody else hears it.".to_owned(),
            false => "Nobody can whisper.".to_owned(),
        });
        if settings.interrupts {
            rules.push("Players may cut in at the end of a sentence.".to_owned());
        }
        if settings.reactions {
            rules.push("Players may react to what is said.".to_owned());
        }
        rules.push("Say something new, or pass.".to_owned());
        rules.join("\n")
    }

    fn turn_rule(&self, seats: &Seats) -> String {
        match self.settings.turns {
            Turns::RoundRobin => "Everybody speaks in turn; another player begins each time.".to_owned(),
            Turns::Natural => "Who is mentioned speaks first, then who feels like it.".to_owned(),
            Turns::Pooled => "Everybody speaks once, in a drawn order.".to_owned(),
            Turns::Bidding => "Sealed bids decide who speaks next.".to_owned(),
            Turns::Moderator => format!("{} calls on the speakers.", seats.names(self.moderator)),
            Turns::Parallel => "Everybody answers at the same time.".to_owned(),
        }
    }
}
