//! The entities of the database that use another one.

use persona::{Kind, Name};
use serde::Deserialize;

use crate::documents::{table, user_queries};
use crate::{Result, Store};
use database::Parameter;

/// A row of [`user_queries`].
#[derive(Deserialize)]
pub(crate) struct User {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
}

impl Store {
    /// The shared entities that link a shared one or name it, by kind and name.
    pub async fn shared_users(&self, kind: Kind, name: &Name) -> Result<Vec<(Kind, Name)>> {
        let row = format!("SELECT a.id FROM {} a WHERE a.name = $1", table(kind));
        let Some(id) = self.engine().number(row, &[Parameter::from(name)]).await? else {
            return Ok(Vec::new());
        };
        let mut users = Vec::new();
        for sql in user_queries(self.engine().dialect(), kind) {
            for row in self.engine().texts(sql, &[Parameter::Int(id), Parameter::from(name)]).await? {
                let User { kind, name } = serde_json::from_str(&row)?;
                users.push((kind, name));
            }
        }
        Ok(users)
    }
}
