//! How rows become documents: the SQL expressions that build an entity's JSON, for each kind.
//!
//! A document has exactly the fields of its type in `persona`, so that one `serde` derive reads
//! it, whichever engine wrote it.

use persona::Kind;

use database::{Column, Dialect};

mod references;
pub(crate) use references::{naming_condition, references, user_queries};
mod whole;
pub use whole::file_state;
pub(crate) use whole::{gather, load};

/// Where a kind is kept.
pub(crate) const fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Persona => "agent_personas",
        Kind::Part => "agent_parts",
        Kind::Trait => "agent_traits",
        Kind::Skill => "agent_skills",
        Kind::Guardrail => "agent_guardrails",
        Kind::Arc => "character_arcs",
        Kind::ToolPreset => "agent_tool_presets",
        Kind::BiasProfile => "agent_bias_profiles",
        Kind::ContextPreset => "agent_context_presets",
        Kind::TestInput => "agent_test_inputs",
    }
}

/// A kind as the search index writes it. These numbers are stored: new kinds get new ones.
pub(crate) const fn search_number(kind: Kind) -> i64 {
    match kind {
        Kind::Persona => 0,
        Kind::Part => 1,
        Kind::Trait => 2,
        Kind::Skill => 3,
        Kind::Guardrail => 4,
        Kind::Arc => 5,
        Kind::ToolPreset => 6,
        Kind::BiasProfile => 7,
        Kind::ContextPreset => 8,
        Kind::TestInput => 9,
    }
}

/// A link table between personas and pieces of one kind: its name and the piece's column. Bases
/// and presets have none: a persona has their names.
pub(crate) const fn link_table(kind: Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Part => Some(("agent_persona_parts", "part_id")),
        Kind::Trait => Some(("agent_persona_traits", "trait_id")),
        Kind::Skill => Some(("agent_persona_skills", "skill_id")),
        Kind::Guardrail => Some(("agent_persona_guardrails", "guardrail_id")),
        Kind::Arc => Some(("persona_arc", "arc_id")),
        Kind::TestInput => Some(("agent_persona_test_inputs", "test_input_id")),
        Kind::Persona | Kind::ToolPreset | Kind::BiasProfile | Kind::ContextPreset => None,
    }
}

const PERSONA: &[(&str, Column)] = &[
    ("name", Column::Text),
    ("display_name", Column::Text),
    ("description", Column::Text),
    ("detail", Column::Text),
    ("extends", Column::Text),
    ("system_prompt", Column::Text),
    ("system_prompt_mode", Column::Text),
    ("preferred_models", Column::Json),
    ("tool_preset", Column::Text),
    ("bias_profile", Column::Text),
    ("context_preset", Column::Text),
    ("max_tool_rounds", Column::Int),
    ("plan_persona", Column::Json),
    ("parts_mode", Column::Text),
    ("tags", Column::Tags),
];

/// The plain columns of a kind's document.
pub(crate) const fn columns(kind: Kind) -> &'static [(&'static str, Column)] {
    match kind {
        Kind::Persona => PERSONA,
        Kind::Part => &[
            ("name", Column::Text),
            ("part_type", Column::Text),
            ("description", Column::Text),
            ("content", Column::Text),
            ("tags", Column::Tags),
        ],
        Kind::Trait => &[
            ("name", Column::Text),
            ("trait_type", Column::Text),
            ("description", Column::Text),
            ("instruction", Column::Text),
            ("tags", Column::Tags),
        ],
        Kind::Skill => &[
            ("name", Column::Text),
            ("description", Column::Text),
            ("content", Column::Text),
            ("tags", Column::Tags),
        ],
        Kind::Guardrail => &[
            ("name", Column::Text),
            ("severity", Column::Text),
            ("description", Column::Text),
            ("content", Column::Text),
            ("deny_tools", Column::Json),
            ("tags", Column::Tags),
        ],
        Kind::Arc => &[("name", Column::Text), ("description", Column::Text), ("tags", Column::Tags)],
        Kind::ToolPreset => &[
            ("name", Column::Text),
            ("description", Column::Text),
            ("categories", Column::Json),
            ("tags", Column::Tags),
        ],
        Kind::BiasProfile => &[
            ("name", Column::Text),
            ("description", Column::Text),
            ("multipliers", Column::Json),
            ("tags", Column::Tags),
        ],
        Kind::ContextPreset => &[
            ("name", Column::Text),
            ("description", Column::Text),
            ("entries", Column::Json),
            ("token_budget", Column::Int),
            ("tags", Column::Tags),
        ],
        Kind::TestInput => &[
            ("name", Column::Text),
            ("description", Column::Text),
            ("content", Column::Text),
            ("expectations", Column::Json),
            ("tags", Column::Tags),
        ],
    }
}

/// Whether a kind has the `summary` column, which is never null: an empty one is not set.
const fn has_summary(kind: Kind) -> bool {
    matches!(kind, Kind::Persona | Kind::Part | Kind::Arc)
}

/// The authored definition of the row `alias`.
pub(crate) fn definition(dialect: Dialect, kind: Kind, alias: &str) -> String {
    let mut fields: Vec<(&str, String)> = columns(kind)
        .iter()
        .map(|(column, holds)| (*column, dialect.json_value(&format!("{alias}.{column}"), *holds)))
        .collect();
    if has_summary(kind) {
        fields.push(("summary", format!("nullif({alias}.summary, '')")));
    }
    match kind {
        Kind::Persona => {
            fields.push(("parts", part_links(dialect, alias)));
            for (field, piece) in [
                ("traits", Kind::Trait),
                ("skills", Kind::Skill),
                ("guardrails", Kind::Guardrail),
                ("test_inputs", Kind::TestInput),
            ] {
                fields.push((field, linked_names(dialect, piece, alias)));
            }
            fields.push(("aggregation_strategy", format!("nullif({alias}.aggregation_strategy, '')")));
            for removal in REMOVALS {
                fields.push((removal, dialect.list_in(&format!("{alias}.removals"), removal)));
            }
            let arc = format!(
                "(SELECT c.name FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id WHERE pa.persona_id = {alias}.id)"
            );
            fields.push(("arc", arc));
        }
        Kind::Arc => fields.push(("stages", stages(dialect, alias))),
        _ => {}
    }
    dialect.object(&fields)
}

/// What a persona takes away from its base: kept together, since few have any of it.
pub(crate) const REMOVALS: [&str; 6] = [
    "remove_parts",
    "remove_traits",
    "remove_skills",
    "remove_guardrails",
    "remove_test_inputs",
    "remove_tags",
];

fn part_links(dialect: Dialect, persona: &str) -> String {
    let link = dialect.object(&[
        ("name", "x.name".to_owned()),
        ("order", "l.part_order".to_owned()),
        ("priority", "l.priority".to_owned()),
    ]);
    let from = format!(
        "agent_persona_parts l JOIN agent_parts x ON x.id = l.part_id WHERE l.persona_id = {persona}.id"
    );
    dialect.nested(&dialect.array(&link, &from, "l.part_order, x.name"))
}

fn linked_names(dialect: Dialect, piece: Kind, persona: &str) -> String {
    dialect.nested(&dialect.array("x.name", &linked_rows(piece, persona), "l.link_order, x.name"))
}

/// The rows `x` of a kind that the persona `alias` links, by the links `l`.
fn linked_rows(piece: Kind, persona: &str) -> String {
    let Some((links, column)) = link_table(piece) else {
        unreachable!("only kinds that have links are asked for");
    };
    let table = table(piece);
    format!("{links} l JOIN {table} x ON x.id = l.{column} WHERE l.persona_id = {persona}.id")
}

fn stages(dialect: Dialect, arc: &str) -> String {
    let names = dialect.array(
        "y.name",
        "arc_stage_parts k JOIN agent_parts y ON y.id = k.part_id WHERE k.stage_id = s.id",
        "k.part_order, y.name",
    );
    let stage = dialect.object(&[
        ("name", "s.name".to_owned()),
        ("order", "s.stage_order".to_owned()),
        ("description", "s.description".to_owned()),
        ("condition", "s.condition".to_owned()),
        ("parts", dialect.nested(&names)),
    ]);
    dialect.nested(&dialect.array(
        &stage,
        &format!("arc_stages s WHERE s.arc_id = {arc}.id"),
        "s.stage_order, s.name",
    ))
}

/// Place, revision and times of the row `alias`.
pub(crate) fn meta(dialect: Dialect, alias: &str) -> String {
    dialect.object(&[
        ("scope", "'shared'".to_owned()),
        ("revision", format!("{alias}.revision")),
        ("guid", format!("{alias}.guid")),
        ("created_at", dialect.time_text(&format!("{alias}.created_at"))),
        ("updated_at", dialect.time_text(&format!("{alias}.updated_at"))),
    ])
}

/// What a list shows of the row `alias`; `lead` is what a summary can be derived from.
pub(crate) fn listed(dialect: Dialect, kind: Kind, alias: &str) -> String {
    let column = |name: &str| format!("{alias}.{name}");
    let mut fields = vec![
        ("kind", format!("'{kind}'")),
        ("name", column("name")),
        ("scope", "'shared'".to_owned()),
        ("description", column("description")),
        ("tags", dialect.json_value(&column("tags"), Column::Tags)),
        ("updated_at", dialect.time_text(&column("updated_at"))),
    ];
    if has_summary(kind) {
        fields.push(("summary", format!("nullif({alias}.summary, '')")));
    }
    match kind {
        Kind::Persona => {
            fields.push(("display_name", column("display_name")));
            fields.push(("extends", column("extends")));
            fields.push(("lead", format!("substr({alias}.system_prompt, 1, 500)")));
        }
        Kind::Part => {
            fields.push(("part_type", column("part_type")));
            fields.push(("lead", format!("substr({alias}.content, 1, 500)")));
        }
        Kind::Trait => fields.push(("trait_type", column("trait_type"))),
        Kind::Guardrail => fields.push(("severity", column("severity"))),
        Kind::TestInput => fields.push(("lead", format!("substr({alias}.content, 1, 500)"))),
        Kind::Skill | Kind::Arc | Kind::ToolPreset | Kind::BiasProfile | Kind::ContextPreset => {}
    }
    dialect.object(&fields)
}
