//! `masque manifest`: lists the pieces of a persona.

use app::inputs::ByName;
use persona::{Kind, LayerOrigin, Manifest, ManifestTokens, Name};

use super::show;
use crate::cli::ManifestArgs;
use crate::failure::Result;
use crate::output::{Column, Output, Table, one_line};
use crate::workspace::Workspace;

pub(super) async fn run(args: ManifestArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let input = ByName { name: args.persona()?, scope: args.only.scope };
    let manifest = workspace.library.manifest(&input).await?;
    if output.is_json() {
        return output.json(&manifest);
    }
    show::title(&manifest.name, manifest.display_name.as_deref(), manifest.scope, manifest.revision, output)?;
    if let Some(description) = &manifest.description {
        output.paragraph(0, description)?;
    }
    if let Some(arc) = &manifest.arc {
        output.field("arc", &format!("{}, stage {} of {}: {}", arc.name, arc.position, arc.of, arc.stage))?;
    }
    let ManifestTokens { detail, summary, tokenizer } = &manifest.tokens;
    output.field("tokens", &format!("{detail}, {summary} with --summary ({tokenizer})"))?;
    output.blank()?;
    pieces(&manifest, output)?;
    output.advise("\nShow a piece with `masque show KIND NAME`, everything with `masque compile NAME`.")
}

fn pieces(manifest: &Manifest, output: &mut Output) -> Result<()> {
    let columns = [
        Column::Fixed("NAME"),
        Column::Fixed("KIND"),
        Column::Fixed("TYPE"),
        Column::Fixed("TOKENS"),
        Column::Stretched("DESCRIPTION"),
    ];
    let row = |name: &Name, kind: Kind, of_type: String, tokens: usize, description: &Option<String>| {
        let description = one_line(description.as_deref().unwrap_or_default());
        vec![name.to_string(), kind.to_string(), of_type, tokens.to_string(), description]
    };
    let mut rows = Vec::new();
    for part in &manifest.parts {
        let from = layer(part.from).map(|layer| format!(" ({layer})")).unwrap_or_default();
        let of_type = format!("{}{from}", part.part_type);
        rows.push(row(&part.name, Kind::Part, of_type, part.tokens, &part.description));
    }
    for item in &manifest.traits {
        rows.push(row(&item.name, Kind::Trait, item.trait_type.to_string(), item.tokens, &item.description));
    }
    for item in &manifest.skills {
        rows.push(row(&item.name, Kind::Skill, String::new(), item.tokens, &item.description));
    }
    for item in &manifest.guardrails {
        let severity = item.severity.map(|severity| severity.to_string()).unwrap_or_default();
        rows.push(row(&item.name, Kind::Guardrail, severity, item.tokens, &item.description));
    }
    if rows.is_empty() {
        return output.line("No pieces yet; add one with `masque link`.");
    }
    let table = Table::fitted(&columns, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|cells| table.row(output, cells))
}

/// The layer of a part. None for the persona's own.
pub(super) fn layer(origin: LayerOrigin) -> Option<&'static str> {
    match origin {
        LayerOrigin::Own => None,
        LayerOrigin::Base => Some("base"),
        LayerOrigin::Stage => Some("stage"),
        LayerOrigin::Override => Some("override"),
    }
}
