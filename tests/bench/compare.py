"""Two files of figures beside each other: what changed from the first to the second, and whether by more than they spread.

A figure has changed beyond the spread when the quartile ranges of the two do not overlap and the medians differ by more than 5% of the first; by
more than 20% where either was measured fewer than 3 times, and so has no spread.
"""

import math

import figures
import harness

LEAST, LEAST_WITHOUT_SPREAD, FEW = 0.05, 0.20, 3


WITHIN, TOO_FEW, NO_NUMBER, TURNED = "within the spread", "too few repeats to tell", "no number", "what is better differs"


def changed(old, new):
    """'better', 'worse', or why it is neither."""
    if not all(math.isfinite(value) for one in (old, new) for value in (one["ratio"], *one["quartiles"])):
        return NO_NUMBER
    if old["better"] != new["better"]:
        return f"{TURNED}: {old['better']}, then {new['better']}"
    few = min(old["repeats"], new["repeats"]) < FEW
    least = LEAST_WITHOUT_SPREAD if few else LEAST
    apart = new["quartiles"][0] > old["quartiles"][1] or new["quartiles"][1] < old["quartiles"][0]
    if not apart or abs(new["ratio"] - old["ratio"]) <= least * abs(old["ratio"]):
        return TOO_FEW if few else WITHIN
    return "better" if (new["ratio"] < old["ratio"]) == (new["better"] == "less") else "worse"


def aim_text(aim):
    return f"{aim['direction']} {aim['bound']:g}" if aim else "none"


def of_aim(old, new):
    """What became of the figure's aim; '' if nothing."""
    if old["aim"] != new["aim"]:
        return f"aim {aim_text(old['aim'])}, then {aim_text(new['aim'])}"
    met = harness.meets(old), harness.meets(new)
    if met[0] == met[1]:
        return ""
    return f"aim {aim_text(new['aim'])}: {'met now' if met[1] else 'missed now'}"


def said(one):
    return f"{one['ratio']:.3g} [{one['quartiles'][0]:.3g} … {one['quartiles'][1]:.3g}]"


def differences(first, second):
    """A line for each fact of the machine or the build in which the files differ."""
    keys = dict.fromkeys([*first["machine"], *second["machine"]])
    return [f"{key.replace('_', ' ')} differs: {first['machine'].get(key)}, then {second['machine'].get(key)}"
            for key in keys if first["machine"].get(key) != second["machine"].get(key)]


def of_file(name, document):
    """Of which commit a file is, and why its figures are not to be kept."""
    dirty = " and changes that were not committed" if document["dirty"] else ""
    return [f"{name}: commit {document['commit'][:8]}{dirty}", *(f"{name}: not to be relied on: {one}" for one in figures.warnings(document))]


def lost(old, new, second):
    """The figures of the first file that the second lacks, because their benchmark was begun there and not done, or could not be. One that the
    second file was not asked for is none of them."""
    undone = {one["name"] for one in second["benchmarks"] if one["state"] != "done"}
    return [key for key in old if key not in new and key[0] in undone]


def compare(first, second, names=("A", "B")):
    """(lines to print, whether something is worse beyond the spread, or was measured in the first alone)."""
    old, new = ({(one["benchmark"], one["name"]): one for one in document["figures"]} for document in (first, second))
    lines = [line for name, document in zip(names, (first, second)) for line in of_file(name, document)] + differences(first, second)
    worse, better, width = 0, 0, max((len(name) for _, name in old.keys() & new.keys()), default=0)
    for key in (key for key in old if key in new):
        change, aim = changed(old[key], new[key]), of_aim(old[key], new[key])
        worse, better = worse + (change == "worse"), better + (change == "better")
        ratio = f"{new[key]['ratio'] / old[key]['ratio'] - 1:+.1%}" if old[key]["ratio"] else "was 0"
        lines.append(f"{key[0]}: {key[1]:<{width}}  {said(old[key])} → {said(new[key])}  {ratio}, {change}{'; ' + aim if aim else ''}")
    for name, some, others in ((names[0], old, new), (names[1], new, old)):
        lines += [f"only in {name}: {key[0]}: {key[1]}  {said(some[key])}{' (aim ' + aim_text(some[key]['aim']) + ')' if some[key]['aim'] else ''}"
                  for key in some if key not in others]
    for name, document in zip(names, (first, second)):
        lines += [f"{name}: {one['name']}: {one['state']}{': ' + one['reason'] if one['reason'] else ''}" for one in document["benchmarks"] if one["state"] != "done"]
    gone = len(lost(old, new, second))
    lines.append(f"{len(old.keys() & new.keys())} figures in both: {better} better, {worse} worse beyond the spread"
                 + (f"; {gone} not measured in {names[1]}, as their benchmark was not done" if gone else ""))
    return lines, worse > 0 or gone > 0
