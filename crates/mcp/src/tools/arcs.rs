//! Arcs: their stages, the parts of a stage, and where a persona stands.

use app::inputs::{
    AddStage, AssignArc, ByName, CreateArc, Delete, List, OfPersona, RemoveStage, StagePart, UnassignArc,
    UpdateArc,
};
use app::outputs::{Deleted, Document, Page, StageState, Written};
use persona::{CharacterArc, Kind};

use super::{ToolSpec, tool};

pub(super) const TOOLS: &[ToolSpec] = &[
    tool!(list_character_arcs, All, Read, "List arcs, page by page",
        List => Page, |call, input| call.library.list(Kind::Arc, input)),
    tool!(get_character_arc, All, Read, "An arc with its stages",
        ByName => Document<CharacterArc>, |call, input| call.library.get::<CharacterArc>(&input)),
    tool!(create_character_arc, All, Create, "Create an arc: stages that a persona goes through",
        CreateArc => Written, |call, input| call.library.create::<CharacterArc>(&call.author(), input)),
    tool!(update_character_arc, All, Overwrite, r#"Change the given fields of an arc; "" or [] clears one"#,
        UpdateArc => Written, |call, input| call.library.update::<CharacterArc>(&call.author(), input)),
    tool!(delete_character_arc, All, Remove, "Delete an arc; refused while a persona has it, unless forced",
        Delete => Deleted, |call, input| call.library.delete(&call.author(), Kind::Arc, input)),
    tool!(add_arc_stage, All, Overwrite, "Add a stage to an arc, or change the one of that name",
        AddStage => Written, |call, input| call.library.add_stage(&call.author(), input)),
    tool!(remove_arc_stage, All, Remove, "Remove a stage from an arc",
        RemoveStage => Written, |call, input| call.library.remove_stage(&call.author(), input)),
    tool!(add_stage_part, All, Add, "Let a part replace those of its type during a stage",
        StagePart => Written, |call, input| call.library.add_stage_part(&call.author(), input)),
    tool!(remove_stage_part, All, Remove, "Unlink a part from a stage",
        StagePart => Written, |call, input| call.library.remove_stage_part(&call.author(), input)),
    tool!(assign_persona_arc, All, Overwrite, "Give a persona an arc and a stage to start in",
        AssignArc => StageState, |call, input| call.library.assign_arc(&call.author(), input)),
    tool!(unassign_persona_arc, All, Remove, "Take a persona's arc away",
        UnassignArc => Written, |call, input| call.library.unassign_arc(&call.author(), input)),
    tool!(advance_persona_stage, All, Step, "Move a persona to the next stage of its arc; compile it again afterwards",
        OfPersona => StageState, |call, input| call.library.advance_stage(&input)),
    tool!(reset_persona_stage, All, Overwrite, "Move a persona back to the first stage of its arc",
        OfPersona => StageState, |call, input| call.library.reset_stage(&input)),
];
