//! `masque models`: lists available models.

use app::running::{ModelList, ProviderModels};
use app::{Code, Remedy, Report};

use crate::cli::ModelsArgs;
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, Style, Table, one_line};
use crate::runtime;
use crate::workspace::Workspace;

const COLUMNS: [Column; 3] = [Column::Fixed("MODEL"), Column::Stretched("NAME"), Column::Optional("CONTEXT")];

pub(super) async fn run(args: &ModelsArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let runtime = runtime::open(workspace).await?;
    let mut all = runtime.models().await;
    if let Some(wanted) = &args.provider {
        let names: Vec<String> = all.iter().map(|found| found.provider.name.clone()).collect();
        all.retain(|found| found.provider.name == *wanted);
        if all.is_empty() {
            return Err(unknown(wanted, &names));
        }
    }
    let answers = all.iter().any(|found| found.error.is_none());
    if output.is_json() {
        output.json(&ModelList { items: all })?;
    } else {
        print(&all, output)?;
    }
    // The output has the errors.
    if answers { Ok(()) } else { Err(Failure::Answered) }
}

fn unknown(wanted: &str, names: &[String]) -> Failure {
    let near = persona::nearest(wanted, names.iter().map(String::as_str));
    let report = Report::new(Code::NotSetUp, format!("no provider {:?} is set up", one_line(wanted)));
    let remedy = match near.is_empty() {
        true if names.is_empty() => Remedy::Run { command: "masque doctor".to_owned() },
        true => Remedy::UseOneOf { words: names.to_vec() },
        false => Remedy::DidYouMean,
    };
    let candidates = near.iter().map(|name| (*name).to_owned()).collect();
    report.with_candidates(candidates).with_remedy(remedy).into()
}

fn print(all: &[ProviderModels], output: &mut Output) -> Result<()> {
    if all.is_empty() {
        return output.advise(
            "No model is configured, so a scripted rehearsal answers. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or \
             GEMINI_API_KEY, run Ollama, or add [providers.NAME] to config.toml; `masque doctor` shows what was found.",
        );
    }
    let rows = |found: &ProviderModels| -> Vec<Vec<String>> {
        let name = &found.provider.name;
        let cells = found.models.iter().map(|model| {
            let context = model.context_tokens.map(|tokens| tokens.to_string()).unwrap_or_default();
            vec![
                one_line(&format!("{name}/{}", model.id)),
                one_line(model.display_name.as_deref().unwrap_or_default()),
                context,
            ]
        });
        cells.collect()
    };
    let lines: Vec<Vec<String>> = all.iter().flat_map(rows).collect();
    if !lines.is_empty() {
        let table = Table::fitted(&COLUMNS, &lines, output.width());
        table.header(output)?;
        lines.iter().try_for_each(|line| table.row(output, line))?;
    }
    for found in all {
        let name = &found.provider.name;
        match &found.error {
            Some(error) => {
                let title = output.styled(Style::Bad, format!("{name} does not answer"));
                output.styled_line(&title)?;
                output.paragraph(2, &one_line(error))?;
                output.paragraph(2, "`masque doctor` shows its settings and checks it.")?;
            }
            None if found.models.is_empty() => {
                output.line(format!(
                    "{name} answers, but lists no models; choose one with --model {name}/MODEL"
                ))?;
            }
            None => {}
        }
    }
    Ok(())
}
