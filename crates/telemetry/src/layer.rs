//! The layer that turns spans of `tracing` into spans of a trace.

use tokio::sync::mpsc;
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{ExtensionsMut, LookupSpan};

use crate::counts::Counts;
use crate::ids::{Place, SpanId, TraceId};
use crate::span::{Fields, Span};

/// The target of spans that are sent. Logs leave them out: they are no news for a reader.
pub const TARGET: &str = "traces";

/// True for spans that are sent. Use it as the filter of the layer, so that no other span costs anything.
pub fn is_trace(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == TARGET
}

/// Collects spans, and queues those that end.
#[derive(Debug)]
pub struct TraceLayer {
    queue: mpsc::Sender<Span>,
    counts: &'static Counts,
}

impl TraceLayer {
    pub(crate) fn new(queue: mpsc::Sender<Span>, counts: &'static Counts) -> Self {
        Self { queue, counts }
    }

    /// Queues a span, unless it ended before or is not sampled.
    fn end(&self, extensions: &mut ExtensionsMut<'_>) {
        let Some(mut span) = extensions.remove::<Span>() else { return };
        span.finish();
        if self.queue.try_send(span).is_err() {
            self.counts.add_dropped(1);
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(found) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        // The nearest span above that is sent too.
        let above = found.parent().and_then(|above| above.extensions().get::<Place>().copied());
        let parent = above.or(fields.parent);
        let place = Place {
            trace: parent.map_or_else(TraceId::new, |parent| parent.trace),
            span: SpanId::new(),
            is_sampled: parent.is_none_or(|parent| parent.is_sampled),
        };
        let mut extensions = found.extensions_mut();
        extensions.insert(place);
        if place.is_sampled {
            let name = attributes.metadata().name();
            let is_remote = above.is_none() && parent.is_some();
            let mut span = Span::begin(name, place, parent.map(|parent| parent.span), is_remote);
            span.apply(fields);
            extensions.insert(span);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(found) = context.span(id) else { return };
        let mut extensions = found.extensions_mut();
        let Some(span) = extensions.get_mut::<Span>() else { return };
        let mut fields = Fields::default();
        values.record(&mut fields);
        let is_end = fields.is_end;
        span.apply(fields);
        if is_end {
            self.end(&mut extensions);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(found) = context.span(&id) {
            self.end(&mut found.extensions_mut());
        }
    }
}
