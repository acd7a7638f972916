//! Expectations, parsed once: what authors write becomes a check.

use persona::{
    BrokenRule, Ending, ExpectationTable, FormatRules, Invalid, Language, OverlapRules, Person, Range,
    ReplyChoice, TestInput,
};
use regex::{Regex, RegexBuilder};

use crate::limits::{NAME_CHARS, PATTERN_BYTES};
use crate::text::{normalized, shortened};

/// One expectation of a test input.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The author's name for it, else the check in words.
    pub name: String,
    pub check: Check,
    pub on: ReplyChoice,
    pub weight: f64,
    /// True if breaking it fails the answer.
    pub must: bool,
    /// True if an answer that gives no occasion breaks it.
    pub must_show: bool,
    pub aspect: Option<String>,
    pub piece: Option<String>,
}

/// The check of an expectation.
#[derive(Debug, Clone)]
pub enum Check {
    Judged(Judged),
    Contains(Vec<String>),
    Lacks(Vec<String>),
    Matches(Regex),
    Words(Range),
    Sentences(Range),
    SentenceWords(Range),
    Grade(Range),
    Lexicon { words: Vec<String>, per_100: Option<Range> },
    Person(Person),
    Question(bool),
    Format(FormatRules),
    Language(Language),
    Json(Option<Box<serde_json::Value>>),
    Calls(Vec<String>),
    CallsNot(Vec<String>),
    Ends(Ending),
    Overlap(OverlapRules),
    Tokens(Range),
}

/// A check that only a judge can make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// A proposition about the reply.
    Holds(String),
    /// The reply does not contradict earlier ones.
    Consistent,
}

impl Check {
    /// The key of the check in a definition.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Judged(Judged::Holds(_)) => "holds",
            Self::Judged(Judged::Consistent) => "consistent",
            Self::Contains(_) => "contains",
            Self::Lacks(_) => "lacks",
            Self::Matches(_) => "matches",
            Self::Words(_) => "words",
            Self::Sentences(_) => "sentences",
            Self::SentenceWords(_) => "sentence_words",
            Self::Grade(_) => "grade",
            Self::Lexicon { .. } => "lexicon",
            Self::Person(_) => "person",
            Self::Question(_) => "question",
            Self::Format(_) => "format",
            Self::Language(_) => "language",
            Self::Json(_) => "json",
            Self::Calls(_) => "calls",
            Self::CallsNot(_) => "calls_not",
            Self::Ends(_) => "ends",
            Self::Overlap(_) => "overlap",
            Self::Tokens(_) => "tokens",
        }
    }
}

impl Expectation {
    pub const fn is_judged(&self) -> bool {
        matches!(self.check, Check::Judged(_))
    }

    /// Fails if a regular expression or a JSON Schema cannot be read. Other rules were checked when the
    /// definition was read.
    fn parse(table: &ExpectationTable, path: &str) -> Result<Self, Invalid> {
        let (key, check) = parse_check(table, path)?;
        let name = table.name.clone().unwrap_or_else(|| named(key, table));
        Ok(Self {
            name,
            check,
            on: table.on.unwrap_or_default(),
            weight: table.weight.unwrap_or(1.0),
            must: table.must.unwrap_or(false),
            must_show: table.must_show.unwrap_or(true),
            aspect: table.aspect.clone(),
            piece: table.piece.clone(),
        })
    }
}

/// The expectations of a test input. Names are unique: repeated ones are numbered.
pub fn expectations(input: &TestInput) -> Result<Vec<Expectation>, Invalid> {
    let mut all: Vec<Expectation> = Vec::with_capacity(input.expectations.len());
    for (at, expectation) in input.expectations.iter().enumerate() {
        let mut parsed = Expectation::parse(&expectation.table(), &format!("expectations[{at}]"))?;
        let plain = parsed.name.clone();
        let mut number = 2;
        while all.iter().any(|known| known.name == parsed.name) {
            parsed.name = format!("{plain} ({number})");
            number += 1;
        }
        all.push(parsed);
    }
    Ok(all)
}

fn parse_check(table: &ExpectationTable, path: &str) -> Result<(&'static str, Check), Invalid> {
    let broken = |field: &str, rule| Invalid { field: format!("{path}{field}"), rule };
    let given = table.given();
    let [key] = given.as_slice() else {
        let given = given.into_iter().map(str::to_owned).collect();
        return Err(broken("", BrokenRule::NotOneCheck { given }));
    };
    let range = |range: &Option<Range>| range.clone().unwrap_or_default();
    let check = match *key {
        "holds" => Check::Judged(Judged::Holds(table.holds.clone().unwrap_or_default())),
        "consistent" => Check::Judged(Judged::Consistent),
        "contains" => Check::Contains(table.contains.clone()),
        "lacks" => Check::Lacks(table.lacks.clone()),
        "matches" => {
            let pattern = table.matches.as_deref().unwrap_or_default();
            let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build();
            Check::Matches(built.map_err(|error| {
                let reason = normalized(&error.to_string());
                broken(".matches", BrokenRule::NoPattern { reason })
            })?)
        }
        "words" => Check::Words(range(&table.words)),
        "sentences" => Check::Sentences(range(&table.sentences)),
        "sentence_words" => Check::SentenceWords(range(&table.sentence_words)),
        "grade" => Check::Grade(range(&table.grade)),
        "lexicon" => Check::Lexicon { words: table.lexicon.clone(), per_100: table.per_100.clone() },
        "json" => {
            let schema = table.json.as_ref().and_then(|json| json.schema.as_deref());
            let schema = schema.map(|schema| read_schema(schema).map(Box::new)).transpose();
            Check::Json(schema.map_err(|reason| broken(".json.schema", BrokenRule::NoSchema { reason }))?)
        }
        "calls" => Check::Calls(table.calls.clone()),
        "calls_not" => Check::CallsNot(table.calls_not.clone()),
        "tokens" => Check::Tokens(range(&table.tokens)),
        _ => {
            let ExpectationTable { person, question, format, language, ends, overlap, .. } = table;
            let person = person.map(Check::Person).or(question.map(Check::Question));
            let format = person.or_else(|| format.clone().map(Check::Format));
            let language = format.or(language.map(Check::Language)).or(ends.map(Check::Ends));
            let found = language.or_else(|| overlap.clone().map(Check::Overlap));
            found.ok_or_else(|| broken("", BrokenRule::NotOneCheck { given: Vec::new() }))?
        }
    };
    Ok((key, check))
}

fn read_schema(text: &str) -> Result<serde_json::Value, String> {
    let schema: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match jsonschema::validator_for(&schema) {
        Ok(_) => Ok(schema),
        Err(error) => Err(error.to_string()),
    }
}

/// A check in words, for reports.
fn named(key: &str, table: &ExpectationTable) -> String {
    let listed = |texts: &[String]| {
        let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
        format!("{} {}", key.replace('_', " "), quoted.join(", "))
    };
    let name = match key {
        "holds" => normalized(table.holds.as_deref().unwrap_or_default()),
        "consistent" => "agrees with its earlier replies".to_owned(),
        "contains" => listed(&table.contains),
        "lacks" => listed(&table.lacks),
        "lexicon" => listed(&table.lexicon),
        "calls" => listed(&table.calls),
        "calls_not" => listed(&table.calls_not),
        "matches" => format!("matches {}", table.matches.as_deref().unwrap_or_default()),
        "words" => ranged("words", table.words.as_ref()),
        "sentences" => ranged("sentences", table.sentences.as_ref()),
        "sentence_words" => ranged("words in a sentence", table.sentence_words.as_ref()),
        "grade" => ranged("reading grade", table.grade.as_ref()),
        "tokens" => ranged("tokens", table.tokens.as_ref()),
        "person" => format!("speaks in the {} person", word(table.person.map(Person::as_str))),
        "question" if table.question == Some(false) => "asks nothing".to_owned(),
        "question" => "asks something".to_owned(),
        "language" => format!("language {}", word(table.language.map(Language::as_str))),
        "ends" => format!("ends with {}", word(table.ends.map(Ending::as_str))),
        "format" => format!("format {}", switches(table.format.as_ref())),
        "json" => "is JSON".to_owned(),
        "overlap" => "repeats little".to_owned(),
        other => other.to_owned(),
    };
    shortened(&name, NAME_CHARS)
}

fn word(word: Option<&'static str>) -> &'static str {
    word.unwrap_or_default()
}

fn switches(format: Option<&FormatRules>) -> String {
    let Some(FormatRules { headings, lists, code, emoji }) = format else { return String::new() };
    let each = [("headings", headings), ("lists", lists), ("code", code), ("emoji", emoji)];
    let set = each.into_iter().filter_map(|(name, value)| {
        value.map(|value| if value { name.to_owned() } else { format!("no {name}") })
    });
    set.collect::<Vec<_>>().join(", ")
}

/// `words 10 to 80`, `words at most 80`.
fn ranged(what: &str, range: Option<&Range>) -> String {
    format!("{what} {}", range.map(bounds).unwrap_or_default())
}

pub(crate) fn bounds(range: &Range) -> String {
    match (range.min, range.max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests;
