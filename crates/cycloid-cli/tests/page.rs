//! The page of `cycloid report` in a browser, as narrow as a telephone: it fits, tables sort, bars
//! of flame graphs zoom, the dark theme is dark, and the console stays empty.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// In CSS pixels.
const WIDTH: u32 = 360;
const HEIGHT: u32 = 740;

/// A document that embeds the page, operates it, and writes the results as its text.
const DRIVER: &str = r#"<!DOCTYPE html><meta charset="utf-8"><title>driver</title>
<body><iframe id="frame" style="border:0;width:WIDTHpx;height:800px"></iframe>
<pre id="results"></pre><script>
const finish = (results) => {
  document.getElementById("frame").remove();
  document.getElementById("results").textContent = JSON.stringify(results);
};
frame.onload = () => {
  try {
    const page = frame.contentDocument;
    const root = page.documentElement;
    const folded = root.scrollWidth;
    const plot = page.querySelector(".picture svg").getBoundingClientRect().bottom;
    const loose = Array.from(page.querySelectorAll("table")).filter((t) => !t.closest(".scroll"));
    page.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    const column = (table, index) =>
      Array.from(table.tBodies[0].rows, (row) => row.cells[index].textContent);
    const press = (table, index) => {
      const button = table.tHead.rows[0].cells[index].querySelector("button");
      button.focus();
      if (page.activeElement !== button) throw new Error("a head of a table takes no focus");
      button.click();
      return { order: table.tHead.rows[0].cells[index].getAttribute("aria-sort"),
               cells: column(table, index) };
    };
    const tables = Array.from(page.querySelectorAll("table"));
    const sorted = tables.map((table) => {
      const last = Array.from(table.tHead.rows[0].cells).findLastIndex((c) => !c.classList.contains("t"));
      const before = column(table, Math.max(last, 0));
      return last < 1 ? null : { before, up: press(table, last), down: press(table, last) };
    }).filter((one) => one);
    const names = [press(tables[0], 0).cells, press(tables[0], 0).cells];
    const bar = page.querySelector(".flame ul .f0, .flame ul span");
    const width = () => Math.round(bar.parentElement.getBoundingClientRect().width);
    const bars = [width()];
    const list = bar.closest(".flame").getBoundingClientRect().width;
    bar.click(); bars.push(width());
    bar.click(); bars.push(width());
    const paper = getComputedStyle(page.body).backgroundColor.match(/\d+/g).map(Number);
    finish({ plot, loose: loose.length, folded, open: root.scrollWidth, inner: frame.contentWindow.innerWidth, sorted, names,
             bars, list: Math.round(list), paper, text: page.body.innerText.length });
  } catch (error) { finish({ error: String(error) }); }
};
frame.src = "PAGE";
</script></body>"#;

/// Writes the page of the committed records.
fn page() -> PathBuf {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    let _ = fs::remove_file(&page);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = support::cycloid()
        .args(["report", "--output"])
        .arg(&page)
        .current_dir(repository)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("wrote ") && output.stdout.is_empty(), "{said}");
    page
}

/// Returns the results of [`DRIVER`], in a light or a dark browser.
fn in_browser(page: &Path, dark: bool) -> Value {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{dark}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let driver = folder.join("driver.html");
    let url = format!("file://{}", page.display());
    fs::write(&driver, DRIVER.replace("WIDTH", &WIDTH.to_string()).replace("PAGE", &url)).unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        // Tests may run as root, and the driver reads into another local file, the page.
        .args(["--no-sandbox", "--allow-file-access-from-files", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", driver.display()))
        .stdin(Stdio::null())
        .output()
        .expect("Chromium is needed: apt install chromium");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let complaints: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    let dumped = String::from_utf8(output.stdout).unwrap();
    let results =
        dumped.split("<pre id=\"results\">").nth(1).unwrap().split("</pre>").next().unwrap();
    let results = results.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let results: Value =
        serde_json::from_str(&results).unwrap_or_else(|_| panic!("{dumped}\n{said}"));
    assert!(results.get("error").is_none(), "{results}");
    results
}

fn texts(cells: &Value) -> Vec<&str> {
    cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect()
}

/// Parses cells as numbers; cells without a number become `None`.
fn numbers(cells: &Value) -> Vec<Option<f64>> {
    texts(cells).iter().map(|cell| cell.replace(',', "").parse().ok()).collect()
}

#[test]
fn the_page_fits_and_works_on_a_telephone() {
    let page = page();
    assert!(fs::metadata(&page).unwrap().len() < 1 << 20);
    for dark in [false, true] {
        let found = in_browser(&page, dark);
        assert_eq!(found["inner"], WIDTH);
        for width in ["folded", "open"] {
            assert!(
                found[width].as_u64().unwrap() <= u64::from(WIDTH),
                "{width}: {}",
                found[width]
            );
        }
        // The whole first plot is on the first screen, and every table is in a box that scrolls.
        assert!(found["plot"].as_f64().unwrap() <= f64::from(HEIGHT), "{}", found["plot"]);
        assert_eq!(found["loose"], 0);
        assert!(found["text"].as_u64().unwrap() > 10_000);

        let tables = found["sorted"].as_array().unwrap();
        assert!(tables.len() > 30);
        let mut moved = 0;
        for table in tables {
            for (which, order) in [("up", "ascending"), ("down", "descending")] {
                assert_eq!(table[which]["order"], order);
                let numbers = numbers(&table[which]["cells"]);
                let known: Vec<f64> = numbers.iter().map_while(|number| *number).collect();
                assert!(
                    numbers[known.len()..].iter().all(Option::is_none),
                    "unknown values come last"
                );
                match which {
                    "up" => assert!(known.is_sorted()),
                    _ => assert!(known.iter().rev().is_sorted()),
                }
                let (mut before, mut after) =
                    (texts(&table["before"]), texts(&table[which]["cells"]));
                moved += usize::from(before != after);
                before.sort_unstable();
                after.sort_unstable();
                assert_eq!(before, after, "no row is lost");
            }
        }
        assert!(moved > tables.len() / 2);
        let (up, down) = (texts(&found["names"][0]), texts(&found["names"][1]));
        assert_eq!(up, down.into_iter().rev().collect::<Vec<_>>());

        let bars: Vec<u64> =
            found["bars"].as_array().unwrap().iter().map(|width| width.as_u64().unwrap()).collect();
        assert!(bars[0] < bars[1] && bars[1] == found["list"].as_u64().unwrap(), "{found}");
        assert_eq!(bars[0], bars[2]);

        let paper = found["paper"].as_array().unwrap();
        assert!(paper.iter().all(|part| (part.as_u64().unwrap() < 60) == dark), "{paper:?}");
    }
}

#[test]
fn folders_of_records_and_histories_are_read() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let report = |arguments: &[&str]| {
        let mut command = support::cycloid();
        command.arg("report").args(arguments).args(["--output", "-"]).current_dir(&folder);
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, _, said) = report(&["."]);
    assert!(code == Some(2) && said.starts_with("error: no record in ."), "{said}");

    fs::copy(results.join("dh-zen-5.json"), folder.join("dh.json")).unwrap();
    let question = "What changed from run to run?";
    let (code, page, _) = report(&["."]);
    assert!(code == Some(0) && page.contains("ffdhe2048") && !page.contains(question));
    let history = results.join("history.jsonl");
    let (_, page, _) = report(&[".", "--history", history.to_str().unwrap()]);
    assert!(page.contains(question));
    // A folder's own history needs no option.
    fs::copy(&history, folder.join("history.jsonl")).unwrap();
    assert!(report(&["."]).1.contains(question));
    fs::write(folder.join("history.jsonl"), "{}").unwrap();
    let (code, _, said) = report(&["."]);
    assert!(code == Some(1) && said.contains("history.jsonl, line 1: "), "{said}");
}

#[test]
fn the_page_does_not_replace_what_it_is_made_from() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let record = folder.join("dh.json");
    fs::copy(results.join("dh-zen-5.json"), &record).unwrap();
    let before = fs::read(&record).unwrap();
    for (input, output) in
        [("dh.json", "dh.json"), ("./dh.json", "../kept/dh.json"), (".", "dh.json")]
    {
        let mut command = support::cycloid();
        command.args(["report", input, "--output", output]).current_dir(&folder);
        let said = command.output().unwrap();
        let error = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{error}");
        assert!(
            error.contains(&format!("would replace {output}, which it is made from")),
            "{error}"
        );
        assert_eq!(fs::read(&record).unwrap(), before);
    }
    // A page of an earlier run is replaced.
    for _ in 0..2 {
        let mut command = support::cycloid();
        command.args(["report", ".", "--output", "page.html"]).current_dir(&folder);
        assert!(command.output().unwrap().status.success());
    }
}
