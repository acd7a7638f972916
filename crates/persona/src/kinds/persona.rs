//! A named, loadable agent configuration.

use crate::check::{BrokenRule, Checked, invalid};
use crate::entity::{Texts, first_said, said};
use crate::field::{self, Described, TableType, blank, described, kind};
use crate::kind::vocabulary;
use crate::limits::{
    ANCHOR_TURNS, DISPLAY_NAME_CHARS, EXAMPLES, GREETINGS, LINKS, PREFERRED_MODELS, PROBES, TAG_CHARS, TAGS,
    TOOL_ROUNDS, VOTES,
};
use crate::{Aggregation, BaseRef, Kind, MergeMode, Name, Tags};

kind! {
    /// A named, loadable agent configuration.
    Persona = Persona, persona_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own display_name: Option<String> =
            field::line(DISPLAY_NAME_CHARS, "The name that people see.")
                .searched_as_name()
                .strongest();
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("When to use the persona, in a sentence.")
                .searched()
                .strongest()
                .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own summary: Option<String> = field::short(
            "The persona in a sentence or two, for short views and prompts. Without it, they have the whole system \
             prompt.",
        )
        .searched()
        .strongest()
        .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own detail: Option<String> = field::long(
            "More about the persona, for people and agents who choose one: its inputs and its results. Also the \
             system prompt, if that is missing.",
        )
        .searched()
        .strongest()
        .filled();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own author: Option<String> = field::line(
            DISPLAY_NAME_CHARS,
            "The author of the persona: one line, such as a name with an address. Without it, the base's.",
        )
        .searched()
        .strongest()
        .setting();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own license: Option<String> = field::line(
            DISPLAY_NAME_CHARS,
            "The terms under which others may use the persona: one line, such as `MIT` or an address. Without it, \
             the base's.",
        )
        .strongest()
        .setting();
        /// The persona that this one extends: `name`, or `scope:name`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own("Base persona: name, or scope:name") extends: Option<BaseRef> = field::base(
            "The base: a persona that this one extends. A plain name resolves in this scope and the weaker ones; \
             `global:coder` names the scope.",
        );
        #[serde(skip_serializing_if = "Option::is_none")]
        own system_prompt: Option<String> = field::long(
            "The beginning of the prompt. Parts, examples, traits, skills and guardrails follow it. Without one, the \
             base's.",
        )
        .searched()
        .filled();
        #[serde(default)]
        own system_prompt_mode: MergeMode = field::word(
            MergeMode::words,
            "How the system prompt combines with the base's: `replace` replaces it, `append` follows it.",
        )
        .implied_word("replace");
        /// Opening messages for a session.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own("Opening messages for a session") greetings: Vec<String> = field::texts(
            GREETINGS,
            "Opening messages for a session. A session may open with the first one, or with the one that the user \
             picks by number. Without any, the base's.",
        )
        .says_something()
        .strongest()
        .setting();
        #[serde(default)]
        own("First choice, then escalation") preferred_models: Vec<PreferredModel> = field::list(
            PREFERRED_MODELS,
            &PreferredModel::ITEM,
            "Models in order of preference. If one fails, the next takes over. Without any, the base's.",
        )
        .strongest()
        .flag("model");
        #[serde(skip_serializing_if = "Option::is_none")]
        own tool_preset: Option<Name> = field::name(
            Kind::ToolPreset,
            "The tool preset with the persona's tools. Without one, read-only tools run and others ask.",
        )
        .strongest().setting();
        #[serde(skip_serializing_if = "Option::is_none")]
        own bias_profile: Option<Name> = field::name(
            Kind::BiasProfile,
            "The bias profile with the persona's preferences among categories of tools.",
        )
        .strongest().setting();
        #[serde(skip_serializing_if = "Option::is_none")]
        own context_preset: Option<Name> =
            field::name(Kind::ContextPreset, "The context preset with the files for the prompt.")
                .strongest().setting();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own aggregation_strategy: Option<Aggregation> = field::word(
            Aggregation::words,
            "How context files are condensed: `full`, `summarize`, `skeleton` (signatures without bodies), or \
             `auto`, which fits them into the budget.",
        )
        .unset_word("auto")
        .strongest().setting();
        /// The most replies of one run that may call tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own("0 clears it") max_tool_rounds: Option<u32> = field::whole(
            1,
            TOOL_ROUNDS as i64,
            "The most replies of one run that may call tools. Without it: the base's, else `[run] max_tool_rounds` \
             of your config.toml, else 50.",
        )
        .strongest().setting();
        #[serde(skip_serializing_if = "Option::is_none")]
        own plan_persona: Option<PlanPersona> =
            field::table(PlanPersona::FIELDS, "Overrides in plan mode. Each field is inherited on its own.")
                .strongest().setting()
                .flag("plan");
        #[serde(default)]
        linked parts: Vec<PartLink> = field::list(
            LINKS,
            &PartLink::ITEM,
            "Parts: names, or `{ name, order, priority }`. `parts_mode` combines them with the base's.",
        );
        #[serde(default)]
        own parts_mode: MergeMode = field::word(
            MergeMode::words,
            "How the parts combine with the base's: `replace` replaces all of the base's parts of the same type, \
             `append` follows them.",
        )
        .implied_word("replace");
        /// Exchanges that show how the persona answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own("Exchanges that show how the persona answers") examples: Vec<Example> = field::list(
            EXAMPLES,
            &Example::ITEM,
            "Exchanges that show how the persona answers: `{ user, persona }`. They follow the parts in the prompt. \
             A budget drops them first. Without any, the base's.",
        )
        .strongest();
        #[serde(default)]
        linked traits: Vec<Name> =
            field::names(Kind::Trait, LINKS, "Traits, in addition to the base's.").union("remove_traits");
        #[serde(default)]
        linked skills: Vec<Name> =
            field::names(Kind::Skill, LINKS, "Skills, in addition to the base's.").union("remove_skills");
        #[serde(default)]
        linked guardrails: Vec<Name> = field::names(
            Kind::Guardrail,
            LINKS,
            "Guardrails, in addition to the base's. No budget drops them.",
        )
        .union("remove_guardrails");
        #[serde(skip_serializing_if = "Option::is_none")]
        linked arc: Option<Name> =
            field::name(Kind::Arc, "The arc that the persona follows.").strongest();
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own test_inputs: Vec<Name> = field::names(
            Kind::TestInput,
            LINKS,
            "Test inputs to try the persona with, in addition to the base's.",
        )
        .union("remove_test_inputs");
        /// How tests of the persona are judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own fidelity: Option<Fidelity> = field::table(
            Fidelity::FIELDS,
            "How tests of the persona are judged. Each field is inherited on its own.",
        )
        .strongest().setting();
        #[serde(default)]
        own tags: Tags = field::tags("Words for search, in addition to the base's.").union("remove_tags");
        /// Pieces of the base that this persona does not inherit.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own remove_parts: Vec<Name> =
            field::names(Kind::Part, LINKS, "Parts of the base to remove.").removes();
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own remove_traits: Vec<Name> =
            field::names(Kind::Trait, LINKS, "Traits of the base to remove.").removes();
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own remove_skills: Vec<Name> =
            field::names(Kind::Skill, LINKS, "Skills of the base to remove.").removes();
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own remove_guardrails: Vec<Name> = field::names(
            Kind::Guardrail,
            LINKS,
            "Guardrails of the base to remove.",
        )
        .removes();
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own remove_test_inputs: Vec<Name> = field::names(
            Kind::TestInput,
            LINKS,
            "Test inputs of the base to remove.",
        )
        .removes();
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own remove_tags: Tags =
            field::words(TAGS, TAG_CHARS, "Tags of the base to remove.").removes();
    }
}

described! {
    /// A part's place in a persona: lower orders come first, higher priorities survive trimming.
    #[derive(Eq)]
    #[serde(deny_unknown_fields, expecting = "a name, or {name, order, priority}")]
    #[schemars(inline)]
    PartLink {
        name: Name = field::name(Kind::Part, "The part's name.");
        #[serde(default)]
        order: i32 = field::whole(
            i32::MIN as i64,
            i32::MAX as i64,
            "Position: lower comes first; ties are sorted by name. Defaults to the index in the list, from 0.",
        );
        #[serde(default)]
        priority: i32 = field::whole(
            i32::MIN as i64,
            i32::MAX as i64,
            "Weight in a budget: the highest priority is tried first.",
        )
        .implied(0);
    }
}

impl PartLink {
    const ITEM: TableType =
        TableType::new("PartLink", Self::FIELDS, "A part: its name, or a table with its place.")
            .bare()
            .ordered_from(0);
}

described! {
    /// An exchange that shows how a persona answers.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    Example {
        user: String = field::short("The user's message.").says_something().filled();
        persona: String = field::short("The persona's answer.").says_something().filled();
    }
}

impl Example {
    const ITEM: TableType = TableType::new("Example", Self::FIELDS, "An exchange: a message and its answer.");
}

described! {
    /// A preferred model. The first is used; the rest are escalation targets. Accessors return
    /// defaults; requests carry only the fields that are set.
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    PreferredModel {
        provider: String = field::text(DISPLAY_NAME_CHARS, "The provider, by its name in your config.toml.")
            .says_something();
        model: String =
            field::text(DISPLAY_NAME_CHARS, "The model, as its provider calls it.").says_something();
        #[serde(skip_serializing_if = "Option::is_none")]
        temperature: Option<f64> = field::number(
            0.0,
            2.0,
            "Randomness of the answer. Some models reject it in combination with `top_p`.",
        )
        .unset(0.0);
        #[serde(skip_serializing_if = "Option::is_none")]
        top_p: Option<f64> = field::number(
            0.0,
            1.0,
            "Nucleus sampling: the probability mass to sample from. Some models reject it in combination with \
             `temperature`.",
        )
        .unset(1.0);
        #[serde(skip_serializing_if = "Option::is_none")]
        max_output_tokens: Option<u32> = field::whole(
            1,
            u32::MAX as i64,
            "Maximum length of the answer, in tokens. Without it, the provider's default.",
        );
    }
}

impl PreferredModel {
    const ITEM: TableType =
        TableType::new("PreferredModel", Self::FIELDS, "A model. Masque sends only the settings given here.");
}

described! {
    /// Overrides in plan mode.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    PlanPersona {
        #[serde(skip_serializing_if = "Option::is_none")]
        instruction: Option<String> = field::long(
            "Instruction in plan mode. It follows a line that Masque adds. Without it, Masque's default reminder.",
        )
        .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String> =
            field::short("The model in plan mode, as `provider/model`.").says_something();
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_preset: Option<Name> = field::name(
            Kind::ToolPreset,
            "The tool preset in plan mode. Only its read-only tools are offered.",
        );
    }
}

described! {
    /// How tests of a persona are judged.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    Fidelity {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pass: Option<f64> =
            field::number(0.0, 1.0, "The score from which an answer passes.").unset(0.8);
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judge: Option<String> = field::short(
            "The model that judges, as `provider/model`. Without it, the persona's own model.",
        )
        .says_something();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        votes: Option<u32> =
            field::whole(1, VOTES as i64, "How often the judge is asked about one expectation: odd.").unset(1.0);
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        probes: Vec<Probe> = field::list(
            PROBES,
            &Probe::ITEM,
            "Questions to ask within a session, to see whether the persona drifts. Kept; nothing asks them yet.",
        );
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Anchor> = field::table(
            Anchor::FIELDS,
            "A reminder of the persona within a long session. Kept; nothing sends it yet.",
        );
    }
}

described! {
    /// A question within a session, and what the answer should do.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    Probe {
        ask: String = field::short("The question.").says_something();
        holds: String = field::short("A proposition about the answer, for a judge.").says_something();
    }
}

impl Probe {
    const ITEM: TableType =
        TableType::new("Probe", Self::FIELDS, "A question, and a proposition about its answer.");
}

described! {
    /// A reminder of the persona.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    Anchor {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String> = field::short(
            "The reminder. `auto` stands for the summary and the strictest guardrails.",
        )
        .says_something();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every_turns: Option<u32> =
            field::whole(1, ANCHOR_TURNS as i64, "How many messages lie between two reminders.");
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_drift: Option<f64> = field::number(0.0, 1.0, "The drift from which a reminder is sent.");
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<AnchorPlace> = field::word(AnchorPlace::words, "The place of the reminder.");
    }
}

vocabulary! {
    /// The place of a reminder in a request: at the last message of the user, or as a system message after it.
    AnchorPlace, "place" { LastUser = "last_user", System = "system" }
}

impl Fidelity {
    /// The score from which an answer passes, by default.
    pub const PASS: f64 = 0.8;
}

impl Persona {
    fn check_together(&self) -> Checked {
        match self.fidelity.as_ref().and_then(|fidelity| fidelity.votes) {
            Some(votes) if votes % 2 == 0 => invalid("fidelity.votes", BrokenRule::Even),
            _ => Ok(()),
        }
    }

    /// A persona with a name and nothing else.
    pub fn new(name: Name) -> Self {
        persona_fields!(blank, { Persona(name) })
    }

    /// The first choice of model.
    pub fn first_model(&self) -> Option<&PreferredModel> {
        self.preferred_models.first()
    }

    pub fn provider(&self) -> Option<&str> {
        self.first_model().map(|model| model.provider.as_str())
    }

    pub fn model(&self) -> Option<&str> {
        self.first_model().map(|model| model.model.as_str())
    }

    /// The first model's temperature, 0.0 by default.
    pub fn temperature(&self) -> Option<f64> {
        self.first_model().map(|model| model.temperature.unwrap_or(0.0))
    }

    /// The first model's `top_p`, 1.0 by default.
    pub fn top_p(&self) -> Option<f64> {
        self.first_model().map(|model| model.top_p.unwrap_or(1.0))
    }

    /// The first model's limit. `None` leaves it to the provider.
    pub fn max_output_tokens(&self) -> Option<u32> {
        self.first_model().and_then(|model| model.max_output_tokens)
    }

    /// Takes something out that the persona names.
    pub fn unlink(&mut self, kind: Kind, name: &Name) {
        field::value::unlink_fields(self, kind, name);
    }
}

impl Texts for Persona {
    fn own_summary(&self) -> Option<&str> {
        said(&self.summary)
    }

    fn summary_field(&self) -> &'static str {
        "summary"
    }

    /// The system prompt, else the detail, else the summary, else the description. Beside a system
    /// prompt, the detail is about the persona, not for it.
    fn whole_said(&self) -> Option<(&'static str, &str)> {
        let Self { system_prompt, detail, summary, description, .. } = self;
        first_said([
            ("system_prompt", system_prompt),
            ("detail", detail),
            ("summary", summary),
            ("description", description),
        ])
    }
}
