"""The example of the guide, as a reader types it."""

from pathlib import Path


def test_the_example_runs():
    guide = Path(__file__).parents[4] / "docs/python.md"
    example = guide.read_text().split("```python\n")[1].split("```")[0]
    names = {}
    exec(compile(example, str(guide), "exec"), names)
    assert names["valid"] == [True, True, True]
    assert names["key"].to_pem() == names["pem"]
