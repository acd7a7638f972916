//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write as _};

/// The type of a family.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    Counter,
    Gauge,
    Histogram,
}

impl Type {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Metrics as text.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

// Writing into memory does not fail.
impl Exposition {
    /// Begins a family. Its samples follow.
    pub(super) fn family(&mut self, name: &str, of: Type, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {}\n", of.as_str());
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.part(name, "", labels, value);
    }

    /// A sample of a histogram.
    pub(super) fn part(&mut self, name: &str, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.0, "{name}{suffix}");
        for (at, (label, value)) in labels.iter().enumerate() {
            let open = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{open}{label}=\"{}\"", escaped(value));
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{close} {value}");
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// Names of models come from providers.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted() {
        let mut text = Exposition::default();
        text.family("masque_x_total", Type::Counter, "Xs.");
        text.sample("masque_x_total", &[], 3);
        text.sample("masque_x_total", &[("a", "b\"\\\nc"), ("d", "")], 0.5);
        assert_eq!(
            text.into_text(),
            "# HELP masque_x_total Xs.\n# TYPE masque_x_total counter\nmasque_x_total 3\n\
             masque_x_total{a=\"b\\\"\\\\\\nc\",d=\"\"} 0.5\n"
        );
    }
}
