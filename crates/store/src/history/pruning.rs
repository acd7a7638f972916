//! Forgets old revisions.

use persona::Scope;

use super::refs::{Ref, elements, meant};
use super::tags::{AGAINST_TAGGING, NAMED, lock_tags};
use crate::{Error, Result, Store};
use database::Parameter;

impl Store {
    /// The references of tagged revisions to a scope.
    pub async fn tagged_refs(&self, scope: Scope) -> Result<Vec<Ref>> {
        let refs = self.engine().dialect().text("r.refs");
        let sql = format!("SELECT {refs} FROM agent_revision_tags t JOIN agent_revisions r ON {NAMED}");
        let mut all = Vec::new();
        for row in self.engine().texts(sql, &[]).await? {
            let refs: Vec<Ref> = serde_json::from_str(&row)?;
            let refs = refs.into_iter().filter(|found| found.scope == scope);
            all.extend(refs.map(|found| Ref { copy: None, ..found }));
        }
        Ok(all)
    }

    /// Forgets all but the newest `keep` revisions of each entity. The newest revision of an entity and of
    /// each name it had, tagged revisions and their references stay. Returns the number of forgotten ones.
    pub async fn prune(&self, keep: usize) -> Result<u64> {
        self.prune_around(keep, &[]).await
    }

    /// The same as [`Store::prune`], but keeps the references in `also` too.
    pub async fn prune_around(&self, keep: usize, also: &[Ref]) -> Result<u64> {
        if keep == 0 {
            return Err(Error::KeepNothing);
        }
        let dialect = self.engine().dialect();
        let rank = "row_number() OVER (PARTITION BY guid ORDER BY revision DESC)";
        // Revisions of a name continue from its newest one, whichever entity has the name then.
        let in_name = "row_number() OVER (PARTITION BY scope, origin, kind, name ORDER BY revision DESC)";
        let meant = meant(dialect);
        let (in_refs, in_list) = (elements(dialect, "r.refs"), elements(dialect, "$1"));
        let sql = format!(
            "DELETE FROM agent_revisions WHERE id IN (\
             SELECT q.id FROM (SELECT id, guid, revision, kind, name, content_hash, {rank} AS place, \
             {in_name} AS in_name FROM agent_revisions) q WHERE q.place > {keep} AND q.in_name > 1 \
             AND NOT EXISTS (SELECT 1 FROM agent_revision_tags t WHERE t.revision_guid = q.guid AND t.revision = q.revision) \
             AND NOT EXISTS (SELECT 1 FROM agent_revision_tags t JOIN agent_revisions r ON {NAMED} \
             CROSS JOIN {in_refs} WHERE {meant}) \
             AND NOT EXISTS (SELECT 1 FROM {in_list} WHERE {meant}))"
        );
        let also = Parameter::Json(serde_json::to_string(also)?);
        let mut transaction = self.engine().begin().await?;
        transaction.without_bounds().await?;
        lock_tags(&mut transaction, AGAINST_TAGGING).await?;
        let gone = transaction.run(&sql, &[also]).await?;
        transaction.commit().await?;
        Ok(gone)
    }
}
