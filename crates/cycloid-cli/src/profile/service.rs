//! Services that profile themselves, because somebody who starts them says so in their environment.

use std::env;
use std::path::Path;

use cycloid_lab::Failure;
use cycloid_lab::profile::WholeRun;

use crate::output::{Destination, Stop};

/// Names the file for folded stacks.
const VARIABLE: &str = "CYCLOID_PROFILE";

/// Runs `work`, and writes its stacks where the environment says, if it does.
pub(crate) fn whole_run(title: &str, work: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
    let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
        return work();
    };
    let destination = Destination::new(Path::new(&path))?;
    let sampler = WholeRun::begin().map_err(|Failure { message, hint }| {
        Stop::Failed(Failure::new(format!("{message}, which {VARIABLE} asks for"), hint))
    })?;
    let done = work();
    let profile = sampler.end(title);
    destination.write(&profile.folded())?;
    let sampling = profile.sampling.expect("it was sampled");
    eprintln!(
        "{} samples in {:.2} s of processor time, {:.0} of {:.0} a second, are in {}",
        sampling.samples,
        sampling.processor_seconds,
        sampling.delivered_hertz,
        sampling.requested_hertz,
        Path::new(&path).display()
    );
    done
}
