//! The server's description of itself.

use std::sync::LazyLock;

use rmcp::model::{
    CacheScope, DiscoverResult, Implementation, InitializeResult, MetaObject, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};

use crate::limits::FIXED_TTL_MS;
use crate::skills;

const INSTRUCTIONS: &str = "Masque holds personas: named behaviours made of parts, traits, skills and guardrails. \
Load as little as you need: search_library or list_agent_personas to find one; get_persona_manifest to see what it \
is made of; get_agent_part, get_agent_trait, get_agent_skill or get_agent_guardrail for single pieces; \
get_agent_persona with compiled: true for the whole as one prompt. `overrides` exchanges parts for one call, \
max_tokens keeps an answer small. Several scopes can define a name (builtin < shared < global < project): \
the strongest wins, unless `scope` names one. A misspelled name returns suggestions.";

static INFO: LazyLock<ServerConfig> = LazyLock::new(|| {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_resources_list_changed()
        .enable_completions()
        .enable_extensions_with(skills::capability())
        .build();
    InitializeResult::new(capabilities)
        .with_server_info(implementation())
        .with_instructions(INSTRUCTIONS)
        .with_protocol_version(ProtocolVersion::LATEST)
});

/// Results of the stateless era carry the server's name, since there is no handshake.
static META: LazyLock<MetaObject> = LazyLock::new(|| {
    let mut meta = MetaObject::new();
    if let Ok(implementation) = serde_json::to_value(implementation()) {
        meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), implementation);
    }
    meta
});

fn implementation() -> Implementation {
    Implementation::new("masque", env!("CARGO_PKG_VERSION")).with_title("Masque")
}

pub(crate) fn server() -> ServerConfig {
    INFO.clone()
}

pub(crate) fn meta() -> MetaObject {
    META.clone()
}

/// The same for the stateless era.
pub(crate) fn discovered(versions: &[ProtocolVersion], server: ServerConfig) -> DiscoverResult {
    DiscoverResult::from_server_info(versions.to_vec(), server)
        .with_ttl_ms(FIXED_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}
