//! The policy of a run for calls that need approval.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The treatment of a call that needs approval and has no decision yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalPolicy {
    /// The run waits for an answer.
    #[default]
    Ask,
    /// The run waits if it has a viewer; otherwise the call is refused.
    AskViewer,
    /// The call is refused.
    Refuse,
    /// The call runs if its tool only reads; otherwise it is refused.
    Read,
    /// The call runs if its tool only reads, or only changes files below the session's root. Otherwise the
    /// run waits for an answer.
    Edit,
    /// The call runs. With a [`Concern`](crate::Concern), the run waits if it has a viewer; otherwise the
    /// call is refused.
    All,
    /// The call runs. With a concern it is refused, because the viewer cannot be asked.
    AllUnattended,
}

/// The caller's options for a run. They hold until the run ends, waits included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub policy: ApprovalPolicy,
    /// Replaces the persona's own limit.
    pub max_tool_rounds: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown approval policy {0:?} (expected ask, ask_viewer, refuse, read, edit, all or all_unattended)"
)]
pub struct ApprovalPolicyError(String);

impl ApprovalPolicy {
    pub const ALL: &[Self] =
        &[Self::Ask, Self::AskViewer, Self::Refuse, Self::Read, Self::Edit, Self::All, Self::AllUnattended];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AskViewer => "ask_viewer",
            Self::Refuse => "refuse",
            Self::Read => "read",
            Self::Edit => "edit",
            Self::All => "all",
            Self::AllUnattended => "all_unattended",
        }
    }

    /// The policy of a run that resumes after it waited. A user answered it and can be asked again,
    /// with or without a viewer.
    pub fn resumed(self) -> Self {
        match self {
            Self::AskViewer => Self::Ask,
            other => other,
        }
    }

    /// The policy of a run that cannot wait for an answer.
    pub fn unattended(self) -> Self {
        match self {
            Self::Ask | Self::AskViewer | Self::Edit => Self::Refuse,
            Self::All => Self::AllUnattended,
            other => other,
        }
    }
}

impl FromStr for ApprovalPolicy {
    type Err = ApprovalPolicyError;

    fn from_str(text: &str) -> Result<Self, ApprovalPolicyError> {
        let found = Self::ALL.iter().find(|policy| policy.as_str() == text);
        found.copied().ok_or_else(|| ApprovalPolicyError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for policy in ApprovalPolicy::ALL {
            assert_eq!(policy.as_str().parse(), Ok(*policy));
            assert_eq!(serde_json::to_value(policy).expect("it serialises"), policy.as_str());
        }
        let error = "maybe".parse::<ApprovalPolicy>().expect_err("no policy").to_string();
        assert_eq!(
            error,
            "unknown approval policy \"maybe\" (expected ask, ask_viewer, refuse, read, edit, all or all_unattended)"
        );
    }

    #[test]
    fn policies_of_resumed_and_unattended_runs() {
        let resumed: Vec<_> = ApprovalPolicy::ALL.iter().map(|policy| policy.resumed().as_str()).collect();
        assert_eq!(resumed, ["ask", "ask", "refuse", "read", "edit", "all", "all_unattended"]);
        let unattended: Vec<_> =
            ApprovalPolicy::ALL.iter().map(|policy| policy.unattended().as_str()).collect();
        assert_eq!(
            unattended,
            ["refuse", "refuse", "refuse", "read", "refuse", "all_unattended", "all_unattended"]
        );
    }
}
