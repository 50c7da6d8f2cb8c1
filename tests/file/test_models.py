"""Models from a user's file: shown like the built-in ones, refused with every problem, and the
template to start from."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import ROOT, needs_program, run  # noqa: E402

pytestmark = needs_program

BUILT_IN = sorted(path.stem for path in (ROOT / "kernels" / "models").glob("*.h")
                  if path.stem != "gm_model")
LISTS = ["GM_STATES", "GM_PARAMS", "GM_COUPLINGS", "GM_INPUTS", "GM_NOISES",
         "GM_DERIVED", "GM_PHASES", "GM_MODEL_NAME", "GM_MODEL_DOC", "GM_MODEL_SOURCE", "GM_MODEL_TIME_UNIT"]


@pytest.fixture
def template(tmp_path):
    """The template as a file my_model.h."""
    done = run("models", "--template", "my_model")
    assert done.code == 0 and done.err == ""
    path = tmp_path / "my_model.h"
    path.write_text(done.out)
    return path


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_file_is_shown_like_the_built_in_model(name):
    from_file = run("models", ROOT / "kernels" / "models" / f"{name}.h")
    assert from_file.code == 0 and from_file.err == ""
    assert from_file.out == run("models", name).out


def test_the_template_is_read_and_shown(template):
    done = run("models", "./my_model.h", cwd=template.parent)
    assert done.code == 0 and done.err == ""
    assert done.out.startswith("my_model: FitzHugh-Nagumo units")
    assert run("models", "my_model.h", cwd=template.parent).out == done.out
    for line in (r"V +-1\.2 +1 +membrane potential", r"tau +12\.5 +1 +time constant",
                 r"net +sum_j", r"I_ext +0\.5 +1 +outside current", r"V +sigma", r"flow +1 +current from the network = from_network\(m, s, c\)"):
        assert re.search(rf"^  {line}", done.out, re.M), line


def test_the_template_explains_every_list(template):
    text = template.read_text()
    assert all(name in text for name in LISTS)
    assert '#include "gm_model.h"' in text and "GM_FN void gm_drift(" in text
    assert "@" not in text and max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("double", [0, 1])
@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc here")
def test_the_template_compiles_without_a_warning(template, double):
    (template.parent / "check.c").write_text(
        '#include "my_model.h"\n'
        "#define X(name, expression, ...) gm_real name(const gm_params *m, const gm_state *s, \\\n"
        "    const gm_drive *c) { (void)m; (void)s; (void)c; return (expression); }\n"
        "GM_COUPLINGS(X)\nGM_DERIVED(X)\n")
    done = subprocess.run(
        ["gcc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion",
         "-Wdouble-promotion", "-Werror", f"-DGM_DOUBLE={double}", f"-I{ROOT}",
         f"-I{ROOT / 'kernels' / 'models'}", "check.c"],
        cwd=template.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["", "my-model", "2d", "my_model.h", "a b", "a" * 64, "\u03c4"])
def test_a_template_with_a_name_that_cannot_be_is_refused(name):
    done = run("models", "--template", name)
    assert done.code == 2 and done.out == ""
    assert len(done.messages) == 1 and f"--template {name}: the name of a model" in done.err


def test_a_template_of_a_model_is_refused():
    done = run("models", "hopf", "--template", "mine")
    assert done.code == 2 and done.out == "" and "not both" in done.err


def test_only_models_takes_template():
    done = run("plan", "s.yaml", "--template", "mine")
    assert done.code == 2 and "gridmarch plan takes no --template" in done.err


def test_all_problems_of_a_file_are_listed_with_their_lines(template):
    text = template.read_text()
    for good, bad in (("X(b, 0.8,", "X(b,"), ("m->tau;", "m->tua;"),
                      ("X(V, m->sigma)", "X(U, m->sigma)"), ("X(G, 0.1", "X(time, 0.1")):
        assert good in text
        text = text.replace(good, bad)
    template.write_text(text)

    def line_of(piece):
        return 1 + text[:text.index(piece)].count("\n")

    done = run("models", "./my_model.h", cwd=template.parent)
    assert done.code == 2 and done.out == ""
    for place, words in ((line_of("X(b,"), "the one of 'b' has 3"),
                         (line_of("X(time"), "'time' cannot be a name here"),
                         (line_of("X(U,"), "there is no state 'U'; did you mean 'V'?"),
                         (line_of("m->tua"), "m->tua: there is no parameter 'tua'; did you mean")):
        assert any(re.match(rf"\./my_model\.h:{place}:\d+: ", message) and words in message
                   for message in done.messages), words


NO_HEADERS = {
    "absent": (None, "cannot read './m.h': No such file"),
    "empty": (b"", "cannot read './m.h': it is empty"),
    "binary": (b"a\0b", "NUL bytes"),
    "UTF-16": (b"\xff\xfea\0", "UTF-16"),
    "too large": (b"\n" * (1 << 20) + b"\n", "larger than 1 MiB"),
    "prose": (b"not a header\n", "there is no function gm_drift"),
}


@pytest.mark.parametrize("case", NO_HEADERS)
def test_a_file_that_is_no_header_is_refused(tmp_path, case):
    content, words = NO_HEADERS[case]
    if content is not None:
        (tmp_path / "m.h").write_bytes(content)
    done = run("models", "./m.h", cwd=tmp_path)
    assert done.code == 2 and done.out == ""
    assert any(words in message for message in done.messages), done.err


def test_a_folder_is_no_model(tmp_path):
    done = run("models", str(tmp_path) + "/")
    assert done.code == 2 and "folder" in done.err


def test_an_unknown_model_says_how_a_file_is_named():
    done = run("models", "my_model")
    assert done.code == 2 and "./my_model.h" in done.err
