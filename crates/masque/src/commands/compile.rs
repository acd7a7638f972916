//! `masque compile`: a persona as one prompt.

use crate::cli::CompileArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(args: &CompileArgs, session: &Session, output: &mut Output) -> Result<()> {
    let compiled = session.library.compile_persona(&args.name).await?;
    if output.is_json() {
        return output.json(&compiled);
    }
    output.exact(if args.detail { &compiled.compiled_detail } else { &compiled.compiled_summary })
}
