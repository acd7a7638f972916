//! `masque search`.

use app::inputs::Search;
use persona::Kind;

use super::{list, pages};
use crate::cli::SearchArgs;
use crate::failure::Result;
use crate::output::{Column, Output};
use crate::workspace::Workspace;

const COLUMNS: [Column; 4] =
    [Column::Fixed("NAME"), Column::Fixed("KIND"), Column::Stretched("SUMMARY"), Column::Optional("SCOPE")];

pub(super) async fn run(args: SearchArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let query = args.text.join(" ");
    let kinds: Vec<Kind> = args.kinds.into_iter().map(Kind::from).collect();
    let fetch = async |limit, cursor| {
        let input = Search {
            query: query.clone(),
            kinds: (!kinds.is_empty()).then(|| kinds.clone()),
            limit: Some(limit),
            cursor,
            scope: args.only.scope,
        };
        Ok(workspace.library.search(input).await?)
    };
    let cells = |item: &app::outputs::ListItem| {
        vec![item.name.to_string(), item.kind.to_string(), list::summary(item), item.scope.to_string()]
    };
    let written = pages::print(args.paging, &COLUMNS, cells, fetch, output).await?;
    if written == 0 {
        output.advise(&format!("No matches for {query:?}; try fewer or other words."))?;
    }
    Ok(())
}
