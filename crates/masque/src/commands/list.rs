//! `masque list`.

use app::inputs::{List, ListParts, ListTraits};
use app::outputs::ListItem;
use app::{AsReport as _, ListQuery, Subject};
use persona::{Kind, ParseKindError, PartType, TraitType};

use super::pages;
use crate::cli::ListArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::output::{Column, Output, one_line};
use crate::workspace::Workspace;

pub(super) async fn run(args: ListArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let ListArgs { kind, tags, type_word, query, only, paging } = args;
    let kind = Kind::from(kind);
    let scope = only.scope;
    let narrowed = query.is_some() || !tags.is_empty() || type_word.is_some() || scope.is_some();
    let types = Types::parse(kind, type_word.as_deref())?;
    let fetch = async |limit, cursor| {
        let (tags, query, limit) = (Some(tags.clone()), query.clone(), Some(limit));
        let common = List { tags, query, limit, cursor, scope };
        Ok(workspace.library.list(kind, types.query(common)).await?)
    };
    // The scope is shown only if several are listed.
    let columns = columns(kind);
    let cells = |item: &ListItem| cells(kind, item, scope.is_none());
    let written = pages::print(paging, &columns, cells, fetch, output).await?;
    if written == 0 {
        let spoken = kind.spoken();
        let advice = if narrowed {
            format!("No {spoken} matches; `masque search TEXT` searches all kinds.")
        } else {
            format!("No {spoken} yet; create one with `masque create {kind} NAME`.")
        };
        output.advise(&advice)?;
    }
    Ok(())
}

/// The type filter of a list.
enum Types {
    All,
    Part(PartType),
    Trait(TraitType),
}

impl Types {
    fn parse(kind: Kind, word: Option<&str>) -> Result<Self> {
        match (kind, word) {
            (_, None) => Ok(Self::All),
            (Kind::Part, Some(word)) => word.parse().map(Self::Part).map_err(|error| unknown_type(&error)),
            (Kind::Trait, Some(word)) => word.parse().map(Self::Trait).map_err(|error| unknown_type(&error)),
            (kind, Some(_)) => Err(CommandError::NotForKind { flags: vec!["--type"], kind }.into()),
        }
    }

    fn query(&self, list: List) -> ListQuery {
        let List { tags, query, limit, cursor, scope } = list;
        match *self {
            Self::All => List { tags, query, limit, cursor, scope }.into(),
            Self::Part(part_type) => {
                ListParts { part_type: Some(part_type), tags, query, limit, cursor, scope }.into()
            }
            Self::Trait(trait_type) => {
                ListTraits { trait_type: Some(trait_type), tags, query, limit, cursor, scope }.into()
            }
        }
    }
}

fn unknown_type(error: &ParseKindError) -> Failure {
    error.report().about(Subject::field("--type")).into()
}

fn columns(kind: Kind) -> Vec<Column> {
    let mut columns = vec![Column::Fixed("NAME")];
    match kind {
        Kind::Part | Kind::Trait => columns.push(Column::Fixed("TYPE")),
        Kind::Guardrail => columns.push(Column::Fixed("SEVERITY")),
        _ => {}
    }
    columns.extend([Column::Stretched("SUMMARY"), Column::Optional("SCOPE"), Column::Optional("TAGS")]);
    columns
}

fn cells(kind: Kind, item: &ListItem, with_scope: bool) -> Vec<String> {
    let mut cells = vec![item.name.to_string()];
    let of_type = [
        item.part_type.map(|word| word.to_string()),
        item.trait_type.map(|word| word.to_string()),
        item.severity.map(|word| word.to_string()),
    ];
    if matches!(kind, Kind::Part | Kind::Trait | Kind::Guardrail) {
        cells.push(of_type.into_iter().flatten().next().unwrap_or_default());
    }
    let scope = if with_scope { item.scope.to_string() } else { String::new() };
    cells.extend([summary(item), scope, one_line(&item.tags.join(", "))]);
    cells
}

pub(super) fn summary(item: &ListItem) -> String {
    let summary = item.summary.as_deref().or(item.description.as_deref());
    one_line(summary.unwrap_or_default())
}
