//! Recall on a real history: of the files that a commit touched, how many does `auto` show to a worker that has
//! the commit's subject as its task and one of the files in focus?
//!
//! Each commit is asked for at its parent. A file counts as shown if the text has at least one of its signatures;
//! a file of names alone does not count. Beside it stand the files nearest by path to the focus file, as many as
//! `auto` showed.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use app::Tokenizer;
use context::language::Language;
use context::{Cache, Context, Project, Request, Seeds, View, symbols};
use persona::TokenCounter as _;
use serde::Serialize;

use crate::git::{self, Commit};
use crate::report::{Figure, directory, report};

/// Commits that are asked for, the newest that fit.
const COMMITS: usize = 50;
/// Tokens for the files beside the one in focus.
const BUDGETS: [usize; 2] = [4_000, 8_000];

/// One commit, as a task. Another program may answer the same tasks.
#[derive(Debug, Serialize)]
struct Task {
    commit: String,
    parent: String,
    text: String,
    focus: String,
    wanted: Vec<String>,
    /// The answers, in the order of the budgets.
    answers: Vec<Answer>,
}

#[derive(Debug, Serialize)]
struct Answer {
    budget: usize,
    tokens: usize,
    /// Files with a signature in the text, beside the focus file.
    files: usize,
    shown: Vec<String>,
    /// Wanted files among as many that are nearest by path.
    near: usize,
}

/// Measures a repository, by default this one.
pub(crate) fn measure(arguments: &[&str]) -> Result<()> {
    let repository = Path::new(arguments.first().copied().unwrap_or("."));
    let cache = Arc::new(Cache::default());
    let mut tasks = Vec::new();
    for commit in git::commits(repository)? {
        if tasks.len() == COMMITS {
            break;
        }
        if let Some(task) = ask(repository, commit, &cache)? {
            println!("{} {:<60.60} {}", &task.commit[..9], task.text, summary(&task));
            tasks.push(task);
        }
    }
    ensure!(!tasks.is_empty(), "no commit changes 2 to 12 source files");
    let file = directory()?.join("recall-tasks.json");
    std::fs::write(&file, serde_json::to_string_pretty(&tasks)?)?;
    println!("tasks and answers are in {}", file.display());
    report("recall", &figures(&tasks))
}

fn summary(task: &Task) -> String {
    let answers = task.answers.iter().map(|answer| format!("{}/{}", answer.shown.len(), task.wanted.len()));
    answers.collect::<Vec<_>>().join("  ")
}

fn figures(tasks: &[Task]) -> Vec<Figure> {
    let wanted: usize = tasks.iter().map(|task| task.wanted.len()).sum();
    let share = |found: usize| 100.0 - 100.0 * found as f64 / wanted as f64;
    let mut figures = Vec::new();
    for (at, budget) in BUDGETS.iter().enumerate() {
        let answers = || tasks.iter().filter_map(|task| task.answers.get(at));
        let shown = answers().map(|answer| answer.shown.len()).sum();
        let near = answers().map(|answer| answer.near).sum();
        let what = format!("{wanted} files of {} commits, missed within {budget}", tasks.len());
        figures.push(Figure::new(what, "%", share(shown), share(near), Some(1.0)));
        let fullest = answers().map(|answer| answer.tokens).max().unwrap_or_default();
        let what = format!("the fullest answer within {budget}");
        figures.push(Figure::at_most(what, "tok", fullest as f64, *budget as f64));
    }
    figures
}

/// Asks for one commit. `None` unless it touches 2 to 12 source files, of which its parent has two.
fn ask(repository: &Path, commit: Commit, cache: &Arc<Cache>) -> Result<Option<Task>> {
    let Commit { id, parent, subject, mut touched } = commit;
    touched.retain(|touched| is_source(&touched.path));
    if !(2..=12).contains(&touched.len()) {
        return Ok(None);
    }
    let directory = tempfile::tempdir()?;
    let root = directory.path();
    git::check_out(repository, &parent, root)?;
    touched.retain(|touched| root.join(&touched.path).is_file());
    // The file that changes most is the one that a person would name.
    touched.sort_by(|a, b| b.lines.cmp(&a.lines).then(a.path.cmp(&b.path)));
    let mut paths = touched.into_iter().map(|touched| touched.path);
    let (Some(focus), wanted) = (paths.next(), paths.collect::<Vec<_>>()) else { return Ok(None) };
    if wanted.is_empty() {
        return Ok(None);
    }
    let project = Project::open(root)?.with_cache(Arc::clone(cache));
    let mut task = Task { commit: id, parent, text: subject, focus, wanted, answers: Vec::new() };
    for budget in BUDGETS {
        let answer = answer(&project, root, &task, budget)?;
        task.answers.push(answer);
    }
    Ok(Some(task))
}

fn is_source(path: &str) -> bool {
    Language::of_path(path).is_some()
}

fn answer(project: &Project, root: &Path, task: &Task, budget: usize) -> Result<Answer> {
    let focus = Tokenizer.count(&std::fs::read_to_string(root.join(&task.focus))?);
    let request = Request {
        budget: Some(budget + focus),
        focus: vec![task.focus.clone()],
        seeds: Seeds { text: task.text.clone(), ..Seeds::default() },
        ..Request::default()
    };
    let context = project.gather(&request, &Tokenizer);
    ensure!(context.tokens <= context.budget, "{}: {} of {}", task.commit, context.tokens, context.budget);
    let counted = Tokenizer.count(&context.text);
    ensure!(counted == context.tokens, "{}: {counted} tokens, not {}", task.commit, context.tokens);
    let shown = with_signatures(root, &context)?;
    let others: Vec<&str> = shown.iter().copied().filter(|path| *path != task.focus).collect();
    let is_wanted = |path: &&&str| task.wanted.iter().any(|wanted| wanted == **path);
    let near = nearest(&context, &task.focus, others.len());
    Ok(Answer {
        budget,
        tokens: context.tokens.saturating_sub(focus),
        files: others.len(),
        shown: others.iter().filter(is_wanted).map(|path| (*path).to_owned()).collect(),
        near: near.iter().filter(is_wanted).count(),
    })
}

/// The files of which the text shows more than names.
fn with_signatures<'a>(root: &Path, context: &'a Context) -> Result<Vec<&'a str>> {
    let mut shown = Vec::new();
    let mut rest = context.text.as_str();
    for (at, file) in context.files.iter().enumerate() {
        let header =
            |at: usize| context.files.get(at).map(|it| format!("\n## {} ({})\n", it.path, it.view.as_str()));
        let start = header(at).and_then(|header| rest.find(&header)).context("a section")?;
        rest = &rest[start + 1..];
        let section = &rest[..header(at + 1).and_then(|next| rest.find(&next)).unwrap_or(rest.len())];
        let path = file.path.as_str();
        let is_shown = match file.view {
            View::Full | View::Skeleton => true,
            View::Excerpt => has_signature(path, &std::fs::read_to_string(root.join(path))?, section),
            View::Summary | View::Outline => false,
        };
        if is_shown {
            shown.push(path);
        }
    }
    Ok(shown)
}

/// True if a section has the first line of a signature of the source.
fn has_signature(path: &str, source: &str, section: &str) -> bool {
    let Some(map) = Language::of(path, source).and_then(|language| symbols::read(source, language)) else {
        return false;
    };
    map.symbols.iter().any(|symbol| {
        let first = symbol.signature.first().and_then(|bytes| source.get(bytes.clone())).unwrap_or_default();
        let line = first.trim().lines().next().unwrap_or_default().trim_end();
        line.len() > symbol.name.len() && section.contains(line)
    })
}

/// The files that share most directories with the focus file, those in fewer directories of their own first.
fn nearest<'a>(context: &'a Context, focus: &str, count: usize) -> Vec<&'a str> {
    let shown = context.files.iter().map(|file| file.path.as_str());
    let left = context.left_out.iter().map(|left| left.path.as_str());
    let mut paths: Vec<&str> = shown.chain(left).filter(|path| *path != focus && is_source(path)).collect();
    paths.sort_by_key(|path| (distance(path, focus), *path));
    paths.truncate(count);
    paths
}

/// Directories to leave and to enter on the way from one file to the other.
fn distance(one: &str, other: &str) -> usize {
    let common = one.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count();
    one.split('/').count() + other.split('/').count() - 2 * common
}
