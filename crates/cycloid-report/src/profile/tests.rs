use super::call_graph::edges;
use super::flat::lines;
use super::*;
use cycloid_lab::measure::OPERATIONS;

/// `power` is called twice as often by `check` as by `sign`, and takes a tenth of the time there.
fn profile() -> Profile {
    let paths: [(&[&str], u64, f64); 6] = [
        (&["batch"], 100, 2.4),
        (&["batch", "sign"], 100, 2.1),
        (&["batch", "sign", "power"], 100, 2.0),
        (&["batch", "check"], 200, 0.25),
        (&["batch", "check", "power"], 200, 0.2),
        (&["poll"], 300, 0.1),
    ];
    let waits = vec![Wait { name: "queue".into(), times: 100, seconds: 1.0 }];
    Profile::from_paths("a test", 100, paths, waits)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn the_flat_profile_adds_up_and_has_each_name_once() {
    let profile = profile();
    let lines = lines(&profile);
    let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
    assert_eq!(names, ["power", "sign", "poll", "batch", "check"]);
    assert!(close(lines.iter().map(|line| line.own).sum(), profile.seconds()));
    assert_eq!(lines[0].calls, 300);
    assert!(close(lines[0].own, 2.2) && close(lines[0].total, 2.2));
    assert!(close(lines[3].own, 0.05) && close(lines[3].total, 2.4));
}

/// By call counts, `check` would get two thirds of the time of `power`; its true share is a tenth.
#[test]
fn time_is_attributed_by_path_and_not_by_call_counts() {
    let profile = profile();
    let [callers, callees] = edges(&profile, "power");
    assert!(callees.is_empty());
    let [sign, check] = &callers[..] else { panic!("{callers:?}") };
    assert_eq!((sign.name, sign.calls, check.name, check.calls), ("sign", 100, "check", 200));
    assert!(close(sign.own, 2.0) && close(check.own, 0.2));
    let [_, callees] = edges(&profile, "check");
    assert!(close(callees[0].own, 0.2));
    let [callers, callees] = edges(&profile, "batch");
    assert_eq!(callers[0].name, "");
    assert!(close(callees[0].own, 0.1) && close(callees[0].within, 2.0));
}

#[test]
fn recursive_calls_are_not_counted_twice() {
    let paths: [(&[&str], u64, f64); 2] = [(&["a"], 1, 3.0), (&["a", "a"], 1, 2.0)];
    let profile = Profile::from_paths("recursion", 1, paths, Vec::new());
    let lines = lines(&profile);
    assert_eq!(lines.len(), 1);
    assert!(close(lines[0].own, 3.0) && close(lines[0].total, 3.0));
}

#[test]
fn folded_stacks_have_each_path_with_its_own_nanoseconds() {
    let expected = "a test;batch 50000000\n\
                    a test;batch;sign 100000000\n\
                    a test;batch;sign;power 2000000000\n\
                    a test;batch;check 50000000\n\
                    a test;batch;check;power 200000000\n\
                    a test;poll 100000000\n";
    assert_eq!(folded(&[profile()]), expected);
}

#[test]
fn the_text_has_both_layouts_and_the_record_survives_json() {
    let report = Report {
        format: FORMAT,
        environment: cycloid_lab::environment::current(),
        workload: "test".into(),
        parameters: Default::default(),
        unit: "signature".into(),
        configurations: vec![Configuration {
            name: "batched".into(),
            clients: 32,
            operations: 5000,
            median_seconds: 0.0003,
            interval_seconds: [0.00029, 0.00031],
            first_seconds: Some(0.001),
            first_uses: 40,
        }],
        profiles: vec![profile()],
        overhead: Some(Overhead {
            span_ns: Some(60.0),
            span_off_ns: Some(1.0),
            ratio: cycloid_lab::record::Ratio {
                samples: 10,
                median: 1.001,
                interval: [0.999, 1.003],
            },
        }),
        notes: vec!["a note".into()],
    };
    let text = text(&report);
    for line in [
        "  batched                               32      300.000    3.3%     1000.000",
        " 88.00      2.200     2.200      300  7333.33  7333.33      22000.00 power",
        "[1]     96.0     0.050    2.350           100 batch [1]",
        "                 0.200    0.000       200/300     power [2]",
        "waiting: queue, 100 times, 1.000 s, 10000.0 us each",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
}

/// Two mutually recursive functions, and one that both call; a quarter of a second.
fn sampled(dear: u64) -> Profile {
    let node = |name: &str, samples: u64, children: Vec<Node>| Node {
        name: name.into(),
        samples,
        seconds: samples as f64 / 1000.0,
        children,
        ..Node::default()
    };
    let inner = node("even", 40, vec![node("leaf; of all", 30, Vec::new())]);
    let odd = node("odd", 90, vec![inner]);
    let roots = vec![node("even", 100, vec![odd]), node("leaf; of all", dear, Vec::new())];
    let samples = 100 + dear;
    let sampling = Sampling {
        requested_hertz: 997.0,
        delivered_hertz: 250.0,
        samples,
        cut_short: 0,
        lost: 0,
        processor_seconds: samples as f64 / 1000.0,
        handler_seconds: Some(0.002),
    };
    let sampling = Some(sampling);
    Profile { title: "t".into(), operations: 10, roots, waits: Vec::new(), sampling }
}

fn report(profile: Profile) -> Report {
    Report {
        format: FORMAT,
        environment: cycloid_lab::environment::current(),
        workload: "test".into(),
        parameters: Default::default(),
        unit: "operation".into(),
        configurations: Vec::new(),
        profiles: vec![profile],
        overhead: Some(Overhead {
            span_ns: None,
            span_off_ns: None,
            ratio: cycloid_lab::record::Ratio {
                samples: 10,
                median: 1.001,
                interval: [0.999, 1.003],
            },
        }),
        notes: Vec::new(),
    }
}

#[test]
fn mutually_recursive_functions_are_not_counted_twice() {
    let profile = sampled(100);
    let lines = lines(&profile);
    let of = |name: &str| lines.iter().find(|line| line.name == name).unwrap();
    assert_eq!((of("even").samples, of("even").total_samples), (20, 100));
    assert_eq!((of("odd").samples, of("odd").total_samples), (50, 90));
    assert_eq!((of("leaf; of all").samples, of("leaf; of all").total_samples), (130, 130));
    assert_eq!(lines.iter().map(|line| line.samples).sum::<u64>(), 200);
    let [callers, callees] = edges(&profile, "even");
    let callers: Vec<_> = callers.iter().map(|edge| (edge.name, edge.samples)).collect();
    assert_eq!(callers, [("", 100), ("odd", 40)]);
    assert_eq!((callees[0].name, callees[0].samples), ("odd", 90));
}

#[test]
fn the_text_of_samples_has_their_number_and_error() {
    let text = text(&report(sampled(100)));
    for line in [
        "sampling: 200 samples in 0.20 s of processor time; 997 per second requested,",
        " 65.00      0.130     0.130      130   8.8    0.130    13000.0000 leaf; of all",
        "[1]     65.0     0.130    0.000           130 leaf; of all [1]",
        "                 0.030    0.000        30/130     leaf; of all [1]",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}

#[test]
fn a_flame_graph_is_self_contained_and_has_every_name() {
    let svg = flame_graph(&report(sampled(100)));
    assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
    for name in ["even", "odd", "leaf, of all"] {
        assert!(svg.contains(name), "{name}");
    }
    // The addresses in it are XML namespaces or are in comments; nothing is fetched.
    let svg = svg.to_ascii_lowercase();
    for outside in ["src=", "href=\"http", "@import", "url(http", "fetch(", "xmlhttp", "import("] {
        assert!(!svg.contains(outside), "{outside}");
    }
}

#[test]
fn a_speedscope_file_has_stacks_of_frames_that_add_up() {
    let file: serde_json::Value = serde_json::from_str(&speedscope(&report(sampled(100)))).unwrap();
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let frames = file["shared"]["frames"].as_array().unwrap();
    let name = |frame: &serde_json::Value| frames[frame.as_u64().unwrap() as usize]["name"].clone();
    let profile = &file["profiles"][0];
    assert_eq!((&profile["type"], &profile["unit"]), (&"sampled".into(), &"nanoseconds".into()));
    let stacks = profile["samples"].as_array().unwrap();
    let weights = profile["weights"].as_array().unwrap();
    assert_eq!(stacks.len(), weights.len());
    let sum: u64 = weights.iter().map(|weight| weight.as_u64().unwrap()).sum();
    assert_eq!(
        (profile["startValue"].as_u64(), profile["endValue"].as_u64()),
        (Some(0), Some(sum))
    );
    assert_eq!(sum, 200_000_000);
    let third: Vec<_> = stacks[2].as_array().unwrap().iter().map(name).collect();
    assert_eq!(third, ["even", "odd", "even"]);
}

#[test]
fn a_difference_counts_only_beyond_the_sampling_error() {
    let verdict = |before, after| {
        let differences = differences(&report(sampled(before)), &report(sampled(after)));
        let names = &differences[0].names;
        let of = |name: &str| names.iter().find(|change| change.name == name).unwrap().verdict;
        (of("leaf; of all"), of("odd"))
    };
    assert_eq!(verdict(100, 110), (Verdict::Same, Verdict::Same));
    assert_eq!(verdict(100, 400), (Verdict::More, Verdict::Same));
    assert_eq!(verdict(400, 100), (Verdict::Less, Verdict::Same));
    let [before, after] = [report(sampled(100)), report(sampled(400))];
    let text = difference_text(&before, &after, 100);
    let line = " 13000.0000  43000.0000 +30000.0000 2366.4319     more  leaf; of all";
    assert!(text.lines().any(|other| other == line), "{text}");
    let svg = flame_graph_of_difference(&before, &after);
    assert!(svg.contains("leaf, of all") && svg.contains("rgb("));
    let spans = differences(&report(profile()), &report(profile()));
    assert!(spans[0].names.iter().all(|change| change.verdict == Verdict::Measured));
}

/// The environment variable that makes a process the sampled one.
const SAMPLED: &str = "CYCLOID_TEST_SAMPLED";

/// The sampler and its name resolution. Sampling affects a whole process, so this starts its own.
#[test]
fn a_busy_function_is_found_under_its_caller() {
    if std::env::var_os(SAMPLED).is_some() {
        return sample();
    }
    let test = "profile::tests::a_busy_function_is_found_under_its_caller";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(SAMPLED, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

fn sample() {
    struct Spin;

    #[inline(never)]
    fn spin_for_the_test() {
        for i in 0..200_000 {
            std::hint::black_box(i);
        }
    }

    impl cycloid_lab::measure::Operation for Spin {
        fn run(&mut self) -> Result<(), &'static str> {
            spin_for_the_test();
            std::hint::black_box(());
            Ok(())
        }

        /// Takes as long as a run, outside of the profile.
        fn renew(&mut self) -> Result<bool, &'static str> {
            self.run()?;
            Ok(true)
        }

        fn output(&self) -> Vec<u64> {
            Vec::new()
        }

        fn heap_held(&self) -> Option<u64> {
            None
        }
    }

    let base = stacks::Base::Function(OPERATIONS);
    let settings = Settings { seconds: 2.0, hertz: HERTZ };
    let measured = measured::measure(&mut Spin, Some(base), settings).unwrap();
    let sampling = measured.sampling;
    let ours = sampling.samples - sampling.cut_short;
    assert!(ours > 0 && sampling.lost == 0, "{sampling:?}");
    assert!(10 * sampling.cut_short < ours, "renewals are no part of the profile: {sampling:?}");
    let tree = measured.stacks.tree(0.001);
    let under = tree.iter().flat_map(|root| &root.children);
    let samples: u64 = under
        .filter(|node| node.name.ends_with("spin_for_the_test"))
        .map(|node| node.samples)
        .sum();
    assert!(samples * 4 >= ours * 3, "{tree:?}");
}
