//! Rows that a write reads ahead, many with one statement, so that a write of thousands of entities does not
//! look each of them up.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use persona::{AnyEntity, Kind, Name};
use serde::Deserialize;

use super::database::DatabaseWrite;
use super::identity::Last;
use super::{Held, identity};
use crate::Result;
use crate::documents::{self, table};
use database::{Dialect, Parameter};

/// Names per statement.
const CHUNK: usize = 1_000;

/// An entity of the shared scope, as far as a write knows it.
#[derive(Debug)]
pub(super) enum Known {
    Absent,
    /// It exists; its definition must be read.
    Present,
    Held(Box<Held<AnyEntity>>),
}

/// Everything that a write knows without a statement.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    known: HashMap<(Kind, Name), Known>,
    lasts: HashMap<(Kind, Name), Last>,
}

impl Ahead {
    pub(super) fn known(&self, kind: Kind, name: &Name) -> Option<&Known> {
        self.known.get(&(kind, name.clone()))
    }

    /// The last record of a name. The next one must be read: this write is about to make it.
    pub(super) fn take_last(&mut self, kind: Kind, name: &Name) -> Option<Last> {
        self.lasts.remove(&(kind, name.clone()))
    }

    /// Notes that this write stored a definition under its name.
    pub(super) fn stored(&mut self, kind: Kind, name: &Name) {
        self.lasts.remove(&(kind, name.clone()));
        self.known.insert((kind, name.clone()), Known::Present);
    }

    /// Forgets everything: a rename or a removal changes other definitions too.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl DatabaseWrite {
    /// Locks the entities of `held` and reads them, and notes which of those in `named` exist. Afterwards
    /// this write finds both without a statement.
    pub async fn read_ahead(
        &mut self,
        held: &BTreeSet<(Kind, Name)>,
        named: &BTreeSet<(Kind, Name)>,
    ) -> Result<()> {
        for (kind, names) in by_kind(held) {
            for names in names.chunks(CHUNK) {
                self.hold_ahead(kind, names).await?;
                self.lasts_ahead(kind, names).await?;
            }
        }
        for (kind, names) in by_kind(named) {
            let unknown = names.into_iter().filter(|name| self.ahead.known(kind, name).is_none());
            let unknown: Vec<&Name> = unknown.collect();
            for names in unknown.chunks(CHUNK) {
                self.name_ahead(kind, names).await?;
            }
        }
        Ok(())
    }

    async fn hold_ahead(&mut self, kind: Kind, names: &[&Name]) -> Result<()> {
        let dialect = self.transaction().dialect();
        let among = dialect.in_list("a.name", "$1");
        let values = [Parameter::Json(serde_json::to_string(names)?)];
        if dialect == Dialect::Postgres {
            // First the locks, then the read, as for a single entity. All writers lock in one order.
            let lock =
                format!("SELECT a.name FROM {} a WHERE {among} ORDER BY a.name FOR UPDATE", table(kind));
            self.transaction().texts(&lock, &values).await?;
        }
        let sql = format!("{} WHERE {among}", documents::select(dialect, kind));
        let rows = self.transaction().texts(&sql, &values).await?;
        for name in names {
            self.ahead.known.insert((kind, (*name).clone()), Known::Absent);
        }
        for row in rows {
            let held = documents::parse(kind, &row)?;
            let name = held.stored.entity.name().clone();
            self.ahead.known.insert((kind, name), Known::Held(Box::new(held)));
        }
        Ok(())
    }

    async fn lasts_ahead(&mut self, kind: Kind, names: &[&Name]) -> Result<()> {
        #[derive(Deserialize)]
        struct Row {
            name: Name,
            last: Last,
        }
        let dialect = self.transaction().dialect();
        let row = dialect
            .object(&[("name", "r.name".to_owned()), ("last", dialect.nested(&identity::last(dialect)))]);
        let sql = format!(
            "SELECT {} FROM {} JOIN agent_revisions r ON r.id = (SELECT q.id FROM agent_revisions q \
             WHERE q.scope = 'shared' AND q.origin = '' AND q.kind = $1 AND q.name = j.value \
             ORDER BY q.revision DESC LIMIT 1)",
            dialect.text(&row),
            dialect.list_rows("$2", "j")
        );
        let values = [Parameter::from(kind.as_str()), Parameter::Json(serde_json::to_string(names)?)];
        let rows = self.transaction().texts(&sql, &values).await?;
        for name in names {
            self.ahead.lasts.insert((kind, (*name).clone()), Last::default());
        }
        for row in rows {
            let Row { name, last } = serde_json::from_str(&row)?;
            self.ahead.lasts.insert((kind, name), last);
        }
        Ok(())
    }

    async fn name_ahead(&mut self, kind: Kind, names: &[&Name]) -> Result<()> {
        let among = self.transaction().dialect().in_list("a.name", "$1");
        let sql = format!("SELECT a.name FROM {} a WHERE {among}", table(kind));
        let values = [Parameter::Json(serde_json::to_string(names)?)];
        let found = self.transaction().texts(&sql, &values).await?;
        let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        for name in names {
            let known = if found.contains(name.as_str()) { Known::Present } else { Known::Absent };
            self.ahead.known.insert((kind, (*name).clone()), known);
        }
        Ok(())
    }
}

fn by_kind(names: &BTreeSet<(Kind, Name)>) -> BTreeMap<Kind, Vec<&Name>> {
    let mut kinds: BTreeMap<Kind, Vec<&Name>> = BTreeMap::new();
    for (kind, name) in names {
        kinds.entry(*kind).or_default().push(name);
    }
    kinds
}
