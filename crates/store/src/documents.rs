//! How rows become documents: the SQL expressions that build an entity's JSON, for each kind.
//!
//! A document has exactly the fields of its type in `persona`, so that one `serde` derive reads
//! it, whichever engine wrote it.

use persona::Kind;

use crate::dialect::{Column, Dialect};

/// Where a kind is kept.
pub(crate) const fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Persona => "agent_personas",
        Kind::Part => "agent_parts",
        Kind::Trait => "agent_traits",
        Kind::Skill => "agent_skills",
        Kind::Guardrail => "agent_guardrails",
        Kind::Arc => "character_arcs",
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
    }
}

/// A link table between personas and pieces of one kind: its name and the piece's column.
pub(crate) const fn link_table(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Part => ("agent_persona_parts", "part_id"),
        Kind::Trait => ("agent_persona_traits", "trait_id"),
        Kind::Skill => ("agent_persona_skills", "skill_id"),
        Kind::Guardrail => ("agent_persona_guardrails", "guardrail_id"),
        Kind::Arc => ("persona_arc", "arc_id"),
        Kind::Persona => panic!("personas do not link personas"),
    }
}

/// The plain columns of a kind's document.
pub(crate) const fn columns(kind: Kind) -> &'static [(&'static str, Column)] {
    match kind {
        Kind::Persona => &[
            ("name", Column::Text),
            ("display_name", Column::Text),
            ("description", Column::Text),
            ("detail", Column::Text),
            ("system_prompt", Column::Text),
            ("system_prompt_mode", Column::Text),
            ("preferred_models", Column::Json),
            ("tool_preset", Column::Text),
            ("bias_profile", Column::Text),
            ("context_preset", Column::Text),
            ("aggregation_strategy", Column::Text),
            ("plan_persona", Column::Json),
            ("parts_mode", Column::Text),
            ("tags", Column::Tags),
        ],
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
            for (field, piece) in
                [("traits", Kind::Trait), ("skills", Kind::Skill), ("guardrails", Kind::Guardrail)]
            {
                fields.push((field, linked_names(dialect, piece, alias)));
            }
            let arc = format!(
                "(SELECT c.name FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id WHERE pa.persona_id = {alias}.id)"
            );
            fields.push(("arc", arc));
        }
        Kind::Arc => fields.push(("stages", stages(dialect, alias))),
        Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail => {}
    }
    dialect.object(&fields)
}

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
    let (links, column) = link_table(piece);
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
            fields.push(("lead", format!("substr({alias}.system_prompt, 1, 500)")));
        }
        Kind::Part => {
            fields.push(("part_type", column("part_type")));
            fields.push(("lead", format!("substr({alias}.content, 1, 500)")));
        }
        Kind::Trait => fields.push(("trait_type", column("trait_type"))),
        Kind::Guardrail => fields.push(("severity", column("severity"))),
        Kind::Skill | Kind::Arc => {}
    }
    dialect.object(&fields)
}

/// Everything that loading a persona needs, as one row: the bundle of the shared persona named
/// `$1` or null, the state of a builtin of that name, and the parts named in the JSON list `$2`.
pub(crate) fn load(dialect: Dialect) -> String {
    let pieces = |kind: Kind| {
        let rows = linked_rows(kind, "p");
        dialect.nested(&dialect.array(&definition(dialect, kind, "x"), &rows, "x.name"))
    };
    let bundle = dialect.object(&[
        ("persona", definition(dialect, Kind::Persona, "p")),
        ("meta", meta(dialect, "p")),
        ("parts", pieces(Kind::Part)),
        ("traits", pieces(Kind::Trait)),
        ("skills", pieces(Kind::Skill)),
        ("guardrails", pieces(Kind::Guardrail)),
        ("stage", dialect.nested(&active_stage(dialect))),
        ("compiled", dialect.nested(&compiled(dialect, "p"))),
    ]);
    let state = dialect
        .object(&[("stage", "z.stage".to_owned()), ("compiled", dialect.nested(&compiled(dialect, "z")))]);
    let named = format!("agent_parts o WHERE {}", dialect.in_list("o.name", "$2"));
    let override_parts = dialect.array(&definition(dialect, Kind::Part, "o"), &named, "o.name");
    let row = dialect.object(&[
        ("bundle", dialect.nested(&format!("(SELECT {bundle} FROM agent_personas p WHERE p.name = $1)"))),
        (
            "state",
            dialect.nested(&format!(
                "(SELECT {state} FROM persona_state z WHERE z.scope = 'builtin' AND z.origin = '' AND z.name = $1)"
            )),
        ),
        ("override_parts", dialect.nested(&override_parts)),
    ]);
    format!("SELECT {}", dialect.text(&row))
}

fn active_stage(dialect: Dialect) -> String {
    let parts = dialect.array(
        &definition(dialect, Kind::Part, "x"),
        "arc_stage_parts k JOIN agent_parts x ON x.id = k.part_id WHERE k.stage_id = s.id",
        "k.part_order, x.name",
    );
    let stage = dialect.object(&[
        ("arc", "c.name".to_owned()),
        ("stage", "s.name".to_owned()),
        ("order", "s.stage_order".to_owned()),
        ("of", "(SELECT count(*) FROM arc_stages t WHERE t.arc_id = c.id)".to_owned()),
        (
            "position",
            "(SELECT count(*) FROM arc_stages t WHERE t.arc_id = c.id AND (t.stage_order, t.name) <= (s.stage_order, s.name))"
                .to_owned(),
        ),
        ("description", "s.description".to_owned()),
        ("condition", "s.condition".to_owned()),
        ("parts", dialect.nested(&parts)),
    ]);
    format!(
        "(SELECT {stage} FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id \
         JOIN arc_stages s ON s.id = pa.current_stage_id WHERE pa.persona_id = p.id)"
    )
}

fn compiled(dialect: Dialect, alias: &str) -> String {
    let object = dialect.object(&[
        ("summary", format!("{alias}.compiled_summary")),
        ("detail", format!("{alias}.compiled_detail")),
        ("at", dialect.time_text(&format!("{alias}.compiled_at"))),
        ("fingerprint", format!("{alias}.compiled_fingerprint")),
    ]);
    format!("CASE WHEN {alias}.compiled_at IS NOT NULL THEN {object} END")
}

/// The tables that link personas or stages to a piece, as `users of` reads them.
pub(crate) fn user_queries(dialect: Dialect, kind: Kind) -> Vec<String> {
    let (links, column) = link_table(kind);
    let user = |kind: Kind, name: &str| {
        dialect.text(&dialect.object(&[("kind", format!("'{kind}'")), ("name", name.to_owned())]))
    };
    let mut queries = vec![format!(
        "SELECT {} FROM {links} l JOIN agent_personas p ON p.id = l.persona_id WHERE l.{column} = $1 ORDER BY p.name",
        user(Kind::Persona, "p.name")
    )];
    if kind == Kind::Part {
        queries.push(format!(
            "SELECT DISTINCT {} AS used_by FROM arc_stage_parts k JOIN arc_stages s ON s.id = k.stage_id \
             JOIN character_arcs c ON c.id = s.arc_id WHERE k.part_id = $1 ORDER BY used_by",
            user(Kind::Arc, "c.name")
        ));
    }
    queries
}
