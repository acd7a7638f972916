//! The parts of the server, by path.

/// The part of the server that a path belongs to. Each has its own rules for callers without a token, and
/// its own form of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// `/healthz` and `/readyz`: open, and silent to strangers.
    Health,
    /// `/.well-known/…`: nothing is there. MCP clients look for OAuth here after a refusal.
    WellKnown,
    Mcp,
    Api,
    Metrics,
    /// The page: every other path.
    Page,
}

impl Place {
    pub(crate) fn of(path: &str) -> Self {
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        match first {
            "healthz" | "readyz" => Self::Health,
            ".well-known" => Self::WellKnown,
            "mcp" => Self::Mcp,
            "api" => Self::Api,
            "metrics" => Self::Metrics,
            _ => Self::Page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Place::{self, Api, Health, Mcp, Metrics, Page, WellKnown};

    #[test]
    fn the_first_segment_decides() {
        for (path, place) in [
            ("/", Page),
            ("", Page),
            ("/personas/mentor", Page),
            ("/assets/index-1a2b.js", Page),
            ("/apiary", Page),
            ("/api", Api),
            ("/api/", Api),
            ("/api/openapi.json", Api),
            ("//api/sessions", Api),
            ("/mcp", Mcp),
            ("/metrics", Metrics),
            ("/healthz", Health),
            ("/readyz", Health),
            ("/.well-known/oauth-protected-resource/mcp", WellKnown),
        ] {
            assert_eq!(Place::of(path), place, "{path}");
        }
    }
}
