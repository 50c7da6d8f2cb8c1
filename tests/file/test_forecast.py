"""`gridmarch plan` foretells a run's time from what was measured or given, and says which."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import EXAMPLES, march, needs_program, run  # noqa: E402

pytestmark = needs_program
SWEEP = EXAMPLES / "wilson_cowan.yaml"


def forecast(*args, code=0):
    """The lines of a forecast: name -> the rest."""
    done = run("plan", SWEEP, *args)
    assert done.code == code, done.err
    _, mark, text = done.out.partition("\nforecast ")
    return {line[2:12].strip(): line[13:] for line in text.splitlines()[1:]} if mark else {}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A result, and the same run's JSON."""
    folder = tmp_path_factory.mktemp("measured")
    done = run("run", SWEEP, "-o", folder / "r.h5", "--json", "--quiet")
    (folder / "r.json").write_text(done.out)
    return folder


def test_a_result_and_its_json_foretell_the_same_march(measured):
    found = json.loads((measured / "r.json").read_text())
    for name in ("r.h5", "r.json"):
        lines = forecast("--measured", measured / name)
        assert "40 points x 10000 steps" in lines["march"] and "(measured)" in lines["march"]
        assert float(lines["march"].split()[0]) == pytest.approx(found["march_s"], abs=0.006)
        assert "taken not to grow with ranks" in lines["disk"] and "?" not in lines["in all"]


def test_more_ranks_have_fewer_points(measured):
    rate = "--rate", "1000"
    assert forecast(*rate, "--ranks", "4")["march"].startswith("1 min 40 s")  # 10 points x 10,000 steps / 1000
    assert "10 points" in forecast("--measured", measured / "r.h5", "--ranks", "4")["march"]


def test_given_rates_are_called_given_and_nothing_is_made_up():
    lines = forecast("--bandwidth", "1e6")
    assert lines["march"].startswith("?") and lines["in all"].startswith("?")
    assert lines["disk"].startswith("1.0") and "(given;" in lines["disk"]
    lines = forecast("--rate", "1e5")
    assert "(given)" in lines["march"] and lines["disk"].startswith("?")
    assert forecast() == {}


def test_a_small_run_tells_nothing_of_the_disk_of_a_large_one(measured):
    lines = forecast("--measured", measured / "r.h5", "--set", "axes.G={linspace: [0, 3, 4000]}")
    assert lines["disk"].startswith("?") and lines["new file"].startswith("?")
    assert not lines["march"].startswith("?")


def test_runs_of_another_model_or_of_none_are_refused(tmp_path, measured):
    lorenz = march(EXAMPLES / "lorenz63.yaml", tmp_path / "l.h5", "--set", "time.duration=1")
    done = run("plan", SWEEP, "--measured", lorenz)
    assert done.code == 2 and "a run of lorenz63" in done.messages[0]
    (tmp_path / "other.json").write_text('{"points": 3}')
    done = run("plan", SWEEP, "--measured", tmp_path / "other.json")
    assert done.code == 2 and "holds no summary of a run" in done.messages[0]
    done = run("plan", SWEEP, "--measured", tmp_path / "absent.h5")
    assert done.code == 2 and "No such file" in done.messages[0]


@pytest.mark.parametrize("args", [("--rate", "0"), ("--bandwidth", "fast"), ("--rate", "inf")])
def test_rates_are_positive_numbers(args):
    done = run("plan", SWEEP, *args)
    assert done.code == 2 and "must be a positive number" in done.messages[0]
