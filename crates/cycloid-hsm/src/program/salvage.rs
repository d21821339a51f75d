//! `cycloid-hsm salvage` and `cycloid-hsm quarantine`: open a damaged keystore without a daemon.

use std::io::{self, BufRead};
use std::thread;
use std::time::Duration;

use cycloid_command::{Stop, output, terminal};
use cycloid_hsm::daemon::pin::Judge;
use cycloid_hsm::daemon::pin::offline::Officer;
use cycloid_hsm::daemon::{check_label, set_label};
use cycloid_hsm::store::{Decision, Finding, Store, Survey};
use cycloid_hsm::{Code, Error};

use crate::arguments::{
    Hsm, Pin, Quarantine, QuarantineCommand, Repair, Reverted, Salvage, SalvageCommand,
};
use crate::keystore::{home, open, open_to_salvage};
use crate::refusal::refused;
use crate::secrets::{new_pin, pin_of, secret};

/// Text for a repair that the manifest does not prove.
const UNPROVEN: &str = "\
warning: nothing proves that the other rows are complete and current. Each is authentic, but
whoever can write to the database could have deleted some, or put back earlier states: a key that
was destroyed, a former PIN, or fewer counted attempts at one. A repair accepts the rows as they
are. Compare with `cycloid-hsm audit show`, or restore the newest backup instead.
";

pub(super) fn run(hsm: &Hsm, salvage: &Salvage) -> Result<(), Stop> {
    match &salvage.command {
        SalvageCommand::Check => check(hsm),
        SalvageCommand::Repair(repair) => self::repair(hsm, repair),
    }
}

/// Returns the name of whoever runs this command, for the audit log.
fn who() -> String {
    format!("security officer, user {}", rustix::process::getuid().as_raw())
}

fn survey(hsm: &Hsm) -> Result<(Store, Survey), Stop> {
    let store = open_to_salvage(hsm)?;
    let survey = store.survey().map_err(|error| refused(&error))?;
    Ok((store, survey))
}

fn lines(survey: &Survey) -> String {
    survey.findings.iter().map(|finding| format!("{finding}\n")).collect()
}

fn check(hsm: &Hsm) -> Result<(), Stop> {
    let (store, survey) = survey(hsm)?;
    output::print(&lines(&survey))?;
    if survey.findings.is_empty() {
        let set_aside = store.quarantined().map_err(|error| refused(&error))?.len();
        eprintln!("the keystore is intact");
        if set_aside > 0 {
            eprintln!("{} in quarantine: `cycloid-hsm quarantine list`", rows(set_aside));
        }
        return Ok(());
    }
    match survey.is_proven {
        true => eprintln!("the manifest proves that all other rows are complete and current"),
        false => eprint!("{UNPROVEN}"),
    }
    let decision = match survey.needs_decision {
        true => ", with a decision about reverted or surplus rows (--reverted)",
        false => "",
    };
    Err(Stop::failed(
        format!("the keystore is damaged: {}", findings(&survey.findings)),
        format!(
            "stop the daemon, copy the database, and run `cycloid-hsm salvage repair`{decision}, or restore the newest backup into a new keystore"
        ),
    ))
}

fn findings(findings: &[Finding]) -> String {
    match findings.len() {
        1 => "1 finding".into(),
        count => format!("{count} findings"),
    }
}

fn rows(count: usize) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

/// Refuses if a daemon or another command uses the database.
fn needs_alone(store: &Store) -> Result<(), Stop> {
    match store.is_in_use().map_err(|error| refused(&error))? {
        false => Ok(()),
        true => Err(Stop::failed(
            "a daemon or another command uses the keystore",
            "stop every daemon on this database, then run the command again",
        )),
    }
}

fn needs_answer(yes: bool) -> Result<(), Stop> {
    if yes || terminal::is_there() {
        return Ok(());
    }
    Err(Stop::failed(
        "cannot ask for confirmation without a terminal",
        "give --yes to go on without asking",
    ))
}

fn confirm(yes: bool, question: &str, otherwise: &str) -> Result<(), Stop> {
    if yes {
        return Ok(());
    }
    eprint!("{question} [y/N] ");
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    match read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes") {
        true => Ok(()),
        false => Err(Stop::failed(otherwise, "answer y or give --yes to go on")),
    }
}

fn repair(hsm: &Hsm, repair: &Repair) -> Result<(), Stop> {
    needs_answer(repair.yes)?;
    check_label(&repair.label)
        .map_err(|error| Stop::usage(error.to_string(), "choose another label with --label"))?;
    let (store, survey) = survey(hsm)?;
    if survey.findings.is_empty() {
        eprintln!("the keystore is intact: nothing to repair");
        return Ok(());
    }
    eprint!("{}", lines(&survey));
    let decision = match repair.reverted {
        None => Decision::Refuse,
        Some(Reverted::Keep) => Decision::Keep,
        Some(Reverted::SetAside) => Decision::SetAside,
    };
    if survey.needs_decision && decision == Decision::Refuse {
        return Err(Stop::failed(
            "some rows are authentic, but reverted or deleted before; nothing was changed",
            "decide with --reverted keep or --reverted set-aside",
        ));
    }
    needs_alone(&store)?;
    match survey.is_proven {
        true => eprintln!("the manifest proves that all other rows are complete and current"),
        false => eprint!("{UNPROVEN}"),
    }
    let officer = officer(&store, &survey, repair)?;
    confirm(
        repair.yes,
        "set the damaged rows aside, and accept the other rows as they are?",
        "nothing was changed",
    )?;
    needs_alone(&store)?;
    let who = who();
    let lines = store
        .salvage(&survey, decision, &who, |write| {
            if survey.token_label_lost {
                set_label(write, &repair.label)?;
            }
            officer.settle(write, &who)
        })
        .map_err(|error| not_done(&error))?;
    output::print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    eprintln!(
        "{} set aside; the keystore in {} works again",
        rows(lines.len()),
        home(hsm)?.display()
    );
    eprintln!("keep a copy of the new head of the audit log: `cycloid-hsm audit verify`");
    Ok(())
}

fn not_done(error: &Error) -> Stop {
    match error.code {
        Code::ACTION_PROHIBITED | Code::FUNCTION_FAILED => {
            Stop::failed(error.to_string(), "see `cycloid-hsm salvage check`")
        }
        _ => refused(error),
    }
}

/// Authenticates the officer.
fn officer(store: &Store, survey: &Survey, repair: &Repair) -> Result<Officer, Stop> {
    if survey.officer_pin_lost {
        eprintln!(
            "the officer's PIN is lost; the key file or the passphrase suffices to set another"
        );
        let file = repair.new_officer_pin_file.as_deref();
        let pin = new_pin(file, "new security officer's PIN", "--new-officer-pin-file")?;
        return Officer::replaced(&pin).map_err(|error| refused(&error));
    }
    match survey.can_count_attempts {
        true => counted(store, &repair.pin, "salvage"),
        false => {
            let pin = officer_pin(&repair.pin)?;
            Officer::uncounted(store, &pin).map_err(|error| refused(&error))
        }
    }
}

fn officer_pin(pin: &Pin) -> Result<cycloid_hsm::rpc::Secret, Stop> {
    secret(pin.pin_file.as_deref(), pin_of("security officer's PIN"))
}

/// Authenticates the officer with a counted attempt. After too many wrong PINs, waits: the delay
/// begins when this program starts.
fn counted(store: &Store, pin: &Pin, what: &str) -> Result<Officer, Stop> {
    let judge = Judge::default();
    // The officer's PIN comes first; a damaged PIN of another role does not matter here.
    let _ = judge.observe(store);
    let pin = officer_pin(pin)?;
    let mut told = false;
    loop {
        match Officer::counted(&judge, store, &pin, &who(), what) {
            Err(error) if error.code == Code::PIN_LOCKED => {
                if !told {
                    eprintln!("{error} (this command waits)");
                    told = true;
                }
                thread::sleep(Duration::from_secs(1));
            }
            officer => return officer.map_err(|error| refused(&error)),
        }
    }
}

pub(super) fn quarantine(hsm: &Hsm, quarantine: &Quarantine) -> Result<(), Stop> {
    match &quarantine.command {
        QuarantineCommand::List => {
            let rows = open_to_salvage(hsm)?.quarantined().map_err(|error| refused(&error))?;
            output::print(&rows.iter().map(|row| format!("{row}\n")).collect::<String>())
        }
        QuarantineCommand::Restore(restore) => {
            let store = open_intact(hsm)?;
            quarantined(&store, restore.number)?;
            let (officer, who) = (counted(&store, &restore.pin, "quarantine restore")?, who());
            let row = store.write(|write| {
                officer.settle(write, &who)?;
                write.restore_quarantined(restore.number, restore.from.as_deref(), &who)
            });
            let row = row.map_err(|error| refused_row(&error))?;
            output::print(&format!("{row}\n"))?;
            eprintln!("restored {}", row.name);
            Ok(())
        }
        QuarantineCommand::Destroy(destroy) => {
            needs_answer(destroy.yes)?;
            let store = open_intact(hsm)?;
            eprintln!("{}", quarantined(&store, destroy.number)?);
            let question = "destroy this row? This cannot be undone.";
            confirm(destroy.yes, question, "nothing was destroyed")?;
            let (officer, who) = (counted(&store, &destroy.pin, "quarantine destroy")?, who());
            let row = store.write(|write| {
                officer.settle(write, &who)?;
                write.destroy_quarantined(destroy.number, &who)
            });
            let row = row.map_err(|error| refused_row(&error))?;
            eprintln!("destroyed {}", row.name);
            Ok(())
        }
    }
}

/// Returns the line of a row in quarantine. The officer is asked only if there is one: an attempt at
/// the PIN counts as wrong if nothing is done with it.
fn quarantined(store: &Store, number: u64) -> Result<String, Stop> {
    let rows = store.quarantined().map_err(|error| refused(&error))?;
    let row = rows.iter().find(|row| row.number == number);
    row.map(ToString::to_string).ok_or_else(|| {
        Stop::failed(
            format!("the quarantine has no number {number}"),
            "`cycloid-hsm quarantine list` lists the rows",
        )
    })
}

/// Opens a keystore without damage, alone.
fn open_intact(hsm: &Hsm) -> Result<Store, Stop> {
    let store = open(hsm)?;
    needs_alone(&store)?;
    store.load().map_err(|error| refused(&error))?;
    Ok(store)
}

fn refused_row(error: &Error) -> Stop {
    match error.code {
        Code::ACTION_PROHIBITED => Stop::failed(
            error.to_string(),
            "a row can also come from a copy of this keystore's database, with --from URL",
        ),
        Code::ARGUMENTS_BAD => {
            Stop::failed(error.to_string(), "`cycloid-hsm quarantine list` lists the rows")
        }
        _ => refused(error),
    }
}
