//! Tests of personas, and comparisons of their versions.

use app::inputs::{ByTest, CompareTests, ListTests, TestPersona};
use app::testing::{StartedTest, TestEvent, TestList, TestReport};

use super::prelude::*;
use crate::{Absence, Cli, Effect, Media, OperationFn};

const NO_COMMAND: Cli = no_command("masque test and masque compare follow their own runs");
const NO_TOOL: Mcp = no_tool("test_persona and compare_persona answer when their run is over");

const fn tool_through(operation: &'static str) -> Mcp {
    Mcp::Absent(Absence::Through(operation))
}

const fn command_through(operation: &'static str) -> Cli {
    Cli::Absent(Absence::Through(operation))
}

pub(super) const OPERATIONS: &[Operation] = &[
    op!(test_persona, Derive, "Run a persona's test inputs and check its replies",
    tool(Author), http_through("start_test"), command("test"),
    TestPersona => TestReport, |cx, input| cx.runtime()?.test_persona(input)),
    op!(compare_persona, Derive, "Compare two versions of a persona on its test inputs",
    tool(Author), http_through("start_comparison"), command("compare"),
    CompareTests => TestReport, |cx, input| cx.runtime()?.compare_persona(input)),
    op!(start_test, Create, "Start a test of a persona; its events tell when it is over",
    tool_through("test_persona"), post("/api/tests"), command_through("test_persona"),
    TestPersona => StartedTest, |cx, input| cx.runtime()?.start_test(input)),
    op!(start_comparison, Create, "Start a comparison of two versions of a persona; it is a test run with two columns",
    tool_through("compare_persona"), post("/api/compare"), command_through("compare_persona"),
    CompareTests => StartedTest, |cx, input| cx.runtime()?.start_comparison(input)),
    op!(list_tests, Read, "List the last test runs, newest first, without their cells",
    NO_TOOL, get("/api/tests"), NO_COMMAND,
    ListTests => TestList, |cx, input| cx.runtime()?.test_runs(input)),
    op!(get_test, Read, "A test run with its cells, under way or over",
    NO_TOOL, get("/api/tests/{id}"), NO_COMMAND,
    ByTest => TestReport, |cx, input| cx.runtime()?.test_run(input.id)),
    Operation {
        name: "watch_test",
        summary: "Stream the events of a test run, from its beginning to its end",
        effect: Effect::Read,
        mcp: NO_TOOL,
        http: get("/api/tests/{id}/events"),
        cli: NO_COMMAND,
        input: |generator| generator.subschema_for::<ByTest>(),
        output: |generator| generator.subschema_for::<TestEvent>(),
        media: Media::Events,
        run: OperationFn::TestEvents(|cx, fields| {
            Box::pin(async move {
                let input: ByTest = crate::parse(fields)?;
                Ok(cx.runtime()?.test_events(input.id).await?)
            })
        }),
    },
    op!(cancel_test, Overwrite, "Cancel a test run; cells under way become unfinished",
    NO_TOOL, post("/api/tests/{id}/cancel"), NO_COMMAND,
    ByTest => TestReport, |cx, input| cx.runtime()?.cancel_test(input.id)),
];
