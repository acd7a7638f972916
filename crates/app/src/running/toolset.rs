//! The tools of one run, and the personas that restrict them.

use std::sync::{Arc, OnceLock};

use agent::{Chosen, Mode, PendingCall, Permission, Selected, Tool, admits_prefix, select, select_below};
use llm::ToolSpec;
use tools::{Registered, RunContext, ToolSource, Toolbox};

use super::prepare::Prepared;

pub(super) struct Toolset {
    persona: Prepared,
    /// All tools, in a stable order: those of the sources by name, then the runtime's own.
    registered: Vec<Registered>,
    all: Arc<[Arc<Tool>]>,
    /// The personas that delegated to this one, nearest first.
    above: Vec<Prepared>,
    /// The offer of each mode, made when it is first needed: neither the persona nor the tools change
    /// during a run.
    in_build: OnceLock<Arc<Offer>>,
    in_plan: OnceLock<Arc<Offer>>,
}

/// The tools that a model is offered in a mode.
pub(super) struct Offer {
    pub(super) selected: Vec<Selected>,
    pub(super) specs: Arc<[ToolSpec]>,
    /// For the system prompt.
    pub(super) strategy: Option<String>,
}

impl Toolset {
    /// Takes the sources' tools and the runtime's own. No source can replace one of the latter.
    pub(super) fn new(
        persona: Prepared,
        provided: Toolbox,
        own: Vec<Registered>,
        above: Vec<Prepared>,
    ) -> Self {
        let is_own = |name: &str| own.iter().any(|registered| registered.tool.name == name);
        let mut registered: Vec<Registered> =
            provided.into_tools().filter(|provided| !is_own(&provided.tool.name)).collect();
        registered.extend(own);
        let all = registered.iter().map(|registered| Arc::clone(&registered.tool)).collect();
        Self { persona, registered, all, above, in_build: OnceLock::new(), in_plan: OnceLock::new() }
    }

    /// The persona that has these tools.
    pub(super) fn persona(&self) -> &Prepared {
        &self.persona
    }

    /// All tools, those included that a mode or a preset hides.
    pub(super) fn all(&self) -> Arc<[Arc<Tool>]> {
        Arc::clone(&self.all)
    }

    /// The offer of a mode. The same list decides what runs.
    pub(super) fn offered(&self, mode: Mode) -> Arc<Offer> {
        let offer = match mode {
            Mode::Plan => &self.in_plan,
            Mode::Build => &self.in_build,
        };
        Arc::clone(offer.get_or_init(|| Arc::new(self.offer(&self.all, mode))))
    }

    /// The offer of a mode for these calls. A server may have announced other hints for its tools since
    /// they were offered.
    pub(super) async fn offered_for(&self, mode: Mode, calls: &[PendingCall]) -> Arc<Offer> {
        let mut renewed: Option<Vec<Arc<Tool>>> = None;
        for PendingCall { call, .. } in calls {
            let Some(registered) = self.get(&call.name) else { continue };
            let hints = registered.hints().await;
            if hints == registered.tool.annotations {
                continue;
            }
            let all = renewed.get_or_insert_with(|| self.all.to_vec());
            for tool in all.iter_mut().filter(|tool| tool.name == call.name) {
                Arc::make_mut(tool).annotations = hints;
            }
        }
        match renewed {
            Some(tools) => Arc::new(self.offer(&tools, mode)),
            None => self.offered(mode),
        }
    }

    /// The tools that ask because the user has not confirmed the persona's presets.
    pub(super) fn withheld(&self) -> Vec<String> {
        if self.persona.unconfirmed.is_empty() {
            return Vec::new();
        }
        let own = Chosen { auto_counts: true, ..chosen(&self.persona, Mode::Build) };
        let granted = select(&self.all, &own);
        let offered = self.offered(Mode::Build);
        let asks = |selected: &&Selected| selected.permission == Permission::Ask;
        let would_run =
            |name: &str| granted.iter().any(|it| it.tool.name == name && it.permission == Permission::Allow);
        let names = offered.selected.iter().filter(asks).map(|selected| selected.tool.name.clone());
        names.filter(|name| would_run(name)).collect()
    }

    fn offer(&self, tools: &[Arc<Tool>], mode: Mode) -> Offer {
        let above: Vec<_> = self.above.iter().map(|above| chosen(above, mode)).collect();
        let persona = &self.persona;
        let selected = select_below(tools, &chosen(persona, mode), &above);
        let specs = selected.iter().map(|selected| selected.spec.clone()).collect();
        let strategy = agent::strategy(persona.preset(mode), persona.bias.as_ref(), &selected);
        let strategy = strategy.filter(|_| !persona.is_silent);
        Offer { selected, specs, strategy }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Registered> {
        self.registered.iter().find(|registered| registered.tool.name == name)
    }
}

fn chosen(prepared: &Prepared, mode: Mode) -> Chosen<'_> {
    Chosen {
        mode,
        preset: prepared.preset(mode),
        bias: prepared.bias.as_ref(),
        deny: &prepared.deny,
        auto_counts: prepared.auto_counts,
    }
}

/// Collects the tools of all sources for a persona, and what they could not provide.
pub(super) async fn collect(
    sources: impl IntoIterator<Item = &Arc<dyn ToolSource>>,
    root: Option<&str>,
    prepared: &Prepared,
) -> (Toolbox, Vec<String>) {
    let admits = |prefix: &str| {
        [Mode::Build, Mode::Plan].into_iter().any(|mode| admits_prefix(prepared.preset(mode), prefix))
    };
    let run = RunContext { root, admits: &admits };
    let (mut toolbox, mut problems) = (Toolbox::new(), Vec::new());
    for source in sources {
        let provided = source.tools(run).await;
        toolbox.add(provided.tools);
        problems.extend(provided.problems);
    }
    (toolbox, problems)
}
