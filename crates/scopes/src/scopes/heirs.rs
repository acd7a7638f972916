//! Personas of files with a stage in an arc of a weaker scope. The stage is stored beside their file under
//! the name of the arc, so it follows a rename of the arc, and removing the stage must not go unnoticed.

use persona::{Kind, Name, Rename, Scope};
use serde::Deserialize;

use super::{Overrides, Scopes};
use database::{Dialect, Parameter, Transaction};
use store::Change;

use crate::{Error, Result};

/// A persona of a file with a stage in an arc of another scope.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Heir {
    pub scope: Scope,
    pub name: Name,
    pub stage: Name,
    /// The file that defines it.
    origin: String,
    /// True if that file is open. The file of another project is not.
    #[serde(default)]
    pub open: bool,
}

#[derive(Deserialize)]
struct Row {
    heir: Heir,
    /// True if its file had an arc of that name when it was last read.
    own: i64,
}

impl Scopes {
    /// The personas of stronger scopes in an arc of a scope, in all files that this machine has seen.
    pub async fn heirs(&self, scope: Scope, arc: &Name) -> Result<Vec<Heir>> {
        let stronger: Vec<&str> = [Scope::Global, Scope::Project]
            .iter()
            .filter(|file| **file > scope)
            .map(|file| file.as_str())
            .collect();
        // The state of files is never in a team's database.
        if stronger.is_empty() || self.local().engine().dialect() == Dialect::Postgres {
            return Ok(Vec::new());
        }
        let sql = "SELECT json_object('heir', json_object('scope', z.scope, 'name', z.name, 'stage', z.stage, \
                   'origin', z.origin), 'own', EXISTS (SELECT 1 FROM file_entries e WHERE e.scope = z.scope \
                   AND e.origin = z.origin AND e.kind = 'arc' AND e.name = z.arc)) FROM persona_state z \
                   JOIN file_entries p ON p.scope = z.scope AND p.origin = z.origin AND p.kind = 'persona' \
                   AND p.name = z.name WHERE z.arc = $1 AND z.stage IS NOT NULL AND z.scope IN (SELECT value FROM json_each($2)) \
                   ORDER BY z.scope, z.origin, z.name";
        let values = [Parameter::from(arc), Parameter::Json(serde_json::to_string(&stronger)?)];
        // An arc of the open project is not visible to another project.
        let found = self.scopes_of(Kind::Arc, arc).await?;
        let weaker = found.iter().all(|other| [scope, Scope::Project].contains(other));
        let mut heirs = Vec::new();
        for row in self.local().engine().texts(sql.to_owned(), &values).await? {
            let Row { mut heir, own } = serde_json::from_str(&row)?;
            heir.open = self.file(heir.scope).is_some_and(|file| file.origin == heir.origin);
            let has_arc = match self.has_arc(&heir, scope, arc).await? {
                Some(known) => known,
                // Then only unambiguous cases are known.
                None => own == 0 && weaker,
            };
            if has_arc {
                heirs.push(heir);
            }
        }
        Ok(heirs)
    }

    /// True if a persona of an open file has this very arc. `None` if its file is not open or not read yet,
    /// or its bases cannot be followed.
    async fn has_arc(&self, heir: &Heir, scope: Scope, arc: &Name) -> Result<Option<bool>> {
        if !heir.open || self.file(heir.scope).is_some_and(|file| !file.current().read) {
            return Ok(None);
        }
        match self.load(&heir.name, Some(heir.scope), &Overrides::new()).await {
            Ok(Some(loaded)) => {
                let stage = loaded.bundle.stage.as_ref();
                Ok(Some(stage.is_some_and(|stage| stage.scope == scope && stage.arc == *arc)))
            }
            Ok(None) => Ok(Some(false)),
            Err(Error::Store(store::Error::Chain(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves the stages of heirs to the new name of an arc of the database.
    pub async fn keep_heirs(&self, heirs: &[Heir], rename: &Rename) -> Result<()> {
        if heirs.is_empty() {
            return Ok(());
        }
        let mut transaction = self.local().engine().begin().await?;
        follow(&mut transaction, heirs, rename).await?;
        transaction.commit().await?;
        let changed =
            |heir: &Heir| Change::Entity { kind: Kind::Persona, name: heir.name.clone(), listed: false };
        self.announce(heirs.iter().map(changed).collect());
        Ok(())
    }
}

/// Moves the stages in the local database.
pub(super) async fn follow(transaction: &mut Transaction, heirs: &[Heir], rename: &Rename) -> Result<()> {
    for Heir { scope, name, origin, .. } in heirs {
        let values = [
            Parameter::from(scope.as_str()),
            Parameter::from(origin.as_str()),
            Parameter::from(name),
            Parameter::from(&rename.old),
            Parameter::from(&rename.new),
        ];
        let sql =
            "UPDATE persona_state SET arc = $5 WHERE scope = $1 AND origin = $2 AND name = $3 AND arc = $4";
        transaction.run(sql, &values).await?;
    }
    Ok(())
}
