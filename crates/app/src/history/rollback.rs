//! Going back: an earlier revision, made the newest, with the pieces that it knew or without.

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Kind, Name, Rename, Scope};
use store::{Action, Forgotten, FullRevision, Referred, RevisionRef};

use crate::diff::same;
use crate::inputs::Rollback;
use crate::outputs::{Piece, PieceThen, Place, RenamedPiece, RolledBack, Written};
use crate::{Author, Error, HistoryError, Library, Result};

/// The beginning of names that nothing has, for pieces whose names were exchanged.
const BETWEEN: &str = "between-two-names-";

/// What an earlier revision was made of, under the names that its pieces have now.
struct Then {
    entity: AnyEntity,
    pieces: Vec<PieceThere>,
    renamed: Vec<RenamedPiece>,
    forgotten: Vec<Place>,
}

struct PieceThere {
    entity: AnyEntity,
    /// Where it was, and as which revision.
    known: PieceThen,
    /// Whether it is as it was.
    as_then: bool,
}

impl Library {
    /// Puts an entity back to what it was; that is a new revision. One that was deleted comes back
    /// as the one that it was, with its tags. Its pieces go back too where that is asked for, as far
    /// as they are of the same scope: those of other scopes are others' as well.
    #[boxed]
    pub async fn rollback(&self, author: &Author, input: Rollback) -> Result<RolledBack> {
        let Rollback { kind, name, scope, revision, with_pieces, message, if_revision } = input;
        let (scope, revision) = self.revision(kind, &name, scope, &revision.parse()).await?;
        let number = revision.about.reference();
        let Then { entity, pieces, renamed, forgotten } = self.as_it_was(&name, scope, revision).await?;
        if let Some(piece) = forgotten.iter().find(|piece| with_pieces && piece.scope == scope) {
            return Err(HistoryError::PieceForgotten {
                kind,
                name,
                revision: number.to_string(),
                piece_kind: piece.kind,
                piece: piece.name.clone(),
            }
            .into());
        }
        let (back, differing): (Vec<PieceThere>, Vec<PieceThere>) = pieces
            .into_iter()
            .filter(|piece| !piece.as_then)
            .partition(|piece| with_pieces && piece.known.scope == scope);
        let message = message.unwrap_or_else(|| match back.is_empty() {
            true => format!("back to revision {number}"),
            false => format!("{} {name} goes back to revision {number}", kind.spoken()),
        });
        let mut restored = Vec::new();
        let mut entities = Vec::new();
        for PieceThere { entity, known, .. } in back {
            restored.push(Piece { kind: known.kind, name: known.name });
            entities.push(entity);
        }
        let differing: Vec<PieceThen> = differing.into_iter().map(|piece| piece.known).collect();
        let mut write = self.scopes.write(scope, author.because(Some(message))?).await?;
        let mut copied = Vec::new();
        let saved = async {
            self.put_all(&mut write, entities, Action::Restore, &mut copied).await?;
            self.put_any(&mut write, &entity, Action::Restore, if_revision, &mut copied).await
        };
        let named = format!("revision {number} of {} {:?}", kind.spoken(), name.as_str());
        let written = saved.await.map_err(|error| needs_first(error, &named, scope, &differing))?;
        if written.changed || !restored.is_empty() {
            write.commit().await?;
        }
        Ok(RolledBack { written: Written { copied, ..written }, restored, renamed, differing, forgotten })
    }

    /// An earlier revision with its pieces. What has another name now is meant by that.
    async fn as_it_was(&self, name: &Name, scope: Scope, revision: FullRevision) -> Result<Then> {
        let (referred, forgotten) = self.scopes.referred(&revision).await?;
        let place = |Forgotten { scope, kind, name }| Place { scope, kind, name };
        let forgotten = forgotten.into_iter().map(place).collect();
        let rename = |Referred { scope, then, name_now }: &Referred| {
            let (kind, old) = (then.entity.kind(), then.entity.name());
            let new = name_now.as_ref().filter(|new| *new != old)?;
            Some(Rename { kind, old: old.clone(), new: new.clone(), scope: *scope })
        };
        let renames = Renames {
            all: referred.iter().filter_map(rename).collect(),
            known: referred
                .iter()
                .map(|it| (it.then.entity.kind(), it.then.entity.name().clone(), it.scope))
                .collect(),
        };
        let mut entity = revision.entity;
        // What it was called then may be somebody else's name now.
        entity.set_name(name.clone());
        let renamed = renames
            .follow(&mut entity, scope)
            .into_iter()
            .map(|Rename { kind, old, new, .. }| RenamedPiece {
                kind: *kind,
                name: new.clone(),
                was: old.clone(),
            })
            .collect();
        let mut pieces = Vec::new();
        for Referred { scope, then, .. } in referred {
            pieces.push(self.piece_there(scope, then, &renames).await?);
        }
        Ok(Then { entity, pieces, renamed, forgotten })
    }

    async fn piece_there(&self, scope: Scope, then: FullRevision, renames: &Renames) -> Result<PieceThere> {
        let FullRevision { mut entity, about, .. } = then;
        let kind = entity.kind();
        let own =
            |rename: &&Rename| rename.kind == kind && rename.scope == scope && rename.old == *entity.name();
        if let Some(rename) = renames.all.iter().find(own) {
            entity.set_name(rename.new.clone());
        }
        renames.follow(&mut entity, scope);
        let name = entity.name().clone();
        let now = self.scopes.get_any(kind, &name, Some(scope)).await?;
        let deleted = now.is_none();
        let as_then = now.is_some_and(|now| same(&now.entity, &entity));
        let reference = self.scopes.reference(scope, kind, &name, &about).await?;
        let number = RevisionRef::Number(about.revision);
        let ask_for = (reference != number).then(|| reference.to_string());
        let known = PieceThen { scope, kind, name, revision: about.revision, ask_for, deleted };
        Ok(PieceThere { entity, known, as_then })
    }
}

/// What became of the names of pieces since a revision knew them.
struct Renames {
    all: Vec<Rename>,
    /// Every piece that was known, under its name then, and its scope.
    known: Vec<(Kind, Name, Scope)>,
}

impl Renames {
    /// Lets an entity of a scope follow the renames of what it means. They happened side by side:
    /// names may have been exchanged. Which of them it followed.
    fn follow(&self, entity: &mut AnyEntity, scope: Scope) -> Vec<&Rename> {
        let mut followed = Vec::new();
        for (rename, place) in self.all.iter().filter(|rename| self.is_meant(rename, scope)).zip(0..) {
            let Ok(between) = Name::parse(&format!("{BETWEEN}{place}")) else { continue };
            if entity.follow_rename(&Rename { new: between.clone(), ..rename.clone() }) {
                followed.push((rename, between));
            }
        }
        for (rename, between) in &followed {
            entity.follow_rename(&Rename { old: between.clone(), ..(*rename).clone() });
        }
        followed.into_iter().map(|(rename, _)| rename).collect()
    }

    /// Whether what stands in a scope means by the old name the piece that was renamed, and not one
    /// of a scope between them.
    fn is_meant(&self, rename: &Rename, scope: Scope) -> bool {
        let between = |(kind, name, of): &(Kind, Name, Scope)| {
            *kind == rename.kind && *name == rename.old && *of > rename.scope && *of <= scope
        };
        rename.scope <= scope && !self.known.iter().any(between)
    }
}

/// A piece that is not there any more is told with the revision that brings it back.
fn needs_first(error: Error, named: &str, scope: Scope, differing: &[PieceThen]) -> Error {
    let Error::NotFound { kind, name, .. } = &error else { return error };
    let Some(piece) = differing.iter().find(|piece| piece.kind == *kind && piece.name == *name) else {
        return error;
    };
    let PieceThen { scope: of, revision, ask_for, .. } = piece;
    HistoryError::PieceGone {
        referrer: named.to_owned(),
        kind: *kind,
        piece: name.clone(),
        scope: *of,
        revision: ask_for.clone().unwrap_or_else(|| revision.to_string()),
        // Pieces of other scopes do not go back with it.
        together: *of == scope,
    }
    .into()
}
