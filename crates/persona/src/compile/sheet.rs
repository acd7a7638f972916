//! Everything that a compiled text may consist of. A [`Sheet`] renders each piece once, and lays out
//! those that are in the text: their order, the headings above them and the lines between them.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::markdown::{clean, clean_all, item, lower_headings};
use super::origin;
use super::{Block, BlockForm, BlockKind, Origin, block_id};
use crate::assembly::Level;
use crate::entity::{Texts, said, shortened};
use crate::inherit::{chain, prompt_layers};
use crate::{
    Assembled, Bundle, Example, Guardrail, LayerOrigin, LeftOutKind, Part, PartType, Persona, Severity,
    Skill, Trait, View,
};

/// The field of the text that personas of a chain may write together.
const SYSTEM_PROMPT: &str = "system_prompt";

/// The amount of a skill in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SkillText {
    Full,
    /// Its name and description: a tool loads its content.
    Named,
}

/// A stretch of a text with one heading, or the opening, which has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Opening,
    Parts(PartType),
    Examples,
    Traits,
    Skills,
    Guardrails,
}

/// The shape of the skills in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SkillShape {
    List,
    /// Each below its name.
    Sections,
}

/// The text of an item.
enum Content<'s> {
    /// A text of the persona, or of one of its bases, by its place in the chain.
    Opening {
        text: String,
        field: &'static str,
        form: BlockForm,
        at: usize,
    },
    Part(&'s Part, LayerOrigin),
    Example(usize, &'s Example),
    Trait(&'s Trait),
    Skill(&'s Skill),
    Guardrail(&'s Guardrail),
}

struct Item<'s> {
    section: Section,
    content: Content<'s>,
    level: Level,
    /// Rendered texts, by [`Placement::slot`].
    bodies: [OnceCell<String>; Placement::SLOTS],
}

/// An item in its place in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub(super) item: usize,
    level: Level,
    shape: SkillShape,
    /// True if its section begins with it.
    pub(super) has_heading: bool,
    /// True if a blank line follows it.
    is_spaced: bool,
}

impl Placement {
    const SLOTS: usize = 4;
    /// The number of different texts of an item.
    pub(super) const VARIANTS: usize = Self::SLOTS * 4;

    /// The text of the item itself depends on its level and the shape of skills.
    fn slot(self) -> usize {
        usize::from(self.level == Level::Short) * 2 + usize::from(self.shape == SkillShape::Sections)
    }

    /// The text of its block also depends on the heading above and the line below.
    pub(super) fn variant(self) -> usize {
        self.slot() * 4 + usize::from(self.has_heading) * 2 + usize::from(self.is_spaced)
    }

    fn join(self) -> &'static str {
        if self.is_spaced { "\n\n" } else { "\n" }
    }
}

pub(crate) struct Sheet<'s> {
    bundle: &'s Bundle,
    view: View,
    skills: SkillText,
    items: Vec<Item<'s>>,
    /// The items that are parts.
    parts: Range<usize>,
    parts_by_type: BTreeMap<PartType, Vec<usize>>,
    /// The items of pieces that a budget may drop. A part without a text has none.
    places: BTreeMap<LeftOutKind, Vec<Option<usize>>>,
}

impl<'s> Sheet<'s> {
    pub(crate) fn new(assembled: &'s Assembled<'_>, view: View, skills: SkillText) -> Self {
        let mut sheet = Self {
            bundle: assembled.bundle,
            view,
            skills,
            items: Vec::new(),
            parts: 0..0,
            parts_by_type: BTreeMap::new(),
            places: BTreeMap::new(),
        };
        for content in opening(assembled, view) {
            sheet.push(Section::Opening, content, Level::Whole);
        }
        sheet.parts = sheet.items.len()..sheet.items.len();
        let level = |kind, name| match assembled.shortened.contains(&(kind, name)) {
            true => Level::Short,
            false => Level::Whole,
        };
        for placed in &assembled.parts {
            let part = placed.part;
            let at = (!part.whole().is_empty()).then(|| {
                let level = level(LeftOutKind::Part, part.name.clone());
                let content = Content::Part(part, placed.origin);
                sheet.push(Section::Parts(part.part_type), content, level)
            });
            sheet.parts_by_type.entry(part.part_type).or_default().extend(at);
            sheet.places.entry(LeftOutKind::Part).or_default().push(at);
        }
        sheet.parts.end = sheet.items.len();
        for (number, example) in assembled.numbered_examples(view) {
            let at = sheet.push(Section::Examples, Content::Example(number, example), Level::Whole);
            sheet.places.entry(LeftOutKind::Example).or_default().push(Some(at));
        }
        for piece in &assembled.traits {
            let level = level(LeftOutKind::Trait, piece.name.clone());
            let at = sheet.push(Section::Traits, Content::Trait(piece), level);
            sheet.places.entry(LeftOutKind::Trait).or_default().push(Some(at));
        }
        for piece in &assembled.skills {
            let level = level(LeftOutKind::Skill, piece.name.clone());
            let at = sheet.push(Section::Skills, Content::Skill(piece), level);
            sheet.places.entry(LeftOutKind::Skill).or_default().push(Some(at));
        }
        for piece in &assembled.guardrails {
            sheet.push(Section::Guardrails, Content::Guardrail(piece), Level::Whole);
        }
        sheet
    }

    fn push(&mut self, section: Section, content: Content<'s>, level: Level) -> usize {
        self.items.push(Item { section, content, level, bodies: Default::default() });
        self.items.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The level of each item as assembled.
    pub(crate) fn levels(&self) -> Vec<Level> {
        self.items.iter().map(|item| item.level).collect()
    }

    /// The item of a piece, by its place among those of its kind.
    pub(crate) fn item_of(&self, kind: LeftOutKind, at: usize) -> Option<usize> {
        self.places.get(&kind)?.get(at).copied().flatten()
    }

    /// The items that are in a text, in order. The parts of a type come where its first part is.
    pub(super) fn lay_out(&self, levels: &[Level]) -> Vec<Placement> {
        let is_in = |at: &usize| levels[*at] != Level::Out;
        let mut order: Vec<usize> = Vec::with_capacity(levels.len());
        order.extend((0..self.parts.start).filter(is_in));
        let mut seen = [false; PartType::ALL.len()];
        for at in self.parts.clone().filter(is_in) {
            let Section::Parts(part_type) = self.items[at].section else { continue };
            if !std::mem::replace(&mut seen[part_type as usize], true) {
                order.extend(self.parts_by_type.get(&part_type).into_iter().flatten().filter(|at| is_in(at)));
            }
        }
        order.extend((self.parts.end..self.items.len()).filter(is_in));
        let shape = self.skill_shape(&order);
        let section = |at: usize| order.get(at).map(|item| self.items[*item].section);
        let place = |(at, item): (usize, &usize)| {
            let here = self.items[*item].section;
            let is_last = at + 1 == order.len();
            Placement {
                item: *item,
                level: levels[*item],
                shape,
                has_heading: here != Section::Opening && (at == 0 || section(at - 1) != Some(here)),
                is_spaced: !is_last && (section(at + 1) != Some(here) || !here.is_list(shape)),
            }
        };
        order.iter().enumerate().map(place).collect()
    }

    /// In full, skills are sections if one of them has a content.
    fn skill_shape(&self, order: &[usize]) -> SkillShape {
        let has_content = |at: &usize| matches!(&self.items[*at].content, Content::Skill(skill) if said(&skill.content).is_some());
        let is_full = self.view == View::Detail && self.skills == SkillText::Full;
        match is_full && order.iter().rev().any(has_content) {
            true => SkillShape::Sections,
            false => SkillShape::List,
        }
    }

    /// The text of an item at its place, without heading and join.
    pub(super) fn body(&self, placement: Placement) -> &str {
        let item = &self.items[placement.item];
        match &item.content {
            Content::Opening { text, .. } => text,
            content => item.bodies[placement.slot()]
                .get_or_init(|| self.render(content, self.view_at(placement.level), placement.shape)),
        }
    }

    fn view_at(&self, level: Level) -> View {
        if level == Level::Short { View::Summary } else { self.view }
    }

    fn heading(&self, placement: Placement) -> Option<String> {
        let heading = self.items[placement.item].section.heading().filter(|_| placement.has_heading);
        heading.map(|heading| format!("## {heading}"))
    }

    /// Appends the text of a block.
    pub(super) fn write(&self, placement: Placement, text: &mut String) {
        if let Some(heading) = self.heading(placement) {
            text.push_str(&heading);
            text.push_str("\n\n");
        }
        text.push_str(self.body(placement));
        text.push_str(placement.join());
    }

    fn render(&self, content: &Content<'_>, view: View, shape: SkillShape) -> String {
        match content {
            Content::Opening { text, .. } => text.clone(),
            Content::Part(part, _) => lower_headings(&clean(part.text(view)), 3),
            Content::Example(_, Example { user, persona }) => {
                [item("**User**", &clean(user)), item("**You**", &clean(persona))].join("\n")
            }
            Content::Trait(piece) => item(&label(piece.name.as_str()), &clean(piece.text(view))),
            Content::Skill(skill) => match (self.skills, shape) {
                (SkillText::Full, SkillShape::Sections) => skill_section(skill, view),
                (SkillText::Full, SkillShape::List) => {
                    item(&label(skill.name.as_str()), &clean(skill.text(View::Summary)))
                }
                (SkillText::Named, _) => item(&label(skill.name.as_str()), &named_skill(skill)),
            },
            Content::Guardrail(piece) => {
                let label = label(piece.name.as_str());
                let label = match (view, piece.severity) {
                    (View::Summary, _) | (_, Severity::Medium) => label,
                    (View::Detail, severity) => format!("{label} ({severity})"),
                };
                item(&label, &clean(piece.text(view)))
            }
        }
    }

    /// The block of an item at its place, without what its neighbours decide.
    pub(super) fn block(&self, placement: Placement) -> Block {
        let view = self.view_at(placement.level);
        let mut text = String::new();
        self.write(placement, &mut text);
        let (kind, name, field, form) = match &self.items[placement.item].content {
            Content::Opening { field, form, at, .. } => {
                let name = chain(self.bundle).nth(*at).map_or_else(String::new, |it| it.name.to_string());
                (BlockKind::Persona, name, *field, *form)
            }
            Content::Example(number, _) => {
                (BlockKind::Example, number.to_string(), "examples", BlockForm::Whole)
            }
            Content::Part(it, _) => described(BlockKind::Part, it.name.as_str(), *it, view),
            Content::Trait(it) => described(BlockKind::Trait, it.name.as_str(), *it, view),
            Content::Skill(it) => {
                let view = if placement.shape == SkillShape::List { View::Summary } else { view };
                described(BlockKind::Skill, it.name.as_str(), *it, view)
            }
            Content::Guardrail(it) => described(BlockKind::Guardrail, it.name.as_str(), *it, view),
        };
        let part_type = match self.items[placement.item].section {
            Section::Parts(part_type) => Some(part_type),
            _ => None,
        };
        let origin = self.origin(&self.items[placement.item].content);
        let id = match (kind, &origin) {
            // A base may have the name of the persona.
            (BlockKind::Persona, Origin { layer: LayerOrigin::Base, scope, .. }) => {
                block_id(kind.as_str(), &format!("{scope}:{name}"))
            }
            _ => block_id(kind.as_str(), &name),
        };
        let heading = self.heading(placement);
        Block { id, kind, name, part_type, field, form, origin, heading, first_line: 1, text, tokens: 0 }
    }

    fn origin(&self, content: &Content<'_>) -> Origin {
        let bundle = self.bundle;
        match content {
            Content::Opening { at, .. } => origin::of_persona(bundle, *at),
            Content::Example(..) => {
                origin::of_persona(bundle, strongest(bundle, |persona| !persona.examples.is_empty()))
            }
            Content::Part(part, layer) => origin::of_part(bundle, part, *layer),
            Content::Trait(piece) => origin::of_trait(bundle, piece),
            Content::Skill(piece) => origin::of_skill(bundle, piece),
            Content::Guardrail(piece) => origin::of_guardrail(bundle, piece),
        }
    }
}

impl Section {
    fn heading(self) -> Option<&'static str> {
        match self {
            Self::Opening => None,
            Self::Parts(part_type) => Some(part_type.heading()),
            Self::Examples => Some("Examples"),
            Self::Traits => Some("Traits"),
            Self::Skills => Some("Skills"),
            Self::Guardrails => Some("Guardrails"),
        }
    }

    /// True if its items are those of a list, without blank lines between them.
    fn is_list(self, skills: SkillShape) -> bool {
        match self {
            Self::Opening | Self::Parts(_) => false,
            Self::Skills => skills == SkillShape::List,
            Self::Examples | Self::Traits | Self::Guardrails => true,
        }
    }
}

/// The texts that open a prompt: those of the personas that write the system prompt, or the text in its
/// place.
fn opening<'s>(assembled: &Assembled<'_>, view: View) -> Vec<Content<'s>> {
    let (persona, bundle) = (&*assembled.persona, assembled.bundle);
    let (text, field) = (persona.text(view), persona.field(view));
    if text.is_empty() {
        return Vec::new();
    }
    let form = form(persona, view);
    if field != SYSTEM_PROMPT {
        let sets = |persona: &Persona| match field {
            "detail" => persona.detail.is_some(),
            "summary" => persona.summary.is_some(),
            _ => persona.description.is_some(),
        };
        return vec![Content::Opening { text: clean(text), field, form, at: strongest(bundle, sets) }];
    }
    let heard = prompt_layers(chain(bundle)).heard;
    let texts: Vec<&str> = heard.iter().map(|(_, text)| *text).collect();
    let cleaned = clean_all(&texts).into_iter().zip(heard);
    cleaned.map(|(text, (at, _))| Content::Opening { text, field, form, at }).collect()
}

/// The place in the chain of the strongest persona that sets something.
fn strongest(bundle: &Bundle, sets: impl Fn(&Persona) -> bool) -> usize {
    let bases = bundle.bases.iter().rposition(|base| sets(&base.persona));
    bases.filter(|_| !sets(&bundle.persona)).unwrap_or(bundle.bases.len())
}

fn form(texts: &dyn Texts, view: View) -> BlockForm {
    if texts.is_shortened(view) { BlockForm::Summary } else { BlockForm::Whole }
}

fn described(
    kind: BlockKind,
    name: &str,
    texts: &dyn Texts,
    view: View,
) -> (BlockKind, String, &'static str, BlockForm) {
    (kind, name.to_owned(), texts.field(view), form(texts, view))
}

/// A skill below its name.
fn skill_section(skill: &Skill, view: View) -> String {
    let mut section = format!("### {}", sentence_case(&spoken(skill.name.as_str())));
    let content = said(&skill.content).filter(|_| view == View::Detail);
    for text in [said(&skill.description), content].into_iter().flatten() {
        section.push_str("\n\n");
        section.push_str(&lower_headings(&clean(text), 4));
    }
    section
}

/// The text of a skill that is only named. A missing description may be replaced by the beginning of
/// the content, which a tool loads.
fn named_skill(skill: &Skill) -> String {
    match skill.own_summary() {
        Some(description) => clean(description),
        None => shortened(skill.whole()),
    }
}

fn label(name: &str) -> String {
    format!("**{}**", spoken(name))
}

/// A key as words: `asks-why_first` is "asks why first".
fn spoken(name: &str) -> String {
    name.replace(['-', '_'], " ")
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}
