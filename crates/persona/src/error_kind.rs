//! The classes of errors, shared by every crate that reports them.

/// How a caller treats an error. Each front maps these once, to a status or an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    Missing,
    Conflict,
    Invalid,
    Busy,
    Denied,
    Broken,
}

impl ErrorKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Busy => "busy",
            Self::Denied => "denied",
            Self::Broken => "broken",
        }
    }

    /// The kind of a failed access to a file.
    pub fn of_io(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Self::Denied,
            _ => Self::Broken,
        }
    }
}
