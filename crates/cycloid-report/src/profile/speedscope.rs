//! Writes profiles for speedscope, following <https://www.speedscope.app/file-format-schema.json>.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::record::Report;

/// Formats all profiles of a report, each as stacks with their own nanoseconds.
pub fn speedscope(report: &Report) -> String {
    let mut frames: Vec<Value> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut profiles = Vec::new();
    for profile in &report.profiles {
        let (mut samples, mut weights, mut end) = (Vec::new(), Vec::new(), 0);
        profile.walk(&mut |node, within| {
            let weight = (node.own_seconds() * 1e9).round() as u64;
            if weight == 0 {
                return;
            }
            let names = within.iter().chain([&node]).map(|node| &*node.name);
            let stack: Vec<usize> = names
                .map(|name| {
                    *known.entry(name).or_insert_with(|| {
                        frames.push(json!({ "name": name }));
                        frames.len() - 1
                    })
                })
                .collect();
            samples.push(stack);
            weights.push(weight);
            end += weight;
        });
        profiles.push(json!({
            "type": "sampled",
            "name": profile.title,
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": end,
            "samples": samples,
            "weights": weights,
        }));
    }
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": format!("cycloid profile {}", report.workload),
        "exporter": report.environment.program,
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": profiles,
    });
    file.to_string() + "\n"
}
