//! Interleaved rounds of measurements that are not calls in this process.

use cycloid_lab::Failure;
use cycloid_lab::measure::random::Random;
use cycloid_lab::measure::statistics;
use cycloid_lab::record::Ratio;
use cycloid_lab::suite::subjects::ratio;

/// The results of interleaved rounds: per subject in the order of the rounds, and of the control.
pub(crate) struct Turns<T> {
    pub(crate) of: Vec<Vec<T>>,
    pub(crate) control: Vec<T>,
}

impl<T> Turns<T> {
    pub(crate) fn map(&self, f: impl Fn(&T) -> f64) -> Turns<f64> {
        Turns {
            of: self.of.iter().map(|turns| turns.iter().map(&f).collect()).collect(),
            control: self.control.iter().map(&f).collect(),
        }
    }
}

/// Measures these subjects in interleaved rounds, in a new random order every round. The first one
/// runs twice in each, the second time as the control.
pub(crate) fn take<T>(
    subjects: &[usize],
    rounds: usize,
    progress: &mut dyn FnMut(f64),
    mut turn: impl FnMut(usize) -> Result<T, Failure>,
) -> Result<Turns<T>, Failure> {
    let mut random = Random::new(rounds as u64);
    let mut turns =
        Turns { of: subjects.iter().map(|_| Vec::new()).collect(), control: Vec::new() };
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..=subjects.len()).collect();
        random.shuffle(&mut order);
        for (done, i) in order.into_iter().enumerate() {
            match turns.of.get_mut(i) {
                Some(of) => of.push(turn(subjects[i])?),
                None => turns.control.push(turn(subjects[0])?),
            }
            let done = round as f64 + (done + 1) as f64 / (subjects.len() + 1) as f64;
            progress(done / rounds as f64);
        }
    }
    Ok(turns)
}

/// Returns the times relative to those of the same rounds.
pub(crate) fn compared(times: &[f64], reference: &[f64]) -> Ratio {
    let ratios: Vec<f64> =
        times.iter().zip(reference).map(|(time, reference)| time / reference).collect();
    ratio(ratios.len(), statistics::estimate(&ratios))
}
