//! What somebody decides about a call or about a plan.

use app::running::Decision;
use serde::Deserialize;

use crate::problem::Problem;

/// The answer to a call that needs permission. Besides `decision`, `"approve": true` and
/// `"reject": true` are understood; of the three, one is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalInput {
    #[serde(default)]
    decision: Option<Verdict>,
    #[serde(default)]
    approve: Option<bool>,
    #[serde(default)]
    reject: Option<bool>,
    /// What the model is told when it is refused.
    #[serde(default)]
    reason: Option<String>,
    /// Holds for this tool until the session ends.
    #[serde(default)]
    remember: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Approve,
    Reject,
}

impl ApprovalInput {
    pub(super) fn decision(self) -> Result<Decision, Problem> {
        let Self { decision, approve, reject, reason, remember } = self;
        let decision = decision.map(|verdict| verdict == Verdict::Approve);
        let said: Vec<bool> =
            [decision, approve, reject.map(|reject| !reject)].into_iter().flatten().collect();
        match said[..] {
            [approved] => Ok(Decision { approved, reason, remember }),
            [] => Err(Problem::invalid(
                r#"what is decided? send {"decision": "approve"} or {"decision": "reject"}"#,
            )),
            _ => Err(Problem::invalid("decision, approve and reject say the same; send one of them")),
        }
    }
}

/// What becomes of a plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanInput {
    decision: PlanVerdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlanVerdict {
    Approve,
    SendBack,
}

impl PlanInput {
    pub(super) fn is_approved(&self) -> bool {
        self.decision == PlanVerdict::Approve
    }
}

#[cfg(test)]
mod tests {
    use app::inputs::parse;
    use serde_json::{Value, json};

    use super::*;

    fn decided(body: &Value) -> Result<(bool, Option<String>, bool), String> {
        let input: ApprovalInput = parse(body.as_object().expect("an object"))?;
        let decision = input.decision().map_err(|problem| format!("{problem:?}"))?;
        Ok((decision.approved, decision.reason, decision.remember))
    }

    #[test]
    fn every_spelling_of_a_decision_is_understood() {
        for (body, approved) in [
            (json!({ "decision": "approve" }), true),
            (json!({ "decision": "reject" }), false),
            (json!({ "approve": true }), true),
            (json!({ "approve": false }), false),
            (json!({ "reject": true }), false),
            (json!({ "reject": false }), true),
        ] {
            assert_eq!(decided(&body), Ok((approved, None, false)), "{body}");
        }
        let whole = json!({ "decision": "reject", "reason": "not there", "remember": true });
        assert_eq!(decided(&whole), Ok((false, Some("not there".to_owned()), true)));
    }

    #[test]
    fn what_is_no_decision_is_told() {
        for (body, told) in [
            (json!({}), "what is decided"),
            (json!({ "reason": "because" }), "what is decided"),
            (json!({ "decision": "approve", "reject": true }), "one of them"),
            (json!({ "approve": true, "reject": false }), "one of them"),
            (json!({ "decision": "maybe" }), "decision: unknown variant `maybe`"),
            (json!({ "aprove": true }), "did you mean \"approve\"?"),
        ] {
            let refused = decided(&body).expect_err("no decision");
            assert!(refused.contains(told), "{body}: {refused}");
        }
    }
}
