//! Arcs: sequences of stages for a persona.

use crate::field::{self, Described, TableType, described, kind};
use crate::limits::{STAGE_PARTS, STAGES};
use crate::{Kind, Name, Tags};

kind! {
    /// A sequence of stages for a persona.
    #[derive(Eq)]
    CharacterArc = Arc, arc_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("When to use the arc, for people and agents who choose one.").searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own summary: Option<String> =
            field::short("The arc in a sentence.").searched();
        #[serde(default)]
        linked stages: Vec<Stage> =
            field::list(STAGES, &Stage::ITEM, "The stages, from the first to the last.");
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

described! {
    /// One stage of an arc. Its parts replace the persona's own parts of the same types.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    Stage {
        name: Name = field::key("The stage's name, unique in its arc.").searched();
        #[serde(default)]
        order: i32 = field::whole(
            i32::MIN as i64,
            i32::MAX as i64,
            "Position: lower is earlier. Defaults to the number in the list, from 1.",
        );
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String> =
            field::short("The persona in this stage, in a sentence.").searched();
        /// When to move on, in words for the calling agent; never evaluated here.
        #[serde(skip_serializing_if = "Option::is_none")]
        condition: Option<String> = field::short(
            "When to move on to the next stage, in words for the agent that decides. Masque does not evaluate it.",
        )
        .searched();
        #[serde(default)]
        parts: Vec<Name> = field::names(
            Kind::Part,
            STAGE_PARTS,
            "Parts that replace the persona's parts of the same type during this stage.",
        );
    }
}

impl Stage {
    const ITEM: TableType = TableType::new("Stage", Self::FIELDS, "").ordered_from(1).named_once();
}

impl CharacterArc {
    /// The stages in order; ties are sorted by name.
    pub fn walk(&self) -> Vec<&Stage> {
        let mut stages: Vec<&Stage> = self.stages.iter().collect();
        stages.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name.cmp(&b.name)));
        stages
    }

    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name.as_str() == name)
    }

    /// The stage after `current`, if there is one.
    pub fn stage_after(&self, current: &str) -> Option<&Stage> {
        let walk = self.walk();
        let position = walk.iter().position(|stage| stage.name.as_str() == current)?;
        walk.get(position + 1).copied()
    }
}
