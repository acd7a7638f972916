//! Projects in temporary directories, and counters.

use std::path::Path;

use context::{Context, LeftOut, Project, Reason, Request};
use persona::{ContextEntry, ContextPreset, ContextView, Name, TokenCounter};
use tempfile::TempDir;

/// A project in a temporary directory.
pub(crate) struct Tree {
    directory: TempDir,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { directory: tempfile::tempdir().expect("a directory") };
        files.iter().for_each(|(path, content)| tree.write(path, content));
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }

    pub(crate) fn link(&self, to: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(to, self.root().join(path)).expect("a link");
    }

    pub(crate) fn project(&self) -> Project {
        Project::open(self.root()).expect("a project")
    }

    pub(crate) fn gather(&self, request: &Request) -> Context {
        gather(&self.project(), request)
    }
}

/// Gathers and checks what holds for every answer.
pub(crate) fn gather(project: &Project, request: &Request) -> Context {
    let context = project.gather(request, &Bytes);
    check(&context, &Bytes);
    context
}

/// Fails if a promise about every context is broken.
pub(crate) fn check(context: &Context, counter: &dyn TokenCounter) {
    assert!(context.tokens <= context.budget, "{} of {}", context.tokens, context.budget);
    assert_eq!(context.tokens, counter.count(&context.text), "{}", context.text);
    assert!(context.files.is_sorted_by(|a, b| a.path < b.path), "{:?}", context.files);
    assert!(context.left_out.is_sorted_by(|a, b| a.path < b.path), "{:?}", context.left_out);
    let mut from = 0;
    for file in &context.files {
        let header = format!("## {} ({})\n", file.path, file.view.as_str());
        let at =
            context.text[from..].find(&header).unwrap_or_else(|| panic!("no {header} in {}", context.text));
        from += at + header.len();
        assert!(context.left_out.iter().all(|left| left.path != file.path), "{} twice", file.path);
    }
}

/// `path=view` of each file that is shown, and `path!reason` of each that is left out.
pub(crate) fn summary(context: &Context) -> String {
    let shown = context.files.iter().map(|file| format!("{}={}", file.path, file.view.as_str()));
    let left = context.left_out.iter().map(|LeftOut { path, reason }| format!("{path}!{}", word(reason)));
    shown.chain(left).collect::<Vec<_>>().join(" ")
}

pub(crate) fn word(reason: &Reason) -> &'static str {
    match reason {
        Reason::Budget => "budget",
        Reason::Excluded => "excluded",
        Reason::Binary => "binary",
        Reason::Huge { .. } => "huge",
        Reason::TotalBytes => "total",
        Reason::Secret => "secret",
        Reason::Link => "link",
        Reason::Outside => "outside",
        Reason::Special => "special",
        Reason::PathEncoding => "encoding",
        Reason::Missing => "missing",
        Reason::Changed => "changed",
        Reason::Unreadable { .. } => "unreadable",
    }
}

/// Entries such as `src/**=skeleton`; one without a wildcard names a path.
pub(crate) fn preset(entries: &str) -> ContextPreset {
    let entries = entries.split_whitespace().map(|entry| {
        let (pattern, view) = entry.split_once('=').unwrap_or((entry, "full"));
        let view: ContextView = view.parse().expect("a view");
        let is_glob = pattern.contains(['*', '?', '{', '[']);
        let pattern = Some(pattern.to_owned());
        let (glob, path) = if is_glob { (pattern, None) } else { (None, pattern) };
        ContextEntry { glob, path, view }
    });
    ContextPreset {
        name: Name::parse("test").expect("a name"),
        description: None,
        entries: entries.collect(),
        token_budget: None,
        tags: Default::default(),
    }
}

pub(crate) fn request(entries: &str) -> Request {
    Request { preset: Some(preset(entries)), budget: Some(1_000_000), ..Request::default() }
}

/// A token per byte: texts can be counted apart.
pub(crate) struct Bytes;

impl TokenCounter for Bytes {
    fn tokenizer(&self) -> &'static str {
        "bytes"
    }

    fn count(&self, text: &str) -> usize {
        text.len()
    }

    fn is_apart(&self, _: &str) -> bool {
        true
    }
}

/// A count that is neither the sum of its parts nor always larger for a longer text.
pub(crate) struct Awkward;

impl TokenCounter for Awkward {
    fn tokenizer(&self) -> &'static str {
        "awkward"
    }

    fn count(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        text.split(' ').map(|word| word.len() / 5 + word.len() % 3).sum::<usize>() + text.len() % 7
    }
}
