//! Arcs: stages, the parts of a stage, and the current stage of a persona.

use app::inputs::{
    AddStage, AssignArc, ByName, CreateArc, Delete, List, OfPersona, RemoveStage, StagePart, UnassignArc,
    UpdateArc,
};
use app::outputs::{Deleted, FullEntity, Page, StageState, Written};
use persona::{CharacterArc, Kind};

use super::prelude::*;

pub(super) const OPERATIONS: &[Operation] = &[
    op!(list_character_arcs, Read, "List arcs, page by page",
        tool(All), http_through("list_library"), command("list arc"),
        List => Page, |cx, input| cx.library.list(Kind::Arc, input)),
    op!(get_character_arc, Read, "An arc with its stages",
        tool(All), http_through("get_entity"), command("show arc"),
        ByName => FullEntity<CharacterArc>, |cx, input| cx.library.get::<CharacterArc>(&input)),
    op!(create_character_arc, Create, "Create an arc: stages that a persona goes through",
        tool(All), http_through("save_entity"), command("create arc"),
        CreateArc => Written, |cx, input| cx.library.create::<CharacterArc>(&cx.author(), input)),
    op!(update_character_arc, Overwrite, r#"Change the given fields of an arc; "" or [] clears one"#,
        tool(All), http_through("amend_entity"), command("update arc"),
        UpdateArc => Written, |cx, input| cx.library.update::<CharacterArc>(&cx.author(), input)),
    op!(delete_character_arc, Remove, "Delete an arc; refused while a persona has it, unless forced",
        tool(All), http_through("delete_entity"), command("delete arc"),
        Delete => Deleted, |cx, input| cx.library.delete(&cx.author(), Kind::Arc, input)),
    op!(add_arc_stage, Overwrite, "Add a stage to an arc, or change the one of that name",
        tool(All), put("/api/arcs/{arc}/stages/{stage:name}"), command("arc add-stage"),
        AddStage => Written, |cx, input| cx.library.add_stage(&cx.author(), input)),
    op!(remove_arc_stage, Remove, "Remove a stage from an arc",
        tool(All), delete("/api/arcs/{arc}/stages/{stage}"), command("arc remove-stage"),
        RemoveStage => Written, |cx, input| cx.library.remove_stage(&cx.author(), input)),
    op!(add_stage_part, Add, "Let a part replace those of its type during a stage",
        tool(All), put("/api/arcs/{arc}/stages/{stage}/parts/{part}"), command("arc add-part"),
        StagePart => Written, |cx, input| cx.library.add_stage_part(&cx.author(), input)),
    op!(remove_stage_part, Remove, "Unlink a part from a stage",
        tool(All), delete("/api/arcs/{arc}/stages/{stage}/parts/{part}"), command("arc remove-part"),
        StagePart => Written, |cx, input| cx.library.remove_stage_part(&cx.author(), input)),
    op!(assign_persona_arc, Overwrite, "Give a persona an arc and a stage to start in",
        tool(All), put("/api/personas/{persona}/arc"), command("arc assign"),
        AssignArc => StageState, |cx, input| cx.library.assign_arc(&cx.author(), input)),
    op!(unassign_persona_arc, Remove, "Take a persona's arc away",
        tool(All), delete("/api/personas/{persona}/arc"), command("arc unassign"),
        UnassignArc => Written, |cx, input| cx.library.unassign_arc(&cx.author(), input)),
    op!(advance_persona_stage, Step, "Move a persona to the next stage of its arc; compile it again afterwards",
        tool(All), post("/api/personas/{persona}/stage/advance"), command("arc advance"),
        OfPersona => StageState, |cx, input| cx.library.advance_stage(&input)),
    op!(reset_persona_stage, Overwrite, "Move a persona back to the first stage of its arc",
        tool(All), post("/api/personas/{persona}/stage/reset"), command("arc reset"),
        OfPersona => StageState, |cx, input| cx.library.reset_stage(&input)),
];
