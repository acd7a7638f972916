//! Commands that are not operations, each with the reason.

/// Commands without an operation, and why.
pub const COMMAND_LINE_ONLY: &[(&str, &str)] = &[
    ("init", "writes a first personas.toml on this machine"),
    ("edit", "opens an editor on this machine; other fronts read, change and save an entity"),
    ("db", "backs up, copies, prunes or describes the database that the server itself holds open"),
    ("serve", "starts the HTTP front"),
    ("mcp", "starts the MCP front"),
    ("connect", "writes the configuration of a client on this machine"),
    ("disconnect", "writes the configuration of a client on this machine"),
    ("trust", "only the person at this machine may trust a project"),
    ("doctor", "checks the configuration of this machine"),
    ("rehearse", "plays a scripted model, for tests"),
    ("schema", "prints the JSON Schemas of personas.toml and track.toml, for editors"),
    ("completions", "prints a completion script for a shell"),
    ("man", "writes the manual pages"),
    ("sessions export", "prints the turns of a session, which get_session has"),
];
