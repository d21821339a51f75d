//! The workloads that can be profiled: each operation of each suite by name, ours or a peer's.

use std::fmt::Write;

use super::measured::{self, Settings};
use super::record::{Configuration, FORMAT, Profile, Report};
use cycloid_lab::measure::stack;
use cycloid_lab::peers::{Found, Peer};
use cycloid_lab::suite::subjects::{Setting, Subject};
use cycloid_lab::suite::{Descriptor, Effort, Suite, Work, list};
use cycloid_lab::{Failure, environment};

/// A user's choice of workload.
#[derive(Clone, Debug)]
pub struct Choice {
    /// A suite, and words of an operation's name.
    pub words: Vec<String>,
    /// The peer or backend that performs it; by default this library.
    pub implementation: Option<String>,
    /// Words of the row's name; by default the usual row.
    pub variant: Option<String>,
}

const NOTES: [&str; 5] = [
    "a sample is the stack of the thread at a tick of a timer on processor time; time is attributed by these \
     stacks, never by call counts; inlined functions have their own lines, except those inlined from Rust's \
     core, alloc and std, which count for their user",
    "assembly code without unwinding tables has no callers in a stack, or wrong ones; such samples are under \
     [stack cut short]",
    "first use: the first run in a new process, after its preparation; preparation may already have used a \
     peer's key",
    "later uses are timed without sampling, in turns of 100 ms that alternate with sampled turns",
    "seconds are processor time, divided among the samples; a batch counts as the number of its operations",
];

/// The full range of each suite, because operations that are not selected take no time here.
const EFFORT: Effort = Effort::Full;

/// Returns the suites with operations of this process, with all sizes that they usually measure.
fn suites() -> Vec<Box<dyn Suite>> {
    let alone = |suite: &&Descriptor| Some((suite.constructors()?.alone?)(EFFORT));
    list::ALL.iter().filter_map(alone).collect()
}

/// A listed operation of a suite.
struct Listed {
    suite: &'static str,
    title: String,
}

/// Lists the operations that can be profiled: all except those that measure themselves.
fn listed(suites: &[Box<dyn Suite>]) -> Vec<Listed> {
    let mut listed = Vec::new();
    for suite in suites {
        let plans = suite.plan(EFFORT, &[]).into_iter();
        let alone = plans.filter(|plan| matches!(plan.work, Work::Subjects(_)));
        listed
            .extend(alone.map(|plan| Listed { suite: suite.descriptor().name, title: plan.title }));
    }
    listed
}

/// Splits a name into lower-case words.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric() && letter != '×');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Splits a name into words, with letters and digits apart: p256 matches P-256.
fn tokens(name: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for word in words(name) {
        let mut before = None;
        for letter in word.chars() {
            let digit = letter.is_ascii_digit();
            match tokens.last_mut().filter(|_| before == Some(digit)) {
                Some(token) => token.push(letter),
                None => tokens.push(letter.into()),
            }
            before = Some(digit);
        }
    }
    tokens
}

/// Lists all workloads, one per line, as they are written on the command line.
pub fn list() -> String {
    let mut text = String::new();
    for Listed { suite, title } in listed(&suites()) {
        let mut title = words(&title);
        title.retain(|word| word != suite);
        let _ = writeln!(text, "{suite} {}", title.join("-"));
    }
    text
}

impl Listed {
    /// Returns whether its tokens include all of `wanted`.
    fn has(&self, wanted: &[String]) -> bool {
        let own = [tokens(self.suite), tokens(&self.title)].concat();
        wanted.iter().all(|wanted| own.contains(wanted))
    }
}

/// Finds the requested operation: the one with the shortest name that has all words.
fn find<'a>(listed: &'a [Listed], wanted: &[String]) -> Result<&'a Listed, Failure> {
    let hint = "run `cycloid profile --list` for the workloads; for example `cycloid profile ec p256-sign`";
    let (suite, rest) = wanted.split_first().expect("at least one word is required");
    if !listed.iter().any(|listed| listed.suite == suite) {
        return Err(match list::named(suite) {
            Some(known) if known.constructors().is_none() => Failure::new(
                format!("this program lacks the suite {suite}"),
                "install the program cycloid-peers beside cycloid",
            ),
            _ => Failure::new(format!("no suite is called '{suite}'"), hint),
        });
    }
    // A hyphenated word is either another spelling of one name, or several words.
    let rest: Vec<String> = rest.iter().flat_map(|word| tokens(word)).collect();
    let whole = rest.concat();
    let of_suite = || listed.iter().filter(|listed| listed.suite == suite);
    let exact = of_suite().find(|listed| {
        let title = words(&listed.title);
        title.concat() == whole
            || title.iter().filter(|word| *word != suite).map(String::as_str).collect::<String>()
                == whole
    });
    let fitting = of_suite().filter(|listed| listed.has(&rest));
    exact.or_else(|| fitting.min_by_key(|listed| words(&listed.title).len())).ok_or_else(|| {
        Failure::new(format!("{suite} has no operation with the words '{}'", rest.join(" ")), hint)
    })
}

/// Finds the requested row.
fn subject(
    setting: &Setting,
    mut subjects: Vec<Subject>,
    choice: &Choice,
) -> Result<Subject, Failure> {
    let same = |a: &str, b: &str| words(a).concat() == words(b).concat();
    let wanted = choice.variant.as_deref().map(tokens);
    let fits = |subject: &Subject| {
        let who = choice.implementation.as_ref().is_none_or(|wanted| {
            let names = [&subject.implementation.product, &subject.group, &subject.label];
            names.into_iter().any(|name| same(name, wanted))
        });
        let name = tokens(&format!("{} {}", subject.group, subject.label));
        let which =
            wanted.as_ref().is_none_or(|wanted| wanted.iter().all(|word| name.contains(word)));
        who && which
    };
    let usual = choice.implementation.is_none() && choice.variant.is_none();
    let place = if usual { Some(setting.reference) } else { subjects.iter().position(fits) };
    let rows: Vec<String> =
        subjects.iter().map(|subject| format!("{} {}", subject.group, subject.label)).collect();
    place.map(|place| subjects.swap_remove(place)).ok_or_else(|| {
        Failure::new(
            format!("{} has no such row", setting.title()),
            format!("its rows are {}, and those of available peers", rows.join("; ")),
        )
    })
}

/// Profiles the choice in this process.
///
/// # Errors
/// If there is no such workload, or it fails.
pub fn profile(choice: &Choice, settings: Settings) -> Result<Report, Failure> {
    let environment = environment::current();
    let suites = suites();
    let listed = listed(&suites);
    let chosen = find(&listed, &choice.words)?;
    stack::on_measuring_thread(|| {
        let peer = choice.implementation.as_ref().and_then(|name| Peer::from_list(name).ok());
        let peers: Vec<Found> = peer.into_iter().flatten().map(Peer::find).collect();
        if let Some(Found { peer, outcome: Err(missing), .. }) = peers.first() {
            return Err(Failure::new(
                format!("{} is missing: {}", peer.name(), missing.reason),
                missing.remedy.clone(),
            ));
        }
        let suite = suites
            .iter()
            .find(|suite| suite.descriptor().name == chosen.suite)
            .expect("the workload is listed");
        let plan = suite.plan(EFFORT, &peers).into_iter();
        let plan = plan
            .into_iter()
            .find(|plan| plan.title == chosen.title)
            .expect("the workload is listed");
        let Work::Subjects(prepare) = plan.work else { unreachable!("only such plans are listed") };
        let (setting, subjects) = prepare()?;
        let subject = subject(&setting, subjects, choice)?;
        report(environment, &setting, subject, settings)
    })
}

fn report(
    environment: cycloid_lab::record::Environment,
    setting: &Setting,
    mut subject: Subject,
    settings: Settings,
) -> Result<Report, Failure> {
    let measured = measured::measure(&mut *subject.operation, None, settings)?;
    let each = u64::from(subject.operations_per_call.max(1));
    let per = |seconds: f64| seconds / each as f64;
    let Subject { group, label, implementation, .. } = &subject;
    let mut parameters = setting.parameters.clone();
    let who = format!("{} {}", implementation.product, implementation.version);
    let row =
        if *group == implementation.product { label.clone() } else { format!("{group}, {label}") };
    parameters.insert("implementation".into(), who.clone().into());
    parameters.insert("row".into(), row.clone().into());
    parameters.insert("function".into(), implementation.function.clone().into());
    if let Some(backend) = &implementation.backend {
        parameters.insert("backend".into(), backend.clone().into());
    }
    let samples = measured.sampling.samples.max(1);
    let roots = measured.stacks.tree(measured.sampling.processor_seconds / samples as f64);
    Ok(Report {
        format: FORMAT,
        environment,
        workload: format!("{} {}", setting.suite, setting.title()),
        parameters,
        unit: "operation".into(),
        configurations: vec![Configuration {
            name: format!("{who}, {row}"),
            clients: 1,
            operations: measured.runs * each as usize,
            median_seconds: per(measured.median.value),
            interval_seconds: measured.median.interval.map(per),
            first_seconds: Some(per(measured.first)),
            first_uses: 1,
        }],
        profiles: vec![Profile {
            title: format!("{}, {who}, {row}", setting.title()),
            operations: measured.sampled_runs * each,
            roots,
            waits: Vec::new(),
            sampling: Some(measured.sampling),
        }],
        overhead: Some(measured.overhead),
        notes: NOTES.map(Into::into).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> String {
        let wanted: Vec<String> = words.iter().map(|word| (*word).into()).collect();
        let listed = listed(&suites());
        find(&listed, &wanted).map_or_else(|failure| failure.message, |found| found.title.clone())
    }

    #[test]
    fn operations_are_found_by_the_words_of_their_names() {
        for (words, title) in [
            (&["ec", "p256-sign"][..], "P-256, sign"),
            (&["ec", "P-256", "sign"], "P-256, sign"),
            (&["rsa", "2048-sign"], "RSA-2048, sign"),
            (&["modexp", "2048"], "modexp, 2048 bits"),
            (&["dh", "2048"], "ffdhe2048, shared secret"),
            (&["xyz"], "no suite is called 'xyz'"),
            (&["ec", "p-257"], "ec has no operation with the words 'p 257'"),
        ] {
            assert_eq!(found(words), title, "{words:?}");
        }
        assert!(found(&["dh", "generate"]).contains("generate"));
    }

    #[test]
    fn each_line_of_the_list_names_one_operation() {
        let listed = listed(&suites());
        let list = list();
        assert!(listed.len() > 40);
        for (line, listed) in list.lines().zip(&listed) {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(found(&words), listed.title, "{line}");
        }
    }
}
