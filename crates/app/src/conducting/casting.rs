//! Chooses the persona and the models of a role.

use conductor::{Casting, FellBack, Mma, Model, Role, Ticket, Tier, Track};
use persona::{AssemblyRequest, Name, View};

use crate::Runtime;

/// The settings that a casting follows, the strongest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) track: &'a Track,
    /// The user's own, of `config.toml`.
    pub(super) user: &'a Mma,
}

impl Settings<'_> {
    /// The persona of a tier. The builtin one has no need to be named anywhere.
    fn persona(&self, tier: Tier) -> Name {
        let named = self.track.mma.default_personas.get(tier).or(self.user.default_personas.get(tier));
        named.cloned().unwrap_or_else(|| builtin(tier))
    }

    fn model(&self, tier: Tier) -> Option<Model> {
        self.track.mma.default_models.get(tier).or(self.user.default_models.get(tier)).cloned()
    }
}

pub(super) fn builtin(tier: Tier) -> Name {
    Name::parse(tier.builtin_persona()).unwrap_or_else(|_| unreachable!("the tiers' personas have names"))
}

/// The tier whose defaults a role has. A worker has its ticket's.
fn tier_of(role: Role, ticket: &Ticket) -> Tier {
    match role {
        Role::Worker => ticket.tier,
        Role::Reviewer => Tier::Reviewer,
        Role::Lead => Tier::TechLead,
    }
}

/// The persona and the models of a role: the ticket's persona, else the tier's; the ticket's model, then the
/// persona's in their order, then the tier's. A persona that cannot be loaded leaves its place to the
/// defaults, and the casting says so.
pub(super) async fn cast(
    runtime: &Runtime,
    settings: Settings<'_>,
    ticket: &Ticket,
    role: Role,
    persona: Option<&Name>,
) -> Casting {
    let is_worker = role == Role::Worker;
    let own = persona.or(ticket.persona_id.as_ref().filter(|_| is_worker));
    let first = ticket.model_override.as_ref().filter(|_| is_worker);
    choose(runtime, settings, tier_of(role, ticket), own, first).await
}

/// The persona and the models of a tier, without a ticket.
pub(super) async fn cast_tier(
    runtime: &Runtime,
    settings: Settings<'_>,
    tier: Tier,
    persona: Option<&Name>,
) -> Casting {
    choose(runtime, settings, tier, persona, None).await
}

async fn choose(
    runtime: &Runtime,
    settings: Settings<'_>,
    tier: Tier,
    own: Option<&Name>,
    first: Option<&Model>,
) -> Casting {
    let mut fell_back = None;
    let mut found = None;
    let candidates = own.cloned().into_iter().chain([settings.persona(tier), builtin(tier)]);
    for name in candidates {
        match preferred_models(runtime, &name).await {
            Ok(models) => {
                found = Some((name, models));
                break;
            }
            Err(reason) if fell_back.is_none() => fell_back = Some(FellBack { persona: name, reason }),
            Err(_) => {}
        }
    }
    let (persona, preferred) = found.map_or((None, Vec::new()), |(name, models)| (Some(name), models));
    let mut models: Vec<Model> = Vec::new();
    for model in first.cloned().into_iter().chain(preferred) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    if models.is_empty() {
        models.extend(settings.model(tier));
    }
    if models.is_empty() {
        models.extend(runtime.default_model().await);
    }
    Casting { persona, models, fell_back }
}

/// The models of a persona, or the reason why it cannot be loaded.
async fn preferred_models(runtime: &Runtime, name: &Name) -> Result<Vec<Model>, String> {
    let library = runtime.library();
    let request = AssemblyRequest::plain(View::Detail);
    let loaded = library.load(name, None, &request).await.map_err(|error| error.to_string())?;
    let assembled = library.assemble(&loaded.bundle, &request).await.map_err(|error| error.to_string())?;
    let models = assembled.persona.preferred_models.iter();
    Ok(models.filter_map(|it| Model::parse(&format!("{}/{}", it.provider, it.model)).ok()).collect())
}
