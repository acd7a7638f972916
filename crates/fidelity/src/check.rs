//! Checks that need no model.

use std::collections::HashSet;

use persona::{FormatRules, OverlapRules, Person, Range, ReplyChoice, TokenCounter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expectation::bounds;
use crate::limits::{EVIDENCE_CHARS, REPLY_BYTES};
use crate::text::{
    is_emoji, is_heading, lines, list_item, normalized, sentences, shortened, syllables, words,
};
use crate::{Check, Expectation};

mod language;

/// A verdict about an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Verdict {
    Held,
    Broken,
    /// The reply gives no occasion for it.
    NotShown,
    /// There is no valid verdict. Never a pass.
    Unjudged,
}

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::NotShown => "not_shown",
            Self::Unjudged => "unjudged",
        }
    }
}

/// A message and the persona's reply to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub user: String,
    pub reply: String,
    /// The names of the tools that were called.
    #[serde(default)]
    pub calls: Vec<String>,
    /// The end of the run, as `ends` names it.
    pub end: String,
    /// The model that replied, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A conversation with a persona.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// The persona's prompt.
    pub prompt: &'a str,
    pub exchanges: &'a [Exchange],
}

impl<'a> Transcript<'a> {
    /// The positions of the replies that an expectation is about.
    pub fn chosen(&self, on: ReplyChoice) -> Vec<usize> {
        let count = self.exchanges.len();
        match on {
            ReplyChoice::Last => count.checked_sub(1).into_iter().collect(),
            ReplyChoice::Every => (0..count).collect(),
            ReplyChoice::Number(number) => {
                (number as usize).checked_sub(1).filter(|at| *at < count).into_iter().collect()
            }
        }
    }

    /// A reply, as far as checks look at it.
    pub fn reply(&self, at: usize) -> &'a str {
        let reply = self.exchanges.get(at).map_or("", |exchange| exchange.reply.as_str());
        &reply[..reply.floor_char_boundary(REPLY_BYTES.min(reply.len()))]
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    /// A piece of the reply that shows it.
    pub evidence: Option<String>,
    pub reason: Option<String>,
}

impl Finding {
    pub(crate) fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, evidence: None, reason: Some(reason.into()) }
    }

    fn shown(self, evidence: &str) -> Self {
        Self { evidence: Some(shortened(evidence.trim(), EVIDENCE_CHARS)), ..self }
    }

    /// Several findings about one expectation as one: broken if any is, held if any is.
    pub fn combined(findings: &[Self]) -> Self {
        let first = |verdict| findings.iter().find(|finding| finding.verdict == verdict).cloned();
        [Verdict::Broken, Verdict::Unjudged, Verdict::Held, Verdict::NotShown]
            .into_iter()
            .find_map(first)
            .unwrap_or_else(|| Self::new(Verdict::NotShown, "there is no such reply"))
    }
}

/// Checks a conversation. `None` for an expectation that a judge decides.
pub fn check(
    expectation: &Expectation,
    transcript: Transcript<'_>,
    counter: &dyn TokenCounter,
) -> Option<Finding> {
    if expectation.is_judged() {
        return None;
    }
    let chosen = transcript.chosen(expectation.on).into_iter();
    let findings = chosen.map(|at| check_reply(&expectation.check, transcript, at, counter));
    Some(Finding::combined(&findings.collect::<Vec<_>>()))
}

fn check_reply(check: &Check, transcript: Transcript<'_>, at: usize, counter: &dyn TokenCounter) -> Finding {
    let reply = transcript.reply(at);
    match check {
        Check::Judged(_) => Finding::new(Verdict::Unjudged, "only a judge can tell"),
        Check::Contains(texts) => contains(reply, texts),
        Check::Lacks(texts) => lacks(reply, texts),
        Check::Matches(pattern) => match pattern.find(reply) {
            Some(found) => Finding::new(Verdict::Held, "it matches").shown(found.as_str()),
            None => Finding::new(Verdict::Broken, "nothing in the reply matches"),
        },
        Check::Words(range) => counted(words(reply).len() as f64, range, "words"),
        Check::Sentences(range) => counted(sentences(reply).len() as f64, range, "sentences"),
        Check::SentenceWords(range) => average(reply, range),
        Check::Grade(range) => grade(reply, range),
        Check::Lexicon { words, per_100 } => lexicon(reply, words, per_100.as_ref()),
        Check::Person(person) => spoken_in(reply, *person),
        Check::Question(wanted) => question(reply, *wanted),
        Check::Format(rules) => format_of(reply, rules),
        Check::Language(wanted) => language::check(reply, *wanted),
        Check::Json(schema) => json(reply, schema.as_deref()),
        Check::Calls(tools) => calls(transcript, at, tools),
        Check::CallsNot(tools) => calls_not(transcript, at, tools),
        Check::Ends(wanted) => {
            let end = transcript.exchanges.get(at).map_or("", |exchange| exchange.end.as_str());
            decided(end == wanted.as_str(), format!("the run ended with {end}"))
        }
        Check::Overlap(rules) => overlap(transcript, at, rules),
        Check::Tokens(range) => counted(counter.count(reply) as f64, range, "tokens"),
    }
}

fn decided(holds: bool, reason: String) -> Finding {
    Finding::new(if holds { Verdict::Held } else { Verdict::Broken }, reason)
}

fn within(number: f64, range: &Range) -> bool {
    range.min.is_none_or(|min| number >= min) && range.max.is_none_or(|max| number <= max)
}

fn counted(number: f64, range: &Range, what: &str) -> Finding {
    let shown = if number.fract() == 0.0 { format!("{number}") } else { format!("{number:.1}") };
    let holds = within(number, range);
    let expected = if holds { String::new() } else { format!(", expected {}", bounds(range)) };
    decided(holds, format!("{shown} {what}{expected}"))
}

fn folded(text: &str) -> String {
    normalized(text).to_lowercase().replace('’', "'")
}

fn contains(reply: &str, texts: &[String]) -> Finding {
    let reply = folded(reply);
    match texts.iter().find(|text| !reply.contains(&folded(text))) {
        Some(missing) => Finding::new(Verdict::Broken, format!("{missing:?} is missing")),
        None => Finding::new(Verdict::Held, "all of it is there"),
    }
}

fn lacks(reply: &str, texts: &[String]) -> Finding {
    let reply = folded(reply);
    match texts.iter().find(|text| reply.contains(&folded(text))) {
        Some(found) => Finding::new(Verdict::Broken, format!("{found:?} is there")).shown(found),
        None => Finding::new(Verdict::Held, "none of it is there"),
    }
}

fn average(reply: &str, range: &Range) -> Finding {
    match sentences(reply).len() {
        0 => Finding::new(Verdict::NotShown, "there is no sentence"),
        count => counted(prose_words(reply) as f64 / count as f64, range, "words in a sentence"),
    }
}

/// Words outside of fenced code.
fn prose_words(reply: &str) -> usize {
    words(&lines(reply).prose.join("\n")).len()
}

/// The grade of Flesch and Kincaid.
fn grade(reply: &str, range: &Range) -> Finding {
    let words = words(&lines(reply).prose.join("\n"));
    let sentences = sentences(reply).len();
    if words.is_empty() || sentences == 0 {
        return Finding::new(Verdict::NotShown, "there is no sentence");
    }
    let syllables: usize = words.iter().map(|word| syllables(word)).sum();
    let per_sentence = words.len() as f64 / sentences as f64;
    let per_word = syllables as f64 / words.len() as f64;
    let grade = (0.39 * per_sentence + 11.8 * per_word - 15.59).max(0.0);
    counted((grade * 10.0).round() / 10.0, range, "as a reading grade")
}

fn lexicon(reply: &str, entries: &[String], per_100: Option<&Range>) -> Finding {
    let reply_words = words(reply);
    let matches = |entry: &str, at: usize| {
        let is_prefix = entry.ends_with('*');
        let wanted = words(entry);
        !wanted.is_empty()
            && reply_words.get(at..at + wanted.len()).is_some_and(|found| {
                let last = wanted.len() - 1;
                found.iter().zip(&wanted).enumerate().all(|(place, (found, wanted))| {
                    found == wanted || is_prefix && place == last && found.starts_with(wanted.as_str())
                })
            })
    };
    let places = (0..reply_words.len()).filter(|at| entries.iter().any(|entry| matches(entry, *at)));
    let found: Vec<usize> = places.collect();
    let finding = match per_100 {
        None => decided(!found.is_empty(), format!("{} of its words are there", found.len())),
        Some(_) if reply_words.is_empty() => Finding::new(Verdict::NotShown, "there are no words"),
        Some(range) => {
            let share = 100.0 * found.len() as f64 / reply_words.len() as f64;
            counted(share, range, "of its words in 100")
        }
    };
    match found.first() {
        Some(first) => finding.shown(&reply_words[*first].clone()),
        None => finding,
    }
}

const FIRST: &[&str] = &[
    "i",
    "i'm",
    "i'd",
    "i'll",
    "i've",
    "me",
    "my",
    "mine",
    "myself",
    "we",
    "we're",
    "we'd",
    "we'll",
    "we've",
    "us",
    "our",
    "ours",
    "ourselves",
    "let's",
];
const SECOND: &[&str] =
    &["you", "you're", "you'd", "you'll", "you've", "your", "yours", "yourself", "yourselves"];

fn spoken_in(reply: &str, wanted: Person) -> Finding {
    let words = words(&lines(reply).prose.join("\n"));
    if words.is_empty() {
        return Finding::new(Verdict::NotShown, "there are no words");
    }
    let find = |of: &[&str]| words.iter().find(|word| of.contains(&word.as_str())).cloned();
    let (person, evidence) = match (find(FIRST), find(SECOND)) {
        (Some(word), _) => (Person::First, Some(word)),
        (None, Some(word)) => (Person::Second, Some(word)),
        (None, None) => (Person::Third, None),
    };
    let finding = decided(person == wanted, format!("it speaks in the {person} person"));
    match evidence {
        Some(word) => finding.shown(&word),
        None => finding,
    }
}

fn question(reply: &str, wanted: bool) -> Finding {
    let asks = |sentence: &String| {
        let end = sentence.trim_end_matches(['"', '\'', '”', '’', ')', '*', '_', ' ']);
        end.ends_with(['?', '？', '؟'])
    };
    match sentences(reply).iter().find(|sentence| asks(sentence)) {
        Some(found) => decided(wanted, "it asks something".to_owned()).shown(found),
        None => decided(!wanted, "it asks nothing".to_owned()),
    }
}

fn format_of(reply: &str, rules: &FormatRules) -> Finding {
    let split = lines(reply);
    let has_heading = split.prose.iter().any(|line| is_heading(line));
    let has_list = split.prose.iter().any(|line| list_item(line).is_some());
    let has_emoji = reply.chars().any(is_emoji);
    let FormatRules { headings, lists, code, emoji } = rules;
    let each = [
        ("headings", headings, has_heading),
        ("lists", lists, has_list),
        ("code", code, split.has_code),
        ("emoji", emoji, has_emoji),
    ];
    let wrong = each.into_iter().find(|(_, wanted, has)| wanted.is_some_and(|wanted| wanted != *has));
    match wrong {
        Some((what, _, true)) => Finding::new(Verdict::Broken, format!("it has {what}")),
        Some((what, _, false)) => Finding::new(Verdict::Broken, format!("it has no {what}")),
        None => Finding::new(Verdict::Held, "it has the format"),
    }
}

/// The JSON of a reply: all of it, or its only fenced block.
fn json(reply: &str, schema: Option<&serde_json::Value>) -> Finding {
    let value: serde_json::Value = match serde_json::from_str(unfenced(reply)) {
        Ok(value) => value,
        Err(error) => return Finding::new(Verdict::Broken, format!("it is not JSON: {error}")),
    };
    let Some(schema) = schema else { return Finding::new(Verdict::Held, "it is JSON") };
    match jsonschema::validate(schema, &value) {
        Ok(()) => Finding::new(Verdict::Held, "it fits the schema"),
        Err(error) => {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/".to_owned() } else { place };
            let reason = format!("{place}: {}", shortened(&error.to_string(), EVIDENCE_CHARS));
            Finding::new(Verdict::Broken, reason)
        }
    }
}

/// The content of the fence around a text.
pub(crate) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, inner)| inner.trim())
}

fn called(transcript: Transcript<'_>, at: usize) -> &[String] {
    transcript.exchanges.get(at).map_or(&[], |exchange| exchange.calls.as_slice())
}

fn calls(transcript: Transcript<'_>, at: usize, tools: &[String]) -> Finding {
    match tools.iter().find(|tool| !called(transcript, at).contains(tool)) {
        Some(missing) => Finding::new(Verdict::Broken, format!("{missing} was not called")),
        None => Finding::new(Verdict::Held, "all of them were called"),
    }
}

fn calls_not(transcript: Transcript<'_>, at: usize, tools: &[String]) -> Finding {
    match tools.iter().find(|tool| called(transcript, at).contains(tool)) {
        Some(found) => Finding::new(Verdict::Broken, format!("{found} was called")),
        None => Finding::new(Verdict::Held, "none of them was called"),
    }
}

/// Words in a row that count as repeated.
const RUN: usize = 5;

fn overlap(transcript: Transcript<'_>, at: usize, rules: &OverlapRules) -> Finding {
    let reply = words(transcript.reply(at));
    let runs: Vec<&[String]> = reply.windows(RUN).collect();
    if runs.is_empty() {
        return Finding::new(Verdict::NotShown, format!("it has fewer than {RUN} words"));
    }
    let share = |source: &str| {
        let source = words(source);
        let known: HashSet<&[String]> = source.windows(RUN).collect();
        runs.iter().filter(|run| known.contains(*run)).count() as f64 / runs.len() as f64
    };
    let earlier: Vec<&str> = transcript.exchanges[..at].iter().map(|it| it.reply.as_str()).collect();
    let earlier = earlier.join("\n\n");
    let sources = [
        ("its prompt", rules.prompt, transcript.prompt),
        ("earlier replies", rules.earlier, earlier.as_str()),
    ];
    for (what, most, source) in sources {
        let Some(most) = most else { continue };
        let share = share(source);
        if share > most {
            let percent = |share: f64| (share * 100.0).round();
            let reason =
                format!("{} % comes from {what}, expected at most {} %", percent(share), percent(most));
            return Finding::new(Verdict::Broken, reason);
        }
    }
    Finding::new(Verdict::Held, "it repeats little")
}

#[cfg(test)]
mod tests;
