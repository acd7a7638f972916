//! Tracks in words: events, needs, amounts and times.

use chrono::{DateTime, Local, Utc};
use conductor::{
    Account, CapAccount, CapUnit, Event, Isolation, Need, Next, Origin, PauseCause, Phase, ReviewVerdict,
    Ruling, Spent, State, StepKind, TicketId,
};

use super::find::Handle;

/// Days, hours, minutes and seconds in seconds.
const DAY: i64 = 24 * HOUR;
const HOUR: i64 = 60 * MINUTE;
const MINUTE: i64 = 60;

pub(super) const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::New => "not started",
        Phase::Running => "running",
        Phase::Waiting => "waiting for you",
        Phase::Paused => "paused",
        Phase::Finished => "finished",
        Phase::Cancelled => "cancelled",
    }
}

pub(super) fn state(state: State) -> String {
    state.as_str().replace('_', " ")
}

/// A number of tokens, short: `950`, `12.3k`, `4.1M`.
pub(super) fn tokens(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_950 => format!("{:.1}k", tokens as f64 / 1e3),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

/// Tokens and money. Unknown prices are said to be unknown.
pub(super) fn spent(spent: Spent) -> String {
    let Spent { tokens: all, cost, unpriced_tokens } = spent;
    let count = format!("{} tokens", tokens(all));
    match unpriced_tokens {
        0 => format!("{count}, {cost}"),
        unpriced if unpriced >= all => format!("{count}, cost unknown"),
        unpriced => format!("{count}, {cost} and {} tokens of unknown price", tokens(unpriced)),
    }
}

/// A time between two moments, short: `45s`, `3m 05s`, `2h 07m`, `3d 4h`.
pub(super) fn elapsed(from: DateTime<Utc>, to: DateTime<Utc>) -> String {
    let seconds = (to - from).num_seconds().max(0);
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m {:02}s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{}h {:02}m", seconds / HOUR, seconds % HOUR / MINUTE),
        _ => format!("{}d {}h", seconds / DAY, seconds % DAY / HOUR),
    }
}

/// A time of today as a clock shows it.
pub(super) fn clock(at: DateTime<Utc>) -> String {
    at.with_timezone(&Local).format("%H:%M:%S").to_string()
}

pub(super) fn local(at: DateTime<Utc>) -> String {
    at.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}

/// The command that answers a need.
pub(super) fn command_for(need: &Need, ticket: &TicketId, track: &Handle) -> String {
    match need {
        Need::Answer { .. } => format!("masque conduct answer {track} {ticket} \"…\""),
        Need::Approval { .. } => {
            format!("masque conduct accept {track} {ticket}, or reject {track} {ticket} --note \"…\"")
        }
        Need::Plan => format!("masque conduct approve {track} {ticket}"),
        Need::Step { .. } => format!("masque conduct approve-step {track} {ticket}"),
        Need::Cap { account, unit } => {
            let of = match account {
                Account::Ticket { ticket } => format!(" --ticket {ticket}"),
                Account::Track => String::new(),
                Account::Day { .. } => " --day".to_owned(),
            };
            let unit = match unit {
                CapUnit::Tokens => "--tokens N",
                CapUnit::Cost => "--cost X",
            };
            format!("masque conduct cap {track}{of} {unit}")
        }
        Need::Price { .. } => {
            format!("masque conduct cap {track} --cost none, or a price in config.toml")
        }
        Need::Unblock { .. } | Need::Decision => {
            format!("masque conduct retry {track} {ticket} --note \"…\", or cancel {track} {ticket}")
        }
        Need::Setup { .. } => format!("masque conduct retry {track} {ticket}"),
        Need::Baseline { .. } => {
            format!("masque conduct retry {track} {ticket} once it passes, or accept {track} {ticket}")
        }
    }
}

/// An event, without its time and its ticket.
pub(super) fn event(event: &Event) -> String {
    match event {
        Event::Opened { isolation, by, .. } => match isolation {
            Isolation::Worktrees => format!("{by} started the track, in worktrees"),
            Isolation::None => format!("{by} started the track, in the project's directory"),
        },
        Event::Approved { tickets, by } => format!("{by} approved {}", list(tickets)),
        Event::StepApproved { step, by, .. } => format!("{by} approved the next step: {}", step_name(*step)),
        Event::Paused { cause } => paused(cause),
        Event::Resumed { by } => format!("{by} resumed the track"),
        Event::TrackCancelled { by, reason } => with_reason(format!("{by} cancelled the track"), reason),
        Event::Finished => "the track is finished".to_owned(),
        Event::TicketsAdded { origin, tickets, .. } => {
            let ids: Vec<&TicketId> = tickets.iter().map(|ticket| &ticket.id).collect();
            format!("{}: {}", added(origin), list(&ids))
        }
        Event::PersonaFellBack { persona, reason, .. } => {
            format!("persona {persona} cannot be used, so the defaults take its place: {reason}")
        }
        Event::Retried { by, model, persona, note, .. } => {
            let model = model.as_ref().map(|model| format!(" with {model}")).unwrap_or_default();
            let persona = persona.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
            with_reason(format!("{by} has it tried again{persona}{model}"), note)
        }
        Event::Cancelled { by, reason, .. } => with_reason(format!("{by} cancelled it"), reason),
        Event::ResultApproved { by, note, .. } => with_reason(format!("{by} accepted the result"), note),
        Event::CapWarned { account, unit } => {
            format!("{} has spent four fifths of its cap in {}", account_name(account), unit_name(*unit))
        }
        Event::CapRaised { account, by, .. } => format!("{by} changed the cap of {}", cap_name(account)),
        Event::Unknown(_) => "an event of a newer version of Masque".to_owned(),
        other => step(other),
    }
}

/// An event of a ticket's own way.
fn step(event: &Event) -> String {
    let who = |persona: &Option<persona::Name>| {
        persona.as_ref().map_or_else(|| "no persona".to_owned(), ToString::to_string)
    };
    match event {
        Event::SetupStarted { .. } => "its worktree is being prepared".to_owned(),
        Event::Prepared { branch: Some(branch), .. } => {
            format!("its worktree is ready, on {}", branch.trim_start_matches("refs/heads/"))
        }
        Event::Prepared { branch: None, .. } => "it is prepared".to_owned(),
        Event::WorkStarted { attempt, casting, model, .. } => {
            let persona = who(&casting.persona);
            format!("{persona} works on it with {model}, attempt {attempt}")
        }
        Event::WorkResumed { .. } => "its worker goes on".to_owned(),
        Event::Asked { question, .. } => format!("its worker asks: {question}"),
        Event::Answered { answer, by, .. } => format!("{by} answered: {answer}"),
        Event::ReportedBlocked { reason, .. } => format!("its worker cannot go on: {reason}"),
        Event::Checkpointed { commit, .. } => format!("work in progress is kept in {}", short(commit)),
        Event::Submitted { head: Some(head), .. } => format!("its worker handed in {}", short(head)),
        Event::Submitted { head: None, .. } => "its worker handed in a result".to_owned(),
        Event::CheckStarted { .. } => "the result is being checked".to_owned(),
        Event::Checked { verdict, .. } => checked(verdict),
        Event::ReviewStarted { round, casting, model, .. } => {
            let persona = who(&casting.persona);
            format!("{persona} reviews it with {model}, round {round}")
        }
        Event::Reviewed { review, .. } => {
            let verdict = match review.verdict {
                ReviewVerdict::Pass => "the review passes it",
                ReviewVerdict::Rework => "the review sends it back",
                ReviewVerdict::Block => "the review rejects the approach",
            };
            with_reason(verdict.to_owned(), &review.summary)
        }
        Event::SplitStarted { casting, model, .. } => {
            format!("{} breaks it down with {model}", who(&casting.persona))
        }
        Event::IntegrationStarted { .. } => "it is being merged".to_owned(),
        Event::Merged { via: Some(via), .. } => format!("it is merged, with {via}"),
        Event::Merged { commit: Some(commit), .. } => format!("it is merged as {}", short(commit)),
        Event::Merged { .. } => "it is merged".to_owned(),
        Event::Faulted { fault, .. } => app::conducting::fault(fault),
        Event::Decided { next, evidence, .. } => {
            let why: Vec<String> = evidence.iter().map(app::conducting::evidence).collect();
            with_reason(decided(next), &why.join("; "))
        }
        // The others are about the track.
        _ => String::new(),
    }
}

fn checked(verdict: &conductor::Verdict) -> String {
    let objections: Vec<String> = verdict.objections.iter().map(app::conducting::objection).collect();
    let ruling = match verdict.ruling {
        Ruling::Accepted => "the check passes",
        Ruling::Rejected => "the result is rejected",
        Ruling::Unverified => "no check proves it",
    };
    with_reason(ruling.to_owned(), &objections.join("; "))
}

fn decided(next: &Next) -> String {
    match next {
        Next::Again { .. } => "it is tried again".to_owned(),
        Next::Work { fresh: true, .. } => "another attempt, from the beginning".to_owned(),
        Next::Work { .. } => "another attempt".to_owned(),
        Next::Review { round } => format!("review, round {round}"),
        Next::ReviewBy { .. } => "another model reviews it".to_owned(),
        Next::Queue => "it waits to be merged".to_owned(),
        Next::NoChange => "nothing had to be changed".to_owned(),
        Next::Split => "the tech lead breaks it down".to_owned(),
        Next::Await { tickets } => format!("it waits for {}", list(tickets)),
        Next::AskPerson { need } => format!("you are needed: it {}", app::conducting::need(need)),
        Next::Fail => "it failed".to_owned(),
    }
}

fn paused(cause: &PauseCause) -> String {
    match cause {
        PauseCause::Person { by } => format!("{by} paused the track"),
        PauseCause::Failures { tickets } => {
            format!("the track is paused, because {} failed in a row", list(tickets))
        }
    }
}

fn added(origin: &Origin) -> String {
    match origin {
        Origin::Track => "tickets of the track".to_owned(),
        Origin::Person { by } => format!("{by} added tickets"),
        Origin::Split { of } => format!("{of} is broken down"),
        Origin::Found { by } => format!("the worker of {by} proposes tickets"),
        Origin::Resolver { of, .. } => format!("a ticket resolves the conflict of {of}"),
    }
}

fn step_name(step: StepKind) -> &'static str {
    step.as_str()
}

fn account_name(account: &Account) -> String {
    match account {
        Account::Ticket { ticket } => format!("ticket {ticket}"),
        Account::Track => "the track".to_owned(),
        Account::Day { day } => format!("the day {day}"),
    }
}

fn cap_name(account: &CapAccount) -> String {
    match account {
        CapAccount::Ticket { ticket } => format!("ticket {ticket}"),
        CapAccount::Track => "the track".to_owned(),
        CapAccount::Day => "a day".to_owned(),
    }
}

const fn unit_name(unit: CapUnit) -> &'static str {
    match unit {
        CapUnit::Tokens => "tokens",
        CapUnit::Cost => "money",
    }
}

fn with_reason(text: String, reason: &str) -> String {
    if reason.trim().is_empty() { text } else { format!("{text}: {}", reason.trim()) }
}

fn list<T: ToString>(entries: &[T]) -> String {
    entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The beginning of a commit's name.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use conductor::{Money, Spent};

    #[test]
    fn amounts_are_short() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (12_345, "12.3k"),
            (999_949, "999.9k"),
            (999_950, "1.0M"),
            (4_123_456, "4.1M"),
        ] {
            assert_eq!(super::tokens(count), text);
        }
    }

    #[test]
    fn unknown_prices_are_said_to_be_unknown() {
        let spent = |tokens, micros, unpriced_tokens| {
            super::spent(Spent { tokens, cost: Money::from_micros(micros), unpriced_tokens })
        };
        assert_eq!(spent(500, 420_000, 0), "500 tokens, 0.42");
        assert_eq!(spent(500, 0, 500), "500 tokens, cost unknown");
        assert_eq!(spent(500, 420_000, 200), "500 tokens, 0.42 and 200 tokens of unknown price");
        assert_eq!(spent(0, 0, 0), "0 tokens, 0.00");
    }

    #[test]
    fn times_are_short() {
        let elapsed = |seconds| {
            let from = DateTime::UNIX_EPOCH;
            super::elapsed(from, from + TimeDelta::seconds(seconds))
        };
        for (seconds, text) in [
            (-5, "0s"),
            (0, "0s"),
            (59, "59s"),
            (65, "1m 05s"),
            (3_600, "1h 00m"),
            (7_650, "2h 07m"),
            (90_000, "1d 1h"),
        ] {
            assert_eq!(elapsed(seconds), text);
        }
    }
}
