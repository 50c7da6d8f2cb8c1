#!/usr/bin/env python3
"""Draw a variable of a gridmarch result file, or print it as a small table.

    plot.py sweep.h5                              the first mean recorded, against its axes
    plot.py phases.h5 theta --time mean           the order parameter of angles against the axes
    plot.py sweep.h5 E --select G=0.6             a trajectory at one value of the axis G
    plot.py sweep.h5 E_mean --node V1 --x tau_e   one node; choose what runs along x
    plot.py sweep.h5 E_mean --table               numbers instead of a picture (with -o: both)

One free dimension gives a curve, two give a few curves or a colour map. Nodes and seeds are averaged
unless they are selected or drawn; any further dimension is held at its middle value, and the title
says so. Points that are not done are left out and counted. Angles, which have no mean, are averaged
over nodes to their order parameter |mean exp(i angle)|, before it is averaged over time or seeds.
"""
import argparse
import difflib
import os
import pathlib
import sys
import textwrap

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # a file may be looked at while it is written

BOOKKEEPING = ("status", "failed_step", "run")
AVERAGED = ("seed", "node")
STATISTICS = ("_mean", "_variance", "_min", "_max")  # of angles too, these are plain numbers
MAX_CURVES = 6
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]  # Okabe-Ito
STYLE = {
    "axes.grid": True, "axes.axisbelow": True, "axes.edgecolor": "0.35", "axes.labelsize": 11,
    "axes.spines.right": False, "axes.spines.top": False, "figure.dpi": 150, "font.size": 10,
    "grid.color": "0.88", "grid.linewidth": 0.8, "legend.frameon": False, "lines.linewidth": 2.0,
    "xtick.color": "0.25", "ytick.color": "0.25",
}


class Trouble(Exception):
    """Something the user can put right; shown as one message without a traceback."""


try:
    import h5netcdf  # noqa: F401  xarray reads through it, and it through h5py
    import h5py  # noqa: F401
    import numpy as np
    import xarray as xr
except ImportError as error:
    sys.exit(f"plot.py: {error}; it needs numpy, xarray, h5netcdf, h5py and matplotlib: "
             "python3 -m pip install numpy xarray h5netcdf h5py matplotlib, or .ci/install.sh look; "
             ".ci/find_python.sh names a python3 that has them")


def unknown(kind, name, known):
    """Message for a name that is not there, with the nearest one that is."""
    known = [str(k) for k in known]
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return Trouble(f"no {kind} is named '{name}'{hint} There are: {shown or 'none'}"
                   if hint else f"no {kind} is named '{name}'. There are: {shown or 'none'}")


def number(value):
    """A coordinate value as a reader would write it."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return value.decode() if isinstance(value, bytes) else str(value)


def label(array, short=False):
    """'long name, symbol [unit]' of a coordinate; short: 'symbol [unit]'."""
    name = str(array.name)
    words = "" if short else str(array.attrs.get("long_name", ""))
    if words and name not in words.split():
        name = f"{words}, {name}"
    unit = array.attrs.get("units", "1")
    return name if unit in ("", "1") else f"{name} [{unit}]"


def is_angle(array):
    """True for an angle itself, whose values 0 and 2 pi are neighbours."""
    return array.attrs.get("units") == "rad" and not str(array.name).endswith(STATISTICS)


def is_angle_statistic(array):
    return (str(array.name).endswith(STATISTICS)
            and array.attrs.get("units") in ("rad", "(rad)^2"))


class View:
    """What is drawn: an array with one or two dimensions left, and words on what was done to it."""

    def __init__(self, array, status):
        self.array = array
        self.status = status  # ledger of the same points, or None
        self.is_angle = is_angle(array)
        self.asked = []       # dimensions to be averaged because the user said so
        self.held = []        # "G = 0.6"
        self.averages = []    # "68 nodes"
        self.note = ""        # points left out
        self.attributes = dict(array.attrs)

    def hold(self, dim, index):
        """Keep one index of a dimension and say which."""
        coordinates = [c for c in self.array.coords.values() if c.dims == (dim,)]
        for c in coordinates:
            unit = c.attrs.get("units", "1")
            unit = "" if unit in ("", "1") else f" {unit}"
            self.held.append(f"{c.name} = {number(c.values[index])}{unit}")
        if not coordinates:
            self.held.append(f"{dim} {index}")
        self.drop(dim, index)

    def drop(self, dim, index=0):
        self.array = self.array.isel({dim: index}, drop=True)
        if self.status is not None and dim in self.status.dims:
            self.status = self.status.isel({dim: index}, drop=True)

    def average(self, dim):
        """Mean over a dimension, ignoring what is missing. Angles give the length of the mean of
        exp(i angle), which is a plain number: over nodes it is their order parameter."""
        self.mask_unfinished()
        n = self.array.sizes[dim]
        over = f"{n} {dim}s" if dim in AVERAGED else dim
        name = self.array.name
        if self.is_angle:
            self.array = abs(np.exp(1j * self.array).mean(dim, skipna=True)).rename(name)
            words = (f"order parameter of {over}" if dim == "node"
                     else f"length of the mean of exp(i {name}) over {over}")
            self.attributes = {"units": "1", "long_name": words}
            self.is_angle = False
        else:
            self.averages.append(over)
            self.array = self.array.mean(dim, skipna=True)

    def mask_unfinished(self):
        """Blank the points that are not done; say how many and why. Comes after what is held, so
        that no more of a large file is read than is drawn."""
        if self.status is None:
            return
        meanings = flag_meanings(self.status)
        done = next((value for value, word in meanings.items() if word == "done"), 1)
        code = self.status.values
        if (code != done).any():
            kinds, counts = np.unique(code[code != done], return_counts=True)
            why = ", ".join(f"{n} {meanings.get(int(k), int(k))}" for k, n in zip(kinds, counts))
            self.note = f"{counts.sum()} of {code.size} points left out: {why}"
            self.array = self.array.where(self.status == done)
        self.status = None

    def label(self, comma=", "):
        words = textwrap.fill(self.attributes.get("long_name", self.array.name), 45)
        if self.averages:
            words += f"{comma}mean over " + " and ".join(self.averages)
        unit = self.attributes.get("units", "1")
        return words if unit in ("", "1") else f"{words} [{unit}]"


def flag_meanings(status):
    """CF flags of the ledger: {0: "pending", 1: "done", ...}."""
    return dict(zip(np.atleast_1d(status.attrs.get("flag_values", [])).tolist(),
                    str(status.attrs.get("flag_meanings", "")).split()))


def open_result(path):
    if not os.path.exists(path):
        raise Trouble(f"{path}: there is no such file")
    try:
        return xr.open_dataset(path, engine="h5netcdf", decode_times=False)
    except Exception as error:  # the engines raise many kinds for a file that is not HDF5
        raise Trouble(f"{path}: not a result file that xarray can open ({error})") from None


def default_variable(dataset):
    names = [n for n, v in dataset.data_vars.items() if v.dtype.kind == "f" and n not in BOOKKEEPING]
    if not names:
        raise Trouble("the file holds no variable of floating type")
    telling = [n for n in names if not is_angle_statistic(dataset[n])]
    means = [n for n in telling if n.endswith("_mean")]
    angles = sorted((n for n in telling if is_angle(dataset[n])),
                    key=lambda n: "time" not in dataset[n].dims)  # a trajectory before the last
    return [*means, *angles, *telling, *names][0]


def choose_variable(dataset, name):
    name = name or default_variable(dataset)
    if name not in dataset.data_vars:
        raise unknown("variable", name, dataset.data_vars)
    if dataset[name].dtype.kind not in "fiu":
        raise Trouble(f"variable '{name}' does not hold numbers")
    return dataset[name]


def index_of(coordinate, text):
    """Index of the value nearest to a number, or equal to a text."""
    values = coordinate.values
    if values.dtype.kind in "fiu":
        try:
            wanted = float(text)
        except ValueError:
            raise Trouble(f"{coordinate.name} is a number, '{text}' is none; it runs from "
                          f"{number(values.min())} to {number(values.max())}") from None
        margin = 1e-9 * max(abs(float(values.min())), abs(float(values.max())))
        if not values.min() - margin <= wanted <= values.max() + margin:
            raise Trouble(f"{coordinate.name} = {text} lies outside {number(values.min())} to "
                          f"{number(values.max())}")
        return int(np.abs(values - wanted).argmin())
    words = [number(v) for v in values]
    if text not in words:
        raise unknown(coordinate.name, text, words)
    return words.index(text)


def select(view, name, text):
    """--select NAME=TEXT, --node and --time: hold the dimension that carries a coordinate."""
    array = view.array
    if name not in array.coords and name not in array.dims:
        raise unknown("axis", name, list(dict.fromkeys([*array.dims, *array.coords])))
    coordinate = array[name]  # a dimension without values counts from 0
    if coordinate.ndim != 1:
        raise Trouble(f"'{name}' is already held at one value")
    if text == "mean":
        view.asked.append(coordinate.dims[0])  # done once all is held, see reduce_to_two
    elif text == "last":
        view.hold(coordinate.dims[0], coordinate.size - 1)
    else:
        view.hold(coordinate.dims[0], index_of(coordinate, text))


def parameters_along(array, dim):
    """Coordinates of a `point` dimension that vary: the parameters of a design that is no grid."""
    return [c for c in array.coords.values()
            if c.dims == (dim,) and c.name != dim and c.dtype.kind in "fiu" and np.ptp(c.values) > 0]


def dimension_of(array, name):
    if name not in array.dims and name not in array.coords:
        raise unknown("axis", name, list(dict.fromkeys([*array.dims, *array.coords])))
    if array[name].ndim != 1:
        raise Trouble(f"'{name}' has one value only: it can not be drawn along an axis")
    return array[name].dims[0]


def reduce_to_two(view, x, y):
    """Hold and average until at most two dimensions are left; those of x and y always stay."""
    kept = {dimension_of(view.array, name) for name in (x, y) if name}
    for dim in kept.intersection(view.asked):
        raise Trouble(f"'{dim}' is averaged: it can not be drawn along an axis too")
    for dim in [d for d in view.array.dims if d not in kept and view.array.sizes[d] == 1]:
        (view.drop if dim in ("point", "node", "time") else view.hold)(dim, 0)
    dims = view.array.dims
    by_itself = [d for d in AVERAGED if d in dims and d not in kept and d not in view.asked]
    averaged = [d for d in dict.fromkeys(view.asked) if d in dims]
    if by_itself and len(averaged) + len(by_itself) == len(dims):
        by_itself.remove(by_itself[0 if view.is_angle else -1])  # something must be left to draw
    averaged += by_itself
    free = [d for d in view.array.dims if d not in kept and d not in averaged]
    free.sort(key=lambda d: d != "time")
    n_more = 0 if x and y else 2 - len(kept)
    for dim in free[n_more:]:
        view.hold(dim, view.array.sizes[dim] // 2)
    for dim in sorted(averaged, key=lambda d: d != "node"):  # of angles, nodes must be first
        view.average(dim)
    view.mask_unfinished()


def roles(view, x, y):
    """Names of the coordinates for x and for y (None: a curve), given at most two dimensions."""
    array = view.array
    dims = list(array.dims)
    if dims == ["point"]:
        names = [c.name for c in parameters_along(array, "point")]
        x = x or next((n for n in names if n != y), "point")
        rest = [n for n in names if n not in (x, y)]
        if not y and rest and not follows(array[x].values, array[rest[0]].values):
            y = rest[0]
        return x, y
    if not x and y:
        x = next((d for d in dims if d != dimension_of(array, y)), None)
    if not x:
        x = "time" if "time" in dims else dims[0]
    if not y:
        y = next((d for d in dims if d != dimension_of(array, x)), None)
        if y == "point":
            y = next((c.name for c in parameters_along(array, "point")), y)
    return x, y


def follows(first, second):
    """True if the second column is a monotone function of the first: linked, not scattered."""
    step = np.diff(second[np.argsort(first, kind="stable")])
    return bool((step >= 0).all() or (step <= 0).all())


def ordered(array, name):
    """The array sorted along a coordinate, with the coordinate's values."""
    dim = array[name].dims[0]
    if array[name].dtype.kind in "fiu":
        array = array.isel({dim: np.argsort(array[name].values, kind="stable")})
    return array, array[name].values


def is_logarithmic(values):
    """True for values that were spaced by a constant factor."""
    if values.dtype.kind not in "fiu" or len(values) < 4 or (values <= 0).any():
        return False
    ratio = np.diff(np.log(values))
    return ratio.min() > 0 and np.ptp(ratio) < 1e-3 * ratio.mean() and values[-1] / values[0] > 8


def positions(values):
    """Numbers stay; words are numbered and become tick labels."""
    return values if values.dtype.kind in "fiu" else np.arange(len(values))


def edges(values):
    """Borders of the cells around sorted positions: half way, on the axis's own scale."""
    logarithmic = is_logarithmic(values)
    place = np.log(values) if logarithmic else positions(values).astype(float)
    middle = (place[1:] + place[:-1]) / 2
    first = place[0] - (middle[0] - place[0] if len(middle) else 0.5)
    last = place[-1] + (place[-1] - middle[-1] if len(middle) else 0.5)
    border = np.concatenate([[first], middle, [last]])
    return np.exp(border) if logarithmic else border


def dress_axis(axis, coordinate, values):
    """Label, scale and, for words, tick labels of one axis."""
    axis.set_label_text(label(coordinate))
    if values.dtype.kind not in "fiu":
        every = max(1, -(-len(values) // 20))
        axis.set_ticks(np.arange(len(values))[::every], [number(v) for v in values[::every]])
        axis.set_tick_params(labelsize=7, labelrotation=90 if axis.axis_name == "x" else 0)
    elif is_logarithmic(values):
        (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")


def draw_curves(axes, view, x, y):
    array, values = ordered(view.array, x)
    place = positions(values)
    marker = "o" if len(values) <= 40 else None
    if y is None:
        axes.plot(place, array.values, marker=marker, markersize=4, color=COLOURS[0])
    else:
        array, groups = ordered(array, y)
        for k, group in enumerate(groups):
            axes.plot(place, array.isel({array[y].dims[0]: k}).values, marker=marker, markersize=4,
                      color=COLOURS[k], label=number(group))
        axes.legend(title=textwrap.fill(label(array[y]), 20), loc="center left", bbox_to_anchor=(1.0, 0.5))
    dress_axis(axes.xaxis, view.array[x], values)
    axes.set_ylabel(view.label(",\n"))
    axes.margins(x=0.02)


def draw_map(axes, view, x, y):
    array, across = ordered(view.array, x)
    array, up = ordered(array, y)
    array = array.transpose(array[y].dims[0], array[x].dims[0])
    axes.grid(False)
    axes.set_facecolor("0.85")  # what is missing
    mesh = axes.pcolormesh(edges(across), edges(up), np.ma.masked_invalid(array.values),
                           cmap="viridis", rasterized=True)
    dress_axis(axes.xaxis, view.array[x], across)
    dress_axis(axes.yaxis, view.array[y], up)
    colour_bar(axes, mesh, view)


def draw_scatter(axes, view, x, y):
    colour = view.array.values
    here = np.isfinite(colour)
    across, up = view.array[x].values, view.array[y].values
    axes.plot(across[~here], up[~here], "x", color="0.6", markersize=5)
    dots = axes.scatter(across[here], up[here], c=colour[here], cmap="viridis",
                        s=float(np.clip(4000 / max(1, here.sum()), 6, 60)))
    axes.set_xlabel(label(view.array[x]))
    axes.set_ylabel(label(view.array[y]))
    colour_bar(axes, dots, view)


def colour_bar(axes, mappable, view):
    bar = axes.figure.colorbar(mappable, ax=axes, pad=0.02)
    bar.set_label(view.label(",\n"))
    bar.outline.set_edgecolor("0.35")


def kind_of(view, x, y):
    """'curve', 'curves', 'map' or 'scatter'."""
    if y is None:
        return "curve"
    if view.array.ndim == 1:
        return "scatter"
    return "curves" if view.array[y].size <= MAX_CURVES else "map"


def draw(view, x, y, title, path):
    try:
        import matplotlib
    except ImportError:
        raise Trouble("drawing needs matplotlib (.ci/install.sh look, or pip install "
                      "matplotlib); --table does not") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    kind = kind_of(view, x, y)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.2, 4.5), constrained_layout=True)
        {"map": draw_map, "scatter": draw_scatter}.get(kind, draw_curves)(axes, view, x, y)
        small = "   ".join(part for part in (", ".join(view.held), view.note) if part)
        axes.set_title(textwrap.fill(title, 70) + ("\n" if small else ""), loc="left", fontsize=12,
                       fontweight="bold")
        if small:
            axes.text(0, 1.015, textwrap.fill(small, 110), transform=axes.transAxes, fontsize=8.5,
                      color="0.35", va="bottom")
        try:
            figure.savefig(path)
        except (OSError, ValueError) as error:
            raise Trouble(f"{path}: cannot be written ({error})") from None
        plt.close(figure)


def thin(n, most):
    """At most `most` indices out of n, evenly spread, ends included."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def table_columns(view, x, y):
    """Headings and columns of text for the table, thinned to what fits a screen."""
    array, values = ordered(view.array, x)
    rows = thin(len(values), 12)
    dim = array[x].dims[0]
    columns = [(label(array[x], short=True), [number(v) for v in values[rows]])]
    if y is None or array.ndim == 1:
        if y:
            columns.append((label(array[y], short=True), [number(v) for v in array[y].values[rows]]))
        columns.append((view.array.name, [f"{v:.5g}" for v in array.values[rows]]))
    else:
        array, groups = ordered(array, y)
        for k in thin(len(groups), 6):
            column = array.isel({array[y].dims[0]: k, dim: rows}).values
            columns.append((f"{y} = {number(groups[k])}", [f"{v:.5g}" for v in column]))
    return columns, len(rows), len(values)


def print_table(view, x, y, title):
    print(title)
    print("  " + " ".join(view.label().split()))
    for line in (", ".join(view.held), view.note):
        if line:
            print("  " + line)
    columns, n_shown, n_all = table_columns(view, x, y)
    width = [max(len(head), *(len(cell) for cell in cells)) for head, cells in columns]
    print("\n  " + "  ".join(head.rjust(w) for (head, _), w in zip(columns, width)))
    print("  " + "  ".join("-" * w for w in width))
    for row in zip(*(cells for _, cells in columns)):
        print("  " + "  ".join(cell.rjust(w) for cell, w in zip(row, width)))
    n_column = view.array[y].size if y and view.array.ndim == 2 else 0
    more = [f"{n_shown} of {n_all} rows"] if n_shown < n_all else []
    more += [f"{len(columns) - 1} of {n_column} columns"] if len(columns) - 1 < n_column else []
    if more:
        print("  (" + ", ".join(more) + ", evenly spread)")


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="plot.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help="a result of gridmarch run")
    parser.add_argument("variable", metavar="VARIABLE", nargs="?",
                        help="default: the first ..._mean (not of an angle), else an angle's "
                             "trajectory or last value, else the first of floating type")
    parser.add_argument("-o", "--output", metavar="PNG",
                        help="picture to write (also .pdf, .svg); default: FILE with .png")
    parser.add_argument("--node", metavar="LABEL", help="one node; 'mean' (default) averages")
    parser.add_argument("--time", metavar="T", help="one time (the nearest sample); 'mean' or 'last'")
    parser.add_argument("--select", metavar="AXIS=VALUE", action="append", default=[],
                        help="hold an axis at its nearest value; may be repeated")
    parser.add_argument("--x", metavar="AXIS", help="what runs along x")
    parser.add_argument("--y", metavar="AXIS", help="what runs along y, or tells the curves apart")
    parser.add_argument("--table", action="store_true",
                        help="print a small table; draws too if -o is given")
    return parser.parse_args(argv)


def make_view(dataset, args):
    array = choose_variable(dataset, args.variable)
    status = dataset.get("status")
    if array.name in BOOKKEEPING or status is None or not set(status.dims) <= set(array.dims):
        status = None
    if args.x and args.x == args.y:
        raise Trouble(f"--x and --y both name '{args.x}'")
    wanted = []
    for item in args.select:
        name, _, value = item.partition("=")
        if not (name and value):
            raise Trouble(f"--select {item}: write it as AXIS=VALUE")
        wanted.append((name, value))
    wanted += [(name, value) for name, value in (("time", args.time), ("node", args.node)) if value]
    view = View(array, status)
    for name, value in wanted:
        select(view, name, value)
    reduce_to_two(view, args.x, args.y)
    return view


def main(argv=None):
    args = arguments(argv)
    try:
        with open_result(args.file) as dataset:
            view = make_view(dataset, args)
            title = str(dataset.attrs.get("title") or pathlib.Path(args.file).name)
            if view.array.ndim == 0:
                held = f"  ({', '.join(view.held)})" if view.held else ""
                print(f"{title}\n  {view.label()}: {number(float(view.array))}{held}")
                if view.note:
                    print(f"  {view.note}")
                return 0
            x, y = roles(view, args.x, args.y)
            if args.table:
                print_table(view, x, y, title)
            if args.output or not args.table:
                path = args.output or str(pathlib.Path(args.file).with_suffix(".png"))
                draw(view, x, y, title, path)
                if view.note and not args.table:
                    print(view.note, file=sys.stderr)
                print(f"picture: {path}")
    except Trouble as trouble:
        print(f"plot.py: {trouble}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # as with  plot.py --table | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
