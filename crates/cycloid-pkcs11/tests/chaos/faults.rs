//! The faults.

use std::time::Duration;

use super::dice::Dice;
use super::{Chaos, DAEMONS, LONGEST_CUT, STALE_AFTER};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    KillOne,
    KillTwo,
    KillAll,
    StopOne,
    PauseOne,
    CrashDatabase,
    CrashDatabaseAndKillOne,
    CutDatabaseBriefly,
    CutDatabaseBeyondTheBound,
    CutDatabaseAndKillOne,
}

impl Fault {
    pub(crate) const ALL: [Self; 10] = [
        Self::KillOne,
        Self::KillTwo,
        Self::KillAll,
        Self::StopOne,
        Self::PauseOne,
        Self::CrashDatabase,
        Self::CrashDatabaseAndKillOne,
        Self::CutDatabaseBriefly,
        Self::CutDatabaseBeyondTheBound,
        Self::CutDatabaseAndKillOne,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KillOne => "one daemon killed",
            Self::KillTwo => "two daemons killed",
            Self::KillAll => "all daemons killed",
            Self::StopOne => "one daemon stopped",
            Self::PauseOne => "one daemon hung",
            Self::CrashDatabase => "database crashed",
            Self::CrashDatabaseAndKillOne => "database crashed, daemon killed",
            Self::CutDatabaseBriefly => "database cut off briefly",
            Self::CutDatabaseBeyondTheBound => "database cut off for longer",
            Self::CutDatabaseAndKillOne => "database cut off, daemon killed",
        }
    }

    pub(crate) fn draw(dice: &mut Dice) -> Self {
        dice.one_of(&Self::ALL)
    }

    /// Makes the fault, and then repairs it. Daemons may still be starting afterwards.
    pub(crate) fn make(self, chaos: &mut Chaos) {
        let first = chaos.dice.below(DAEMONS as u64) as usize;
        let second = (first + 1) % DAEMONS;
        let mut time = |from: Duration, to: Duration| {
            let range = (to - from).as_millis() as u64;
            from + Duration::from_millis(chaos.dice.below(range))
        };
        let brief = time(Duration::ZERO, Duration::from_secs(1));
        let long = time(STALE_AFTER, LONGEST_CUT);
        match self {
            Self::KillOne => {
                chaos.daemons[first].kill();
                chaos.wait(brief);
            }
            Self::KillTwo => {
                chaos.daemons[first].kill();
                chaos.wait(brief / 4);
                chaos.daemons[second].kill();
                chaos.wait(brief);
            }
            Self::KillAll => {
                (0..DAEMONS).for_each(|number| chaos.daemons[number].kill());
                chaos.wait(brief);
            }
            Self::StopOne => {
                chaos.daemons[first].stop();
                chaos.wait(brief);
            }
            Self::PauseOne => {
                chaos.daemons[first].pause(true);
                chaos.wait(long);
                chaos.daemons[first].pause(false);
            }
            Self::CrashDatabase => chaos.server.crash(),
            Self::CrashDatabaseAndKillOne => {
                chaos.daemons[first].kill();
                chaos.server.crash();
            }
            Self::CutDatabaseBriefly => self.cut(chaos, brief, None),
            Self::CutDatabaseBeyondTheBound => self.cut(chaos, long, None),
            Self::CutDatabaseAndKillOne => self.cut(chaos, long, Some(first)),
        }
        for number in 0..DAEMONS {
            chaos.daemons[number].start();
        }
    }

    /// Stops the processes of the database, and kills and restarts a daemon meanwhile.
    fn cut(self, chaos: &mut Chaos, time: Duration, daemon: Option<usize>) {
        chaos.server.cut_off(true);
        chaos.wait(time / 2);
        if let Some(number) = daemon {
            chaos.daemons[number].kill();
            chaos.daemons[number].start();
        }
        chaos.wait(time / 2);
        chaos.server.cut_off(false);
    }
}
