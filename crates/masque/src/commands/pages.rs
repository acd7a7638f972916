//! Prints lists page by page, in bounded memory.

use app::outputs::{ListItem, Page};
use persona::limits;

use crate::cli::Paging;
use crate::failure::{Failure, Result};
use crate::output::{Column, Counter, Output, Table};

/// Prints the items that `fetch` returns for a limit and a cursor. Returns their number. `cells` builds a
/// row from an item.
pub(super) async fn print(
    paging: Paging,
    columns: &[Column],
    cells: impl Fn(&ListItem) -> Vec<String>,
    mut fetch: impl AsyncFnMut(u32, Option<String>) -> Result<Page>,
    output: &mut Output,
) -> Result<usize> {
    let default = u32::try_from(limits::DEFAULT_PAGE).unwrap_or(u32::MAX);
    let most = u32::try_from(limits::PAGE).unwrap_or(u32::MAX);
    let mut remaining = if paging.all { u32::MAX } else { paging.limit.unwrap_or(default) };
    let mut cursor = paging.cursor;
    let mut writer = Writer { columns, cells, table: None, written: 0 };
    let mut counter = Counter::new(output);
    let mut ranked = None;
    loop {
        let page = fetch(remaining.min(most), cursor.take()).await?;
        counter.add(page.items.len());
        writer.page(&page.items, output)?;
        cursor = page.next_cursor;
        ranked = ranked.or(page.ranked);
        if !paging.all {
            remaining = remaining.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
        }
        if remaining == 0 || cursor.is_none() {
            break;
        }
        output.flush()?;
    }
    drop(counter);
    writer.end(cursor.as_deref(), ranked, output)?;
    Ok(writer.written)
}

struct Writer<'a, F> {
    columns: &'a [Column],
    cells: F,
    table: Option<Table>,
    written: usize,
}

impl<F: Fn(&ListItem) -> Vec<String>> Writer<'_, F> {
    fn page(&mut self, items: &[ListItem], output: &mut Output) -> Result<()> {
        if output.is_json() {
            for item in items {
                let item = serde_json::to_string(item).map_err(|error| Failure::json(&error))?;
                output.json_text(if self.written == 0 { "{\"items\":[\n" } else { ",\n" })?;
                output.json_text(&item)?;
                self.written += 1;
            }
            return Ok(());
        }
        let rows: Vec<Vec<String>> = items.iter().map(&self.cells).collect();
        if self.table.is_none() && !rows.is_empty() {
            let table = Table::fitted(self.columns, &rows, output.width());
            table.header(output)?;
            self.table = Some(table);
        }
        for row in &rows {
            if let Some(table) = &self.table {
                table.row(output, row)?;
            }
        }
        self.written += rows.len();
        Ok(())
    }

    fn end(&self, next_cursor: Option<&str>, ranked: Option<usize>, output: &mut Output) -> Result<()> {
        if output.is_json() {
            output.json_text(if self.written == 0 { "{\"items\":[" } else { "\n]" })?;
            let next = next_cursor.filter(|_| self.written > 0);
            let next = next.map(|cursor| format!(",\"next_cursor\":{}", serde_json::json!(cursor)));
            let ranked = ranked.map(|ranked| format!(",\"ranked\":{ranked}"));
            let list_end = if self.written == 0 { "]" } else { "" };
            let (next, ranked) = (next.unwrap_or_default(), ranked.unwrap_or_default());
            return output.json_text(&format!("{list_end}{next}{ranked}}}\n"));
        }
        if let Some(ranked) = ranked {
            output.advise(&format!(
                "More than {ranked} entries match, and only {ranked} of them are ranked; add words to narrow the search."
            ))?;
        }
        if next_cursor.is_some() {
            output.advise(
                "More items exist; use --all or a higher --limit, or narrow the list (see --help).",
            )?;
        }
        Ok(())
    }
}
