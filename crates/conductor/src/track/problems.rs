//! The mistakes of a track that its types allow.

use std::collections::HashMap;
use std::fmt;

use crate::limits::{
    CAP_TOKENS, CONCURRENCY, CRITERIA, DEPENDENCIES, FILES, GLOBS, PROBLEMS, ROUNDS, SETUP_SECONDS,
    TEXT_BYTES, TICKETS, TITLE_CHARS, WORD_BYTES,
};
use crate::{Cap, Ticket, TicketId, Track, scope};

mod cycles;

/// Tickets of a cycle that a message names.
const NAMED_TICKETS: usize = 20;

/// One mistake of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackProblem {
    NoTickets,
    /// Upper and lower case are alike.
    DuplicateId {
        at: Field,
        first: TicketId,
    },
    UnknownDependency {
        at: Field,
        dependency: TicketId,
        candidates: Vec<String>,
    },
    SelfDependency {
        at: Field,
    },
    /// Each ticket depends on the next one. The last one is the first one.
    Cycle {
        at: Field,
        path: Vec<TicketId>,
    },
    Empty {
        at: Field,
    },
    /// A line break or a control character in a text of one line.
    NotOneLine {
        at: Field,
    },
    TooLong {
        at: Field,
        unit: &'static str,
        got: usize,
        most: usize,
    },
    TooMany {
        at: Field,
        got: usize,
        most: usize,
    },
    OutOfRange {
        at: Field,
        got: u64,
        least: u64,
        most: u64,
    },
    BadGlob {
        at: Field,
        glob: String,
        reason: String,
    },
    /// A path that is not below the project's root.
    OutsideRoot {
        at: Field,
        path: String,
    },
    BadBranch {
        at: Field,
        branch: String,
    },
    /// Problems that are not listed.
    More {
        count: usize,
    },
}

/// A field of a track or of one of its tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The ticket with its index. Absent for a field of the track.
    pub ticket: Option<(usize, TicketId)>,
    /// The key, as `title` or `setup.copy`. Empty for the ticket as a whole.
    pub key: &'static str,
    /// The place in a list.
    pub index: Option<usize>,
}

impl Field {
    fn of_track(key: &'static str) -> Self {
        Self { ticket: None, key, index: None }
    }

    fn at(&self, index: usize) -> Self {
        Self { index: Some(index), ..self.clone() }
    }

    /// The path of the key, as `tickets[2].depends_on[0]`.
    pub fn path(&self) -> String {
        let mut path = self.ticket.as_ref().map_or(String::new(), |(at, _)| format!("tickets[{at}]"));
        if !path.is_empty() && !self.key.is_empty() {
            path.push('.');
        }
        path.push_str(self.key);
        if let Some(index) = self.index {
            path.push_str(&format!("[{index}]"));
        }
        path
    }
}

/// `ticket T1: depends_on[0]`.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, ticket)) = &self.ticket {
            write!(f, "ticket {ticket}{}", if self.key.is_empty() { "" } else { ": " })?;
        }
        f.write_str(self.key)?;
        self.index.map_or(Ok(()), |index| write!(f, "[{index}]"))
    }
}

impl TrackProblem {
    /// The field that is wrong, unless the track as a whole is.
    pub fn field(&self) -> Option<&Field> {
        match self {
            Self::NoTickets | Self::More { .. } => None,
            Self::DuplicateId { at, .. }
            | Self::UnknownDependency { at, .. }
            | Self::SelfDependency { at }
            | Self::Cycle { at, .. }
            | Self::Empty { at }
            | Self::NotOneLine { at }
            | Self::TooLong { at, .. }
            | Self::TooMany { at, .. }
            | Self::OutOfRange { at, .. }
            | Self::BadGlob { at, .. }
            | Self::OutsideRoot { at, .. }
            | Self::BadBranch { at, .. } => Some(at),
        }
    }

    /// True if tickets wait for each other.
    pub fn is_cycle(&self) -> bool {
        matches!(self, Self::Cycle { .. } | Self::SelfDependency { .. })
    }

    /// The mistake without its place.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::NoTickets => "the track has no tickets".to_owned(),
            Self::DuplicateId { first, .. } => format!("the ticket {first} has the same id"),
            Self::UnknownDependency { dependency, candidates, .. } => {
                let hint = did_you_mean(candidates);
                format!("there is no ticket {dependency}{hint}")
            }
            Self::SelfDependency { .. } => "the ticket depends on itself".to_owned(),
            Self::Cycle { path, .. } => format!("the tickets wait for each other: {}", arrows(path)),
            Self::Empty { .. } => "must not be empty".to_owned(),
            Self::NotOneLine { .. } => "must be one line, without control characters".to_owned(),
            Self::TooLong { unit, got, most, .. } => format!("has {got} {unit}, at most {most} are allowed"),
            Self::TooMany { got, most, .. } => format!("has {got} entries, at most {most} are allowed"),
            Self::OutOfRange { got, least, most, .. } => {
                format!("must be a number from {least} to {most}, not {got}")
            }
            Self::BadGlob { glob, reason, .. } => format!("{glob:?} is not a glob: {reason}"),
            Self::OutsideRoot { path, .. } => {
                format!("{path:?} is outside of the project; write a path relative to its root")
            }
            Self::BadBranch { branch, .. } => format!("{branch:?} is not the name of a branch"),
            Self::More { count } => format!("{count} more problems"),
        }
    }
}

impl fmt::Display for TrackProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field() {
            // The path says which tickets.
            Some(at) if !matches!(self, Self::Cycle { .. }) => write!(f, "{at}: {}", self.sentence()),
            _ => f.write_str(&self.sentence()),
        }
    }
}

/// `; did you mean "a" or "b"?`
pub(super) fn did_you_mean(candidates: &[String]) -> String {
    let quoted: Vec<String> = candidates.iter().map(|candidate| format!("{candidate:?}")).collect();
    persona::one_of(&quoted).map(|names| format!("; did you mean {names}?")).unwrap_or_default()
}

/// `a → b → a`.
fn arrows(path: &[TicketId]) -> String {
    let named: Vec<&str> = path.iter().take(NAMED_TICKETS).map(TicketId::as_str).collect();
    let left_out = path.len().saturating_sub(NAMED_TICKETS);
    let rest = match (left_out, path.last()) {
        (0, _) | (_, None) => String::new(),
        (1, Some(last)) => format!(" → {last}"),
        (_, Some(last)) => format!(" → … ({} more) → {last}", left_out - 1),
    };
    format!("{}{rest}", named.join(" → "))
}

impl Track {
    /// The mistakes that the types allow, at most [`PROBLEMS`] of them. A track with any cannot be opened.
    pub fn problems(&self) -> Vec<TrackProblem> {
        let mut found = Found::default();
        self.check_head(&mut found);
        let too_many = self.tickets.len() > TICKETS;
        if self.tickets.is_empty() {
            found.add(TrackProblem::NoTickets);
        }
        found.count(&Field::of_track("tickets"), self.tickets.len(), TICKETS);
        for (at, ticket) in self.tickets.iter().take(TICKETS).enumerate() {
            check_ticket(at, ticket, &mut found);
        }
        if !too_many {
            self.check_ids(&mut found);
            for path in cycles::find(&self.tickets) {
                let at = path.first().and_then(|id| self.tickets.iter().position(|it| it.id == *id));
                let at = Field { ticket: at.zip(path.first().cloned()), key: "depends_on", index: None };
                found.add(TrackProblem::Cycle { at, path });
            }
        }
        found.into_problems()
    }

    fn check_head(&self, found: &mut Found) {
        let field = Field::of_track;
        found.title(&field("title"), &self.title);
        found.text(&field("goal"), &self.goal);
        if let Some(base) = &self.base {
            found.branch(&field("base"), base);
        }
        found.command(&field("check"), self.check.as_deref());
        found.globs(&field("scope"), &self.scope);
        found.range(&field("concurrency"), self.concurrency as u64, 1, CONCURRENCY as u64);
        if let Some(setup) = &self.setup {
            found.command(&field("setup.command"), setup.command.as_deref());
            found.range(&field("setup.timeout"), setup.timeout, 1, SETUP_SECONDS);
            found.count(&field("setup.copy"), setup.copy.len(), GLOBS);
            for (at, pattern) in setup.copy.iter().take(GLOBS).enumerate() {
                // A leading slash binds a pattern to the root, as in a .gitignore.
                let relative = pattern.strip_prefix('/').unwrap_or(pattern);
                found.glob(&field("setup.copy").at(at), relative);
            }
        }
        found.cap(&field("caps.ticket.tokens"), self.caps.ticket);
        found.cap(&field("caps.track.tokens"), self.caps.track);
        found.cap(&field("caps.day.tokens"), self.caps.day);
        let rounds = u64::from(ROUNDS);
        found.range(&field("review.rounds"), self.review.rounds.into(), 1, rounds);
        let escalation = &self.escalation;
        found.range(&field("escalation.models"), escalation.models.into(), 0, rounds);
        found.range(&field("escalation.red_checks"), escalation.red_checks.into(), 1, rounds);
        found.range(&field("escalation.transport_retries"), escalation.transport_retries.into(), 0, rounds);
        found.range(&field("escalation.backoff"), escalation.backoff, 0, SETUP_SECONDS);
        found.range(&field("escalation.failures"), escalation.failures.into(), 0, TICKETS as u64);
        found.range(&field("escalation.silence"), escalation.silence, 1, SETUP_SECONDS);
        let tokens = escalation.tokens_without_change;
        found.range(&field("escalation.tokens_without_change"), tokens, 0, CAP_TOKENS);
    }

    /// Looks for ids that are not unique, and for dependencies that do not exist.
    fn check_ids(&self, found: &mut Found) {
        let mut folded: HashMap<String, usize> = HashMap::new();
        for (at, ticket) in self.tickets.iter().enumerate() {
            let first = *folded.entry(ticket.id.as_str().to_ascii_lowercase()).or_insert(at);
            if first != at {
                let first = self.tickets[first].id.clone();
                found.add(TrackProblem::DuplicateId { at: field_of(at, ticket, "id"), first });
            }
        }
        let is_known = |id: &TicketId| {
            let at = folded.get(&id.as_str().to_ascii_lowercase());
            at.is_some_and(|at| self.tickets[*at].id == *id) || self.has_twin(id, &folded)
        };
        for (at, ticket) in self.tickets.iter().enumerate() {
            let field = field_of(at, ticket, "depends_on");
            for (index, dependency) in ticket.depends_on.iter().take(DEPENDENCIES).enumerate() {
                let at = field.at(index);
                if *dependency == ticket.id {
                    found.add(TrackProblem::SelfDependency { at });
                } else if !is_known(dependency) {
                    let candidates = if found.is_full() { Vec::new() } else { self.like(dependency, ticket) };
                    let dependency = dependency.clone();
                    found.add(TrackProblem::UnknownDependency { at, dependency, candidates });
                }
            }
        }
    }

    /// True if a ticket whose id is not unique has this one.
    fn has_twin(&self, id: &TicketId, folded: &HashMap<String, usize>) -> bool {
        folded.len() < self.tickets.len() && self.ticket(id).is_some()
    }

    /// Ids like the one that is not there.
    fn like(&self, id: &TicketId, of: &Ticket) -> Vec<String> {
        let others = self.tickets.iter().filter(|ticket| ticket.id != of.id);
        let near = persona::nearest(id.as_str(), others.map(|ticket| ticket.id.as_str()));
        near.into_iter().map(str::to_owned).collect()
    }
}

fn field_of(at: usize, ticket: &Ticket, key: &'static str) -> Field {
    Field { ticket: Some((at, ticket.id.clone())), key, index: None }
}

fn check_ticket(at: usize, ticket: &Ticket, found: &mut Found) {
    let field = |key| field_of(at, ticket, key);
    found.title(&field("title"), &ticket.title);
    found.text(&field("description"), &ticket.description);
    found.count(&field("depends_on"), ticket.depends_on.len(), DEPENDENCIES);
    found.count(&field("files"), ticket.files.len(), FILES);
    for (index, path) in ticket.files.iter().take(FILES).enumerate() {
        found.path(&field("files").at(index), path);
    }
    found.count(&field("acceptance"), ticket.acceptance.len(), CRITERIA);
    for (index, criterion) in ticket.acceptance.iter().take(CRITERIA).enumerate() {
        let at = field("acceptance").at(index);
        found.present(&at, criterion);
        found.text(&at, criterion);
    }
    found.command(&field("check"), ticket.check.as_deref());
    found.globs(&field("scope"), &ticket.scope);
    found.cap(&field("caps.tokens"), ticket.caps);
}

/// Problems, up to the limit.
#[derive(Debug, Default)]
struct Found {
    problems: Vec<TrackProblem>,
    more: usize,
}

impl Found {
    fn is_full(&self) -> bool {
        self.problems.len() >= PROBLEMS
    }

    fn add(&mut self, problem: TrackProblem) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.problems.push(problem);
        }
    }

    fn into_problems(mut self) -> Vec<TrackProblem> {
        if self.more > 0 {
            self.problems.push(TrackProblem::More { count: self.more });
        }
        self.problems
    }

    fn present(&mut self, at: &Field, text: &str) {
        if text.trim().is_empty() {
            self.add(TrackProblem::Empty { at: at.clone() });
        }
    }

    fn bytes(&mut self, at: &Field, text: &str, most: usize) -> bool {
        if text.len() > most {
            self.add(TrackProblem::TooLong { at: at.clone(), unit: "bytes", got: text.len(), most });
        }
        text.len() <= most
    }

    fn title(&mut self, at: &Field, title: &str) {
        self.present(at, title);
        let got = title.chars().count();
        if got > TITLE_CHARS {
            self.add(TrackProblem::TooLong { at: at.clone(), unit: "characters", got, most: TITLE_CHARS });
        }
        if title.chars().any(char::is_control) {
            self.add(TrackProblem::NotOneLine { at: at.clone() });
        }
    }

    fn text(&mut self, at: &Field, text: &str) {
        self.bytes(at, text, TEXT_BYTES);
    }

    fn command(&mut self, at: &Field, command: Option<&str>) {
        if let Some(command) = command {
            self.present(at, command);
            self.bytes(at, command, WORD_BYTES);
        }
    }

    fn count(&mut self, at: &Field, got: usize, most: usize) {
        if got > most {
            self.add(TrackProblem::TooMany { at: at.clone(), got, most });
        }
    }

    fn range(&mut self, at: &Field, got: u64, least: u64, most: u64) {
        if got < least || got > most {
            self.add(TrackProblem::OutOfRange { at: at.clone(), got, least, most });
        }
    }

    fn cap(&mut self, at: &Field, cap: Cap) {
        if let Some(tokens) = cap.tokens {
            self.range(at, tokens, 1, CAP_TOKENS);
        }
    }

    fn branch(&mut self, at: &Field, branch: &str) {
        self.present(at, branch);
        let is_bad = branch.starts_with('-')
            || branch.contains("..")
            || branch.contains(|c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c));
        if self.bytes(at, branch, WORD_BYTES) && is_bad {
            self.add(TrackProblem::BadBranch { at: at.clone(), branch: branch.to_owned() });
        }
    }

    fn path(&mut self, at: &Field, path: &str) {
        self.present(at, path);
        if path.chars().any(char::is_control) {
            self.add(TrackProblem::NotOneLine { at: at.clone() });
        }
        if self.bytes(at, path, WORD_BYTES) && scope::leaves_root(path) {
            self.add(TrackProblem::OutsideRoot { at: at.clone(), path: path.to_owned() });
        }
    }

    fn globs(&mut self, at: &Field, globs: &[String]) {
        self.count(at, globs.len(), GLOBS);
        for (index, glob) in globs.iter().take(GLOBS).enumerate() {
            self.glob(&at.at(index), glob);
        }
    }

    fn glob(&mut self, at: &Field, glob: &str) {
        self.path(at, glob);
        if glob.len() <= WORD_BYTES
            && let Err(error) = scope::glob(glob)
        {
            let reason = error.kind().to_string();
            self.add(TrackProblem::BadGlob { at: at.clone(), glob: glob.to_owned(), reason });
        }
    }
}

#[cfg(test)]
mod tests;
