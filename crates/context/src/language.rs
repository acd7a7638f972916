//! The languages whose symbols can be read, and the language of a file.

/// A language with a grammar. TypeScript with JSX is a language of its own: its grammar rejects casts in
/// angle brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Rust,
    Python,
    TypeScript,
    Tsx,
    JavaScript,
    Go,
    C,
    Cpp,
    Java,
}

impl Language {
    /// The language of a path, by its extension. A header (`.h`) is C: see [`Self::of`].
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next()?;
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Some(match extension {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "go" => Self::Go,
            "c" | "h" => Self::C,
            "C" | "H" | "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "inl" => {
                Self::Cpp
            }
            "java" => Self::Java,
            _ => return None,
        })
    }

    /// The language of a file, by its extension and, for a header (`.h`), its text: a header is C++ if a line
    /// of it starts with a word that only C++ has there (`class`, `namespace`, `template`, `using`, `public:`,
    /// `private:`, `protected:`, `constexpr`). `extern "C"` does not count: headers of C have it.
    #[must_use]
    pub fn of(path: &str, source: &str) -> Option<Self> {
        let language = Self::of_path(path)?;
        if language == Self::C && path.ends_with(".h") && source.lines().any(is_cpp_only) {
            return Some(Self::Cpp);
        }
        Some(language)
    }

    /// The grammar that parses the language.
    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
        }
    }
}

/// True for a line that C does not have outside of comments. A comment's line starts with `/` or `*`.
fn is_cpp_only(line: &str) -> bool {
    let line = line.trim_start();
    let Some(end) = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_') else { return false };
    let (word, rest) = line.split_at(end);
    match word {
        "public" | "private" | "protected" => rest.trim_start().starts_with(':'),
        "template" => rest.trim_start().starts_with('<'),
        "class" | "namespace" | "using" => {
            rest.starts_with(' ') && rest.trim_end().ends_with(['{', ';', ':', ','])
        }
        "constexpr" => rest.starts_with(' '),
        _ => false,
    }
}
