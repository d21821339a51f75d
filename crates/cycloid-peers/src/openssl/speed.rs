//! `openssl speed`, with each provider in turns.

use std::time::Instant;

use cycloid_lab::record::{Parameters, Summary, Table};
use cycloid_lab::suite::subjects::rounded;
use cycloid_lab::{Failure, interrupt};

use super::programs::{Place, Provider};
use super::{Compared, Subject};
use crate::turns::take;

const NOTES: [&str; 1] = [
    "`openssl speed -seconds 1`, with the system's OpenSSL: wall-clock time, one thread. With jobs, \
     -async_jobs starts this many at once, and signatures with RSA are computed eight at a time",
];

/// An operation of `openssl speed`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    key: &'static str,
    operation: &'static str,
    /// Its name on the command line.
    algorithm: &'static str,
    /// Which of the printed rates counts.
    rate: usize,
    /// The number of asynchronous jobs; 0 for none.
    jobs: usize,
}

impl Row {
    /// All rows; the first ones are measured with less time, too.
    pub(super) const ALL: [Self; 12] = [
        Self::new("RSA-2048", "sign", "rsa2048", 0, 32),
        Self::new("RSA-2048", "sign", "rsa2048", 0, 0),
        Self::new("P-256", "sign", "ecdsap256", 0, 0),
        Self::new("P-256", "verify", "ecdsap256", 1, 0),
        Self::new("P-256", "agree", "ecdhp256", 0, 0),
        Self::new("P-384", "sign", "ecdsap384", 0, 0),
        Self::new("X25519", "agree", "ecdhx25519", 0, 0),
        Self::new("Ed25519", "sign", "ed25519", 0, 0),
        Self::new("Ed25519", "verify", "ed25519", 1, 0),
        Self::new("RSA-3072", "sign", "rsa3072", 0, 32),
        Self::new("RSA-4096", "sign", "rsa4096", 0, 32),
        Self::new("RSA-2048", "verify", "rsa2048", 1, 0),
    ];

    const fn new(
        key: &'static str,
        operation: &'static str,
        algorithm: &'static str,
        rate: usize,
        jobs: usize,
    ) -> Self {
        Self { key, operation, algorithm, rate, jobs }
    }

    /// Returns its name in the table.
    pub(super) fn name(self) -> String {
        match self.jobs {
            0 => format!("{}, {}", self.key, self.operation),
            jobs => format!("{}, {}, {jobs} jobs", self.key, self.operation),
        }
    }

    fn arguments(self) -> Vec<String> {
        let mut arguments: Vec<String> = ["speed", "-mr", "-seconds", "1"].map(Into::into).into();
        if self.jobs > 0 {
            arguments.extend(["-async_jobs".into(), self.jobs.to_string()]);
        }
        arguments.push(self.algorithm.into());
        arguments
    }

    /// Measures it in interleaved rounds.
    pub(super) fn measure(
        self,
        place: &Place,
        compared: &Compared,
        rounds: usize,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let begin = Instant::now();
        let subjects: Vec<usize> = (0..compared.providers.len()).collect();
        let turns = take(&subjects, rounds, progress, |subject| {
            interrupt::check()?;
            Ok(1e9 / self.rate(place, compared.providers[subject].0)?)
        })?;
        let subject = Subject {
            operation: self.operation,
            group: "openssl speed".into(),
            name: self.name(),
            function: format!("openssl {}", self.arguments().join(" ")),
            parameters: Parameters::from([
                ("key".into(), self.key.into()),
                ("jobs".into(), self.jobs.into()),
            ]),
            summary: Summary::Rates,
            notes: &NOTES,
        };
        let services = subjects.iter().map(|_| None).collect();
        let seconds = rounded(begin.elapsed().as_secs_f64(), 2);
        Ok(compared.table(subject, &turns, services, seconds))
    }

    /// Returns the operations per second.
    fn rate(self, place: &Place, provider: Provider) -> Result<f64, Failure> {
        let failed = |message: String| {
            Failure::new(
                format!("`openssl {}` failed: {message}", self.arguments().join(" ")),
                "exclude this suite, or report this",
            )
        };
        let output = place.openssl(provider).args(self.arguments()).output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let rate = if output.status.success() { rate(&said, self.rate) } else { None };
        rate.ok_or_else(|| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

/// Reads a rate from the output of `openssl speed -mr`, such as `+F2:2:2048:2337.6:38056.9`.
fn rate(output: &str, index: usize) -> Option<f64> {
    let line = output.lines().find(|line| line.starts_with("+F"))?;
    let mut rates = line.split(':').skip(3).filter_map(|field| field.parse::<f64>().ok());
    rates.nth(index).filter(|rate| rate.is_finite() && *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(rate("+F2:2:2048:2337.5:38056.25\n", 0), Some(2337.5));
        assert_eq!(rate("+F2:2:2048:2337.5:38056.25\n", 1), Some(38056.25));
        assert_eq!(rate("+F6:0:253:Ed25519:15468.5:6175.25\n", 1), Some(6175.25));
        for output in ["", "+F2:2:2048:nan\n", "+F2:2:2048:0\n", "+F2:2:2048\n", "x:1:2:3:4\n"] {
            assert_eq!(rate(output, 0), None, "{output}");
        }
    }

    #[test]
    fn names_are_distinct() {
        let mut names: Vec<_> = Row::ALL.map(Row::name).into();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Row::ALL.len());
    }
}
