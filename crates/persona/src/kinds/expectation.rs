//! Expectations of a test input: propositions for a judge, and checks that need no model.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::check::{BrokenRule, Checked, invalid};
use crate::field::value::Visit;
use crate::field::{self, AnyValue, Described, Field, Leaf, Shape, TableType, ValueView, described};
use crate::kind::vocabulary;
use crate::limits::{
    CHECKED_TEXTS, DISPLAY_NAME_CHARS, LABELLED_REPLIES, SHORT_TEXT_BYTES, TAG_CHARS, TOOL_CHARS,
};

/// A property of a good answer. A text means `{ holds = … }`.
#[derive(Debug, Clone, PartialEq)]
pub enum Expectation {
    Text(String),
    Table(Box<ExpectationTable>),
}

described! {
    /// One check of an answer, and how it counts. Exactly one of the fields up to `tokens` is set.
    #[derive(Default)]
    #[serde(deny_unknown_fields, default)]
    #[schemars(inline)]
    ExpectationTable {
        #[serde(skip_serializing_if = "Option::is_none")]
        holds: Option<String> =
            field::short("A proposition about the answer, for a judge.").says_something().searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        consistent: Option<bool> =
            field::switch("`true`: a judge finds no contradiction to the persona's earlier replies.");
        #[serde(skip_serializing_if = "Vec::is_empty")]
        contains: Vec<String> = field::texts(
            CHECKED_TEXTS,
            "Texts that all occur in the answer. Case and the width of blanks do not count.",
        )
        .says_something()
        .searched();
        #[serde(skip_serializing_if = "Vec::is_empty")]
        lacks: Vec<String> = field::texts(CHECKED_TEXTS, "Texts that do not occur in the answer.")
            .says_something()
            .searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        matches: Option<String> = field::text(
            SHORT_TEXT_BYTES,
            "A regular expression that matches somewhere in the answer.",
        )
        .says_something();
        #[serde(skip_serializing_if = "Option::is_none")]
        words: Option<Range> = field::table(Range::FIELDS, "The number of words: `{ min, max }`.");
        #[serde(skip_serializing_if = "Option::is_none")]
        sentences: Option<Range> = field::table(Range::FIELDS, "The number of sentences: `{ min, max }`.");
        #[serde(skip_serializing_if = "Option::is_none")]
        sentence_words: Option<Range> =
            field::table(Range::FIELDS, "The average number of words in a sentence: `{ min, max }`.");
        #[serde(skip_serializing_if = "Option::is_none")]
        grade: Option<Range> = field::table(
            Range::FIELDS,
            "The reading level of an English answer as a school grade (Flesch-Kincaid): `{ min, max }`.",
        );
        #[serde(skip_serializing_if = "Vec::is_empty")]
        lexicon: Vec<String> = field::words(
            CHECKED_TEXTS,
            TAG_CHARS,
            "Words of which the answer uses some. `measur*` stands for every word that begins so.",
        )
        .searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        person: Option<Person> = field::word(
            Person::words,
            "The person in which an English answer speaks: `first` says I or we, `second` says you without them, \
             `third` says neither.",
        );
        #[serde(skip_serializing_if = "Option::is_none")]
        question: Option<bool> =
            field::switch("`true`: the answer asks something. `false`: it asks nothing.");
        #[serde(skip_serializing_if = "Option::is_none")]
        format: Option<FormatRules> = field::table(
            FormatRules::FIELDS,
            "Markdown that the answer has (`true`) or lacks (`false`): `{ headings, lists, code, emoji }`.",
        );
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<Language> =
            field::word(Language::words, "The language of the answer.");
        #[serde(skip_serializing_if = "Option::is_none")]
        json: Option<JsonRules> = field::table(
            JsonRules::FIELDS,
            "The answer is JSON, alone or in a fence: `{}`, or `{ schema }` with a JSON Schema as text.",
        );
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls: Vec<String> =
            field::words(CHECKED_TEXTS, TOOL_CHARS, "Tools that the persona calls.").searched();
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls_not: Vec<String> =
            field::words(CHECKED_TEXTS, TOOL_CHARS, "Tools that the persona does not call.").searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        ends: Option<Ending> = field::word(Ending::words, "The reason for which the run ends.");
        #[serde(skip_serializing_if = "Option::is_none")]
        overlap: Option<OverlapRules> = field::table(
            OverlapRules::FIELDS,
            "The most of the answer that repeats something, from 0 to 1: `{ prompt, earlier }`.",
        );
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<Range> = field::table(Range::FIELDS, "The number of tokens: `{ min, max }`.");
        #[serde(skip_serializing_if = "Option::is_none")]
        per_100: Option<Range> = field::table(
            Range::FIELDS,
            "With `lexicon`: its words in 100 words of the answer, `{ min, max }`. Without it, one occurrence.",
        );
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String> =
            field::line(DISPLAY_NAME_CHARS, "A name for reports. Without it, the check itself.")
                .says_something();
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<ReplyChoice> = field::word(
            ReplyChoice::words,
            "The replies that it is about, or the number of one, from 1.",
        )
        .unset_word("last");
        #[serde(skip_serializing_if = "Option::is_none")]
        weight: Option<f64> = field::number(0.0, 100.0, "How much it counts.").unset(1.0);
        #[serde(skip_serializing_if = "Option::is_none")]
        must: Option<bool> = field::switch("`true`: an answer that breaks it fails, whatever its score.");
        #[serde(skip_serializing_if = "Option::is_none")]
        aspect: Option<String> =
            field::line(TAG_CHARS, "A word to group expectations by, such as `tone` or `boundary`.")
                .says_something()
                .searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        piece: Option<String> = field::line(
            DISPLAY_NAME_CHARS,
            "The piece of the persona that it tests: `kind:name`, such as `guardrail:no-fabrication`.",
        )
        .says_something();
        #[serde(skip_serializing_if = "Option::is_none")]
        must_show: Option<bool> = field::switch(
            "`false`: an answer that gives no occasion for it does not count. Without it, such an answer breaks it.",
        );
        #[serde(skip_serializing_if = "Vec::is_empty")]
        examples: Vec<LabelledReply> = field::list(
            LABELLED_REPLIES,
            &LabelledReply::ITEM,
            "Replies with the right verdict, to measure the judge by: `{ reply, holds }`.",
        );
    }
}

described! {
    /// A range of numbers, both ends included. At least one is given.
    #[derive(Default)]
    #[serde(deny_unknown_fields, default)]
    #[schemars(inline)]
    Range {
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<f64> = field::number(0.0, 1_000_000.0, "The smallest number.");
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<f64> = field::number(0.0, 1_000_000.0, "The largest number.");
    }
}

described! {
    /// Markdown that an answer has or lacks. At least one is given.
    #[derive(Default, Eq)]
    #[serde(deny_unknown_fields, default)]
    #[schemars(inline)]
    FormatRules {
        #[serde(skip_serializing_if = "Option::is_none")]
        headings: Option<bool> = field::switch("Headings.");
        #[serde(skip_serializing_if = "Option::is_none")]
        lists: Option<bool> = field::switch("Lists, numbered or not.");
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<bool> = field::switch("Fenced code.");
        #[serde(skip_serializing_if = "Option::is_none")]
        emoji: Option<bool> = field::switch("Emoji.");
    }
}

described! {
    /// A JSON answer.
    #[derive(Default, Eq)]
    #[serde(deny_unknown_fields, default)]
    #[schemars(inline)]
    JsonRules {
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<String> = field::short("A JSON Schema, as text.").says_something();
    }
}

described! {
    /// The most that an answer may repeat. At least one is given.
    #[derive(Default)]
    #[serde(deny_unknown_fields, default)]
    #[schemars(inline)]
    OverlapRules {
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<f64> = field::number(0.0, 1.0, "The most that comes from the persona's prompt.");
        #[serde(skip_serializing_if = "Option::is_none")]
        earlier: Option<f64> = field::number(0.0, 1.0, "The most that comes from earlier replies.");
    }
}

described! {
    /// A reply and the right verdict about it.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    LabelledReply {
        reply: String = field::short("The reply.").says_something();
        holds: bool = field::switch("True if the expectation holds.");
    }
}

impl LabelledReply {
    const ITEM: TableType =
        TableType::new("LabelledReply", Self::FIELDS, "A reply with the right verdict about it.");
}

vocabulary! {
    /// The grammatical person of a text.
    Person, "person" { First = "first", Second = "second", Third = "third" }
}

vocabulary! {
    /// The languages that the `language` check tells apart.
    Language, "language" {
        Arabic = "ar",
        Chinese = "zh",
        Danish = "da",
        Dutch = "nl",
        English = "en",
        French = "fr",
        German = "de",
        Greek = "el",
        Hebrew = "he",
        Hindi = "hi",
        Italian = "it",
        Japanese = "ja",
        Korean = "ko",
        Polish = "pl",
        Portuguese = "pt",
        Russian = "ru",
        Spanish = "es",
        Swedish = "sv",
        Thai = "th",
        Turkish = "tr",
        Ukrainian = "uk",
    }
}

vocabulary! {
    /// The end of a run, as an expectation names it.
    Ending, "end" {
        EndTurn = "end_turn",
        MaxTokens = "max_tokens",
        Refusal = "refusal",
        MaxToolRounds = "max_tool_rounds",
        LoopDetected = "loop_detected",
    }
}

/// The replies of a conversation that an expectation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyChoice {
    #[default]
    Last,
    Every,
    /// Counted from 1.
    Number(u32),
}

impl ReplyChoice {
    pub fn words() -> Vec<&'static str> {
        vec!["last", "every"]
    }
}

impl fmt::Display for ReplyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Every => f.write_str("every"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl Serialize for ReplyChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Last => serializer.serialize_str("last"),
            Self::Every => serializer.serialize_str("every"),
            Self::Number(number) => serializer.serialize_u32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for ReplyChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrNumber;

        impl Visitor<'_> for WordOrNumber {
            type Value = ReplyChoice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"last\", \"every\" or the number of a reply, from 1")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<ReplyChoice, E> {
                match word {
                    "last" => Ok(ReplyChoice::Last),
                    "every" => Ok(ReplyChoice::Every),
                    other => Err(E::unknown_variant(other, &["last", "every"])),
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ReplyChoice, E> {
                match u32::try_from(number) {
                    Ok(number) if number > 0 => Ok(ReplyChoice::Number(number)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ReplyChoice, E> {
                match u64::try_from(number) {
                    Ok(number) => self.visit_u64(number),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }
        }

        deserializer.deserialize_any(WordOrNumber)
    }
}

impl JsonSchema for ReplyChoice {
    fn schema_name() -> Cow<'static, str> {
        "ReplyChoice".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "anyOf": [{ "type": "string", "enum": ["last", "every"] }, { "type": "integer", "minimum": 1 }]
        })
    }
}

impl AnyValue for ReplyChoice {
    fn view(&self) -> ValueView<'_> {
        match self {
            Self::Last => ValueView::Word("last"),
            Self::Every => ValueView::Word("every"),
            Self::Number(number) => ValueView::Whole((*number).into()),
        }
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Expectation {
    pub(crate) const ITEM: TableType = TableType::new(
        "ExpectationTable",
        ExpectationTable::FIELDS,
        "A proposition for a judge, or a table with exactly one check.",
    )
    .or_text();

    /// The expectation as a table.
    pub fn table(&self) -> Cow<'_, ExpectationTable> {
        match self {
            Self::Text(text) => {
                Cow::Owned(ExpectationTable { holds: Some(text.clone()), ..ExpectationTable::default() })
            }
            Self::Table(table) => Cow::Borrowed(table),
        }
    }
}

impl From<&str> for Expectation {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<ExpectationTable> for Expectation {
    fn from(table: ExpectationTable) -> Self {
        Self::Table(Box::new(table))
    }
}

impl ExpectationTable {
    /// The number of checks: the first fields.
    pub const CHECKS: usize = 20;

    /// The fields that are checks.
    pub fn checks() -> &'static [Field] {
        &Self::FIELDS[..Self::CHECKS]
    }

    /// The checks that this one has.
    pub fn given(&self) -> Vec<&'static str> {
        let checks = self.values().into_iter().take(Self::CHECKS);
        checks.filter(|(_, value)| !value.view().is_unset()).map(|(field, _)| field.name).collect()
    }

    pub(super) fn check(&self, path: &str) -> Checked {
        match self.given().as_slice() {
            [_] => {}
            given => {
                let given = given.iter().map(|name| (*name).to_owned()).collect();
                return invalid(path, BrokenRule::NotOneCheck { given });
            }
        }
        if self.per_100.is_some() && self.lexicon.is_empty() {
            return invalid(format!("{path}.per_100"), BrokenRule::Without("lexicon"));
        }
        if self.consistent == Some(false) {
            return invalid(format!("{path}.consistent"), BrokenRule::OnlyTrue);
        }
        for (field, value) in self.values() {
            let place = || format!("{path}.{}", field.name);
            let ValueView::Table(inner) = value.view() else { continue };
            // `json = {}` is a check; other tables without a field check nothing.
            if field.name != "json" && inner.iter().all(|(_, value)| value.is_unset()) {
                return invalid(place(), BrokenRule::NothingInside);
            }
            if let [(_, ValueView::Number(min)), (_, ValueView::Number(max))] = inner.as_slice()
                && inner[0].0.name == "min"
                && min > max
            {
                return invalid(place(), BrokenRule::NoNumberBetween);
            }
        }
        Ok(())
    }
}

impl Serialize for Expectation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Expectation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrTable;

        impl<'de> Visitor<'de> for TextOrTable {
            type Value = Expectation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a table with one check")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Expectation, E> {
                Ok(Expectation::Text(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Expectation, A::Error> {
                let table = ExpectationTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Expectation::Table(Box::new(table)))
            }
        }

        deserializer.deserialize_any(TextOrTable)
    }
}

impl JsonSchema for Expectation {
    fn schema_name() -> Cow<'static, str> {
        "Expectation".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ExpectationTable::json_schema(generator);
        schema.insert("type".to_owned(), serde_json::json!(["string", "object"]));
        schema.insert("maxLength".to_owned(), SHORT_TEXT_BYTES.into());
        schema
    }
}

impl AnyValue for Expectation {
    fn view(&self) -> ValueView<'_> {
        match self {
            Self::Text(text) => ValueView::Text(text),
            Self::Table(table) => table.view(),
        }
    }

    fn visit_mut(&mut self, path: &str, field: &'static Field, visit: Visit<'_>) {
        match self {
            Self::Text(text) => visit(path, field, Leaf::Text(text)),
            Self::Table(table) => table.visit_mut(path, field, visit),
        }
    }

    fn unlink(&mut self, _: &Shape, _: crate::Kind, _: &crate::Name) {}

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
