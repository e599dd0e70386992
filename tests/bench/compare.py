"""Two files of figures beside each other: what changed from the first to the second, and whether by more than they spread.

A figure has changed beyond the spread when the quartile ranges of the two do not overlap and the medians differ by more than 5% of the first; by
more than 20% where either was measured fewer than 3 times, and so has no spread.
"""

import harness

LEAST, LEAST_WITHOUT_SPREAD, FEW = 0.05, 0.20, 3


def changed(old, new):
    """'' within the spread, 'better' or 'worse'."""
    least = LEAST_WITHOUT_SPREAD if min(old["repeats"], new["repeats"]) < FEW else LEAST
    apart = new["quartiles"][0] > old["quartiles"][1] or new["quartiles"][1] < old["quartiles"][0]
    if not apart or abs(new["ratio"] - old["ratio"]) <= least * abs(old["ratio"]):
        return ""
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


def compare(first, second, names=("A", "B")):
    """(lines to print, whether something is worse beyond the spread)."""
    old, new = ({(one["benchmark"], one["name"]): one for one in document["figures"]} for document in (first, second))
    lines, worse, better, width = differences(first, second), 0, 0, max((len(name) for _, name in old.keys() & new.keys()), default=0)
    for key in (key for key in old if key in new):
        change, aim = changed(old[key], new[key]), of_aim(old[key], new[key])
        worse, better = worse + (change == "worse"), better + (change == "better")
        ratio = f"{new[key]['ratio'] / old[key]['ratio'] - 1:+.1%}" if old[key]["ratio"] else "was 0"
        lines.append(f"{key[0]}: {key[1]:<{width}}  {said(old[key])} → {said(new[key])}  {ratio}, {change or 'within the spread'}{'; ' + aim if aim else ''}")
    for name, some, others in ((names[0], old, new), (names[1], new, old)):
        lines += [f"only in {name}: {key[0]}: {key[1]}  {said(some[key])}{' (aim ' + aim_text(some[key]['aim']) + ')' if some[key]['aim'] else ''}"
                  for key in some if key not in others]
    for name, document in zip(names, (first, second)):
        lines += [f"{name}: {one['name']}: {one['state']}{': ' + one['reason'] if one['reason'] else ''}" for one in document["benchmarks"] if one["state"] != "done"]
    lines.append(f"{len(old.keys() & new.keys())} figures in both: {better} better, {worse} worse beyond the spread")
    return lines, worse > 0
