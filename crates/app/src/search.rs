//! Search over all kinds and scopes.

use crate::inputs::Search;
use crate::outputs::Page;
use crate::{Library, Result};
use async_recursion::async_recursion as boxed;

impl Library {
    /// Entities in which all words occur, best first.
    #[boxed]
    pub async fn search(&self, input: Search) -> Result<Page> {
        let Search { query, kinds, limit, cursor, scope } = input;
        if let Some(scope) = scope {
            self.check_open(scope)?;
        }
        let limit = limit.map(|limit| limit as usize);
        let mut page =
            self.scopes.search(&query, &kinds.unwrap_or_default(), scope, limit, cursor.as_deref()).await?;
        self.fill_inherited(&mut page.items).await?;
        Ok(page.into())
    }
}
