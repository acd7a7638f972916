//! `masque edit --lock`: fields and entities that the editing agent must not change.

use app::editing::Locks;
use app::inputs::{EntityLocks, LockEntity, UnlockEntity};
use persona::{Kind, Name};

use crate::cli::EditArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(
    args: &EditArgs,
    kind: Kind,
    name: Name,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let (library, scope) = (&workspace.library, args.change.scope);
    let field = |field: &String| Some(field.clone()).filter(|field| !field.is_empty());
    for locked in &args.lock {
        let lock = LockEntity { kind, name: name.clone(), field: field(locked), scope };
        library.lock_entity(lock).await?;
    }
    for unlocked in &args.unlock {
        let unlock = UnlockEntity { kind, name: name.clone(), field: field(unlocked), scope };
        library.unlock_entity(unlock).await?;
    }
    let locks = library.entity_locks(EntityLocks { kind, name, scope }).await?;
    if output.is_json() {
        return output.json(&locks);
    }
    let Locks { kind, name, scope, whole, fields } = &locks;
    let of = format!("{} {name} ({scope})", kind.spoken());
    output.line(match (whole, fields.as_slice()) {
        (true, _) => format!("{of} is locked against the editing agent"),
        (false, []) => format!("{of} has no locks"),
        (false, fields) => format!("{of}: locked against the editing agent: {}", fields.join(", ")),
    })
}
