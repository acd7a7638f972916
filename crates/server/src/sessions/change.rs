//! What a session is made of, changed while it is idle.

use app::inputs::ByName;
use app::running::SessionView;
use axum::Json;
use axum::extract::State;
use llm::ModelRef;
use persona::Name;
use serde::{Deserialize, Deserializer};

use super::Shared;
use super::named::SessionId;
use crate::answer::{Answer, whole};
use crate::asked::WithNulls;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeInput {
    /// Goes on in the place of the one before.
    #[serde(default)]
    persona: Option<Name>,
    /// Answers from now on; `null` leaves it to the persona again.
    #[serde(default, deserialize_with = "given")]
    model: Option<Option<ModelRef>>,
}

/// What stands there, `null` included; what does not is none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<ModelRef>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(super) async fn change(
    State(sessions): Shared,
    SessionId(id): SessionId,
    WithNulls(input): WithNulls<ChangeInput>,
) -> Answer<Json<SessionView>> {
    let ChangeInput { persona, model } = input;
    if persona.is_none() && model.is_none() {
        return Err(Problem::invalid(
            r#"nothing is to be changed; send "persona", "model" or both ("model": null for the persona's own)"#,
        ));
    }
    let runtime = sessions.runtime.clone();
    let changed = whole(async move {
        if let (Some(name), Some(_)) = (&persona, &model) {
            // A persona that is not there leaves the model as it is, too.
            runtime.library().manifest(&ByName { name: name.clone(), scope: None }).await?;
        }
        if let Some(model) = model {
            runtime.set_model(id, model).await?;
        }
        if let Some(persona) = persona {
            runtime.set_persona(id, persona, None).await?;
        }
        runtime.session(id).await
    });
    Ok(Json(changed.await?))
}
