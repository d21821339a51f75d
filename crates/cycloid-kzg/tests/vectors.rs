//! The published vectors of EIP-4844 and EIP-7594 (vectors/README.md) on two backends.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cycloid::bls12_381::{Backend, Cycloid};
use cycloid_blst::Blst;
use cycloid_kzg::{Error, Settings};
use serde_json::Value;

#[test]
fn own() {
    run::<Cycloid>();
}

#[test]
fn blst() {
    run::<Blst>();
}

/// The number of cases of each function, so that a missing one is found.
const COUNTS: [(&str, usize); 12] = [
    ("blob_to_kzg_commitment", 11),
    ("compute_blob_kzg_proof", 15),
    ("compute_cells", 11),
    ("compute_cells_and_kzg_proofs", 11),
    ("compute_challenge", 9),
    ("compute_kzg_proof", 52),
    ("compute_verify_cell_kzg_proof_batch_challenge", 10),
    ("recover_cells_and_kzg_proofs", 18),
    ("verify_blob_kzg_proof", 29),
    ("verify_blob_kzg_proof_batch", 24),
    ("verify_cell_kzg_proof_batch", 32),
    ("verify_kzg_proof", 122),
];

/// Functions that this crate does not export: the outputs of the others depend on them.
const INTERNAL: [&str; 2] = ["compute_challenge", "compute_verify_cell_kzg_proof_batch_challenge"];

fn run<B: Backend>() {
    let settings = Settings::<B>::mainnet();
    let pieces = read("pieces.bin");
    let cases: Value = serde_json::from_slice(&read("cases.json")).expect("JSON");
    let mut counts = BTreeMap::new();
    for case in cases.as_array().expect("a list") {
        let function = case["function"].as_str().expect("a name");
        *counts.entry(function).or_insert(0) += 1;
        if INTERNAL.contains(&function) {
            continue;
        }
        let input = Input { fields: &case["input"], pieces: &pieces };
        let output = call(&settings, function, &input).unwrap_or(Output::Invalid);
        let expected = expected(&case["output"], &pieces);
        assert!(output == expected, "{}: {} {}", B::NAME, case["name"], output.name());
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), COUNTS);
}

/// The output of a function: byte strings, the validity of a proof, or an error.
#[derive(PartialEq)]
enum Output {
    Bytes(Vec<Vec<u8>>),
    Verified(bool),
    Invalid,
}

impl Output {
    fn name(&self) -> String {
        match self {
            Self::Bytes(all) => format!("gives {} other byte strings", all.len()),
            Self::Verified(valid) => format!("gives {valid}"),
            Self::Invalid => "gives an error".into(),
        }
    }
}

fn call<B: Backend>(
    settings: &Settings<B>,
    function: &str,
    input: &Input<'_>,
) -> Result<Output, Error> {
    let one = |name: &str| input.bytes(name);
    let many = |name: &str| input.list(name);
    let verified = |outcome: Result<(), Error>| match outcome {
        Ok(()) => Ok(Output::Verified(true)),
        Err(Error::Verification) => Ok(Output::Verified(false)),
        Err(error) => Err(error),
    };
    let all = |(cells, proofs): (Vec<cycloid_kzg::Cell>, Vec<cycloid_kzg::Point>)| {
        let cells = cells.iter().map(|cell| cell.to_vec());
        Output::Bytes(cells.chain(proofs.iter().map(|proof| proof.to_vec())).collect())
    };
    Ok(match function {
        "blob_to_kzg_commitment" => Output::Bytes(vec![settings.commit(&one("blob"))?.to_vec()]),
        "compute_kzg_proof" => {
            let (proof, y) = settings.prove(&one("blob"), &one("z"))?;
            Output::Bytes(vec![proof.to_vec(), y.to_vec()])
        }
        "compute_blob_kzg_proof" => {
            Output::Bytes(vec![settings.prove_blob(&one("blob"), &one("commitment"))?.to_vec()])
        }
        "verify_kzg_proof" => {
            verified(settings.verify(&one("commitment"), &one("z"), &one("y"), &one("proof")))?
        }
        "verify_blob_kzg_proof" => {
            verified(settings.verify_blob(&one("blob"), &one("commitment"), &one("proof")))?
        }
        "verify_blob_kzg_proof_batch" => {
            verified(settings.verify_blobs(&many("blobs"), &many("commitments"), &many("proofs")))?
        }
        "compute_cells" => {
            let cells = settings.cells(&one("blob"))?;
            Output::Bytes(cells.iter().map(|cell| cell.to_vec()).collect())
        }
        "compute_cells_and_kzg_proofs" => all(settings.cells_and_proofs(&one("blob"))?),
        "recover_cells_and_kzg_proofs" => all(settings.recover(&input.indices(), &many("cells"))?),
        "verify_cell_kzg_proof_batch" => verified(settings.verify_cells(
            &many("commitments"),
            &input.indices(),
            &many("cells"),
            &many("proofs"),
        ))?,
        _ => panic!("no function is called {function}"),
    })
}

fn expected(output: &Value, pieces: &[u8]) -> Output {
    match output {
        Value::Null => Output::Invalid,
        Value::Bool(valid) => Output::Verified(*valid),
        Value::String(text) => Output::Bytes(vec![bytes(text, pieces)]),
        Value::Array(parts) => {
            // A proof and a value, or a list of cells, or a list of cells and a list of proofs.
            let flat = parts.iter().flat_map(|part| match part {
                Value::Array(members) => members.as_slice(),
                _ => std::slice::from_ref(part),
            });
            let text = |value: &Value| bytes(value.as_str().expect("a string"), pieces);
            Output::Bytes(flat.map(text).collect())
        }
        _ => panic!("an unknown output: {output}"),
    }
}

struct Input<'a> {
    fields: &'a Value,
    pieces: &'a [u8],
}

impl Input<'_> {
    fn bytes(&self, name: &str) -> Vec<u8> {
        bytes(self.fields[name].as_str().expect("a string"), self.pieces)
    }

    fn list(&self, name: &str) -> Vec<Vec<u8>> {
        let list = self.fields[name].as_array().expect("a list");
        list.iter().map(|text| bytes(text.as_str().expect("a string"), self.pieces)).collect()
    }

    fn indices(&self) -> Vec<u64> {
        let list = self.fields["cell_indices"].as_array().expect("a list");
        list.iter().map(|index| index.as_u64().expect("a number")).collect()
    }
}

/// Decodes hexadecimal text, or a value in pieces.
fn bytes(text: &str, pieces: &[u8]) -> Vec<u8> {
    const PIECE: usize = 2048;
    let mut bytes = Vec::new();
    for word in text.strip_prefix('@').unwrap_or(text).split(' ') {
        if let Some(digits) = word.strip_prefix("0x") {
            let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal");
            bytes.extend((0..digits.len()).step_by(2).map(byte));
        } else {
            let (first, count) = word.split_once('+').unwrap_or((word, "1"));
            let number = |digits: &str| digits.parse::<usize>().expect("a number");
            bytes.extend_from_slice(&pieces[number(first) * PIECE..][..number(count) * PIECE]);
        }
    }
    bytes
}

fn read(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
