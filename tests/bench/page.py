"""The table of README.md, made from figures.json beside it: figures that miss their aim, and those that meet it; of more than MOST_MET of one
benchmark only the one that is nearest to its aim. Of a benchmark without aims the first.
"""

import os

import compare
import figures
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE, FILE = (os.path.join(HERE, name) for name in ("README.md", "figures.json"))
MOST_MET = 4
BEGIN, END = "<!-- tools/bench --page writes from here -->\n", "<!-- to here -->\n"


def used_up(figure):
    """How much of its aim a figure takes up: 1 just meets it."""
    part = figure["ratio"] / figure["aim"]["bound"]  # no aim is 0
    return part if figure["aim"]["direction"] == "≤" else 1 / part


def shown(document):
    """The figures of the table, in the order of the file, each with how many it stands for."""
    first, aimed, met = {}, set(), {}
    for one in document["figures"]:
        first.setdefault(one["benchmark"], one)
        if one["aim"]:
            aimed.add(one["benchmark"])
            if harness.meets(one):
                met.setdefault(one["benchmark"], []).append(one)
    nearest = {name: max(ones, key=used_up) for name, ones in met.items() if len(ones) > MOST_MET}
    for one in document["figures"]:
        name = one["benchmark"]
        if one["aim"] and name in nearest and harness.meets(one):
            if one is nearest[name]:
                yield one, len(met[name])
        elif one["aim"] or (name not in aimed and one is first[name]):
            yield one, 1


def row(figure, of, is_first):
    low, high = figure["quartiles"]
    spread = f" [{low:.3g} … {high:.3g}]" if figure["repeats"] > 1 else ""
    met = "" if of == 1 else f"; the nearest to its aim of {of} that are met"
    aim = f"{compare.aim_text(figure['aim'])}{met if harness.meets(figure) else ', **missed**'}" if figure["aim"] else "less" if figure["better"] == "less" else "more"
    name = figure["name"].replace("|", "\\|")
    return f"| {name} | {figure['ratio']:.3g}{spread} | {aim} | {'`tools/bench ' + figure['benchmark'] + '`' if is_first else ''} |\n"


def name_of(benchmark):
    return f"`{benchmark['name']}`"


def sources(commit, dirty):
    return commit[:8] + (" and changes that were not committed" if dirty else "")


def made_from(document):
    """What stands between the marks."""
    where = document["machine"]
    text = (f"Measured on {document['date'][:10]} at commit {sources(document['commit'], document['dirty'])}: {where['cores']} × {where['processor']}, {where['memory']} of memory, "
            f"{where['file_system']}; {where['system']}, {where['kernel']}, {where['compiler']}, build type {where['build_type']}.\n")
    for warning in figures.warnings(document):
        text += f"**Not to be relied on: {warning}.**\n"
    text += "\n| figure | ratio [quartiles] | aim, or what is better | by |\n|---|---|---|---|\n"
    before = None
    for figure, of in shown(document):
        text += row(figure, of, figure["benchmark"] != before)
        before = figure["benchmark"]
    earlier = {}
    for one in document["benchmarks"]:
        if ("commit" in one or "dirty" in one) and one["state"] == "done":
            earlier.setdefault(sources(one.get("commit", document["commit"]), one.get("dirty", False)), []).append(name_of(one))
    if earlier:
        text += "\nMeasured at another commit: " + "; ".join(f"{commit}: {', '.join(names)}" for commit, names in earlier.items()) + ".\n"
    absent = [f"- `{one['name']}`: {one['state']}{': ' + one['reason'] if one['reason'] else ''}.\n" for one in document["benchmarks"] if one["state"] != "done"]
    begun = {one["name"] for one in document["benchmarks"]}
    unasked = [f"`{name}`" for name in (*figures.BENCHMARKS, *figures.LONG) if name not in begun]
    if unasked:
        absent.append(f"- not in the file: {', '.join(unasked)}.\n")
    if absent:
        text += "\nWithout figures, or not with all:\n\n" + "".join(absent)
    remarks = [one for one in document["benchmarks"] if one["remark"]]
    return text + ("\n" if remarks else "") + "".join(f"`{one['name']}`: {one['remark']}.\n" for one in remarks)


def filled(page, document):
    """The page's text with the table of this file between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or END not in rest:
        raise ValueError(f"{PAGE} needs the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return before + BEGIN + "\n" + made_from(document) + "\n" + END + after


def write():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(filled(page, figures.load(FILE)))
