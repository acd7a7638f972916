//! The rules in words, from the settings.

use super::{MafiaSettings, Tie};
use crate::games::{counted, times};

pub(super) fn how_to_play(settings: &MafiaSettings) -> String {
    let &MafiaSettings { mafia, night_talk, discussion, days, .. } = settings;
    let days = counted(days, "day");
    let mut rules = vec![
        format!(
            "This is a game of Mafia. {mafia} of the players are mafia; only they know who is. The others are the \
             town. The town wins when no mafia is left. The mafia wins when the town is no larger than it. After \
             {days} nobody wins."
        ),
        "Each night the mafia votes in secret whom to kill; a tie is drawn.".to_owned(),
    ];
    if night_talk > 0 && mafia > 1 {
        rules.push(format!("Before that, each of the mafia speaks {} to the others.", times(night_talk)));
    }
    if settings.doctor {
        rules.push("The doctor may save one player each night from being killed.".to_owned());
    }
    if settings.detective {
        rules.push("The detective may find out each night whether one player is mafia.".to_owned());
    }
    if discussion > 0 {
        rules.push(format!("Each day everybody speaks {}.", times(discussion)));
        rules.push(whispers(settings));
    }
    rules.push(
        "Each day each player may accuse one other, with or without a speech. The town votes on the accused, or for nobody. Votes are \
         sealed, and revealed together; who has most is out."
            .to_owned(),
    );
    rules.push(match settings.tie {
        Tie::Nobody => "If the vote is tied, nobody is out.".to_owned(),
        Tie::Runoff => "If the vote is tied, there is one more vote on those who tied.".to_owned(),
        Tie::Drawn => "If the vote is tied, a draw decides.".to_owned(),
    });
    rules.push(match settings.reveal {
        true => "The role of a player who is out becomes known.".to_owned(),
        false => "The role of a player who is out stays hidden until the end.".to_owned(),
    });
    rules.push("You may lie. Players who are out watch and stay silent.".to_owned());
    rules.join("\n")
}

fn whispers(settings: &MafiaSettings) -> String {
    if settings.whispers == 0 {
        return "Nobody can whisper by day.".to_owned();
    }
    let often = times(settings.whispers);
    let seen = if settings.whispers_seen { "All see to whom, not what." } else { "Nobody sees it." };
    format!("Each day a player may whisper {often}, in place of a speech. {seen}")
}
