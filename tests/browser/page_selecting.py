"""What is drawn, and what is selected, beside what the commands say of the same run."""

import json

from selenium.webdriver.common.keys import Keys

from served import N, metrics, select_within, selected_by

STAR = [(0.5, 0.1), (0.7, 0.85), (0.2, 0.4), (0.8, 0.4), (0.3, 0.85)]


def check_selected(page, served, folder, parts=1, run="a/b"):
    """The page's selection, by the page's count, the server, the command and exact arithmetic: the same."""
    selection = dict(page.selection(parts), run=run)
    rows = metrics(served.store, run)
    expected = selected_by(selection, rows)
    page.wait_for(selected=len(expected))
    assert served.ids(run, selection) == expected
    exported = folder / "selection.json"
    exported.write_bytes(served.ask(f"/api/runs/{run}/select?as=selection", json.dumps(selection)))
    assert json.loads(exported.read_bytes())["epochs"] == page.data()["epochs"]
    assert select_within(served.store, run, exported) == expected
    return selection, expected


def test_points(page, served):
    one = page(served.view(run="a/b"))
    one.wait_for(run="a/b", epochs="0:4", points=N, examples=N, selected=0)
    drawn, coloured, of = one.pixels("#map .points")
    assert coloured > of / 100, f"{drawn} of {of} pixels are drawn, {coloured} with a hue"
    assert one.run("return document.documentElement.lang") == "en"


def test_no_value_on_an_axis(page, served):
    rows = metrics(served.store, "a/b")
    one = page(served.view(run="a/b", x="first_learned"))
    one.wait_for(points=sum(row["first_learned"] is not None for row in rows), examples=N)


def test_run_that_was_named_is_shown(page, served):
    page(served.address).wait_for(run="a/b", points=N)


def test_another_run(page, served):
    page(served.view(run="small")).wait_for(run="small", epochs="0:1", points=40, examples=40)


def test_lasso(page, served, folder):
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    one.drag(STAR + STAR[:1])
    selection, expected = check_selected(one, served, folder)
    assert 50 < len(expected) < N / 2
    (left, width), (low, height) = one.axis("x"), one.axis("y")
    polygon = selection["parts"][0]["polygon"]
    for x, y in STAR:  # each corner is where the mouse was, by the axes as they are read
        at = left + x * width, low + (1 - y) * height
        assert min(max(abs(a - at[0]) / width, abs(b - at[1]) / height) for a, b in polygon) < 0.012


def test_lasso_from_a_line_between_regions(page, served, folder):
    """A drag that begins on a line draws; the handle at the line's end moves the line."""
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)

    def line(axis):
        return one.run("""const {x, y, width, height} = document.querySelector(`#map .cut.${arguments[0]} .line`).getBoundingClientRect();
            const plot = document.querySelector('#map rect.capture').getBoundingClientRect();
            return arguments[0] === 'x' ? (x + width / 2 - plot.x) / plot.width : (y + height / 2 - plot.y) / plot.height""", axis)

    for x, y in ((line("x"), 0.4), (0.1, line("y"))):
        one.drag([(x, y), (x + 0.2, y), (x + 0.2, y + 0.2), (x, y + 0.2), (x, y)])
        check_selected(one, served, folder)
        assert "cuts" not in one.fragment()
        one.run("document.querySelector('#select button').click()")
        one.wait_for(selected=0)
    before = line("x"), line("y")
    one.drag([(before[0], 1), (before[0] + 0.1, 0.8)])
    one.drag([(0, before[1]), (0.2, before[1] - 0.1)])
    one.next_picture()
    assert abs(line("x") - before[0] - 0.1) < 0.01 and abs(line("y") - before[1] + 0.1) < 0.01
    assert set(one.settled_fragment()["cuts"]) == {"variability", "confidence"} and one.data()["selected"] == "0"
    assert "handle" in one.find("#regions").text


def test_discrete_axes(page, served, folder):
    """Examples on whole numbers, and on steps of correctness, are spread around them, each always in the same way; a selection is of their values."""
    rows = metrics(served.store, "a/b")
    one = page(served.view(run="a/b", x="forgetting_events", y="correctness", tool="box"))
    one.wait_for(points=N)
    places = {(row["forgetting_events"], row["correctness"]) for row in rows}
    assert len(places) < 12
    _, coloured, of = one.pixels("#map .points")
    assert coloured > of / 50, f"{coloured} of {of} pixels are coloured, of {len(places)} places"
    assert "spread" in one.find("#map-drawn").text
    (left, width), (low, height) = one.axis("x"), one.axis("y")
    assert left < -0.3 and low < -0.075 and low + height > 1.075, "room for all of a cloud"
    one.drag([((0.6 - left) / width, 0.02), ((1.4 - left) / width, 0.98)])
    expected = check_selected(one, served, folder)[1]
    assert expected == [row["id"] for row in rows if row["forgetting_events"] == 1]
    one.drag([((-0.05 - left) / width, 0.02), ((0.05 - left) / width, 0.98)])  # a cloud's middle: all of it
    assert check_selected(one, served, folder)[1] == [row["id"] for row in rows if row["forgetting_events"] == 0]
    both = page(served.view(run="a/b"))
    both.wait_for(points=N)
    assert "spread" not in both.find("#map-drawn").text


def test_lasso_adds_and_removes(page, served, folder):
    one = page(served.view(run="a/b", tool="box"))
    one.wait_for(points=N)
    one.drag([(0.1, 0.1), (0.6, 0.6)])
    first = check_selected(one, served, folder)[1]
    one.drag([(0.5, 0.5), (0.9, 0.95)], keys=[Keys.SHIFT])
    added = check_selected(one, served, folder, 2)[1]
    one.drag([(0.2, 0.2), (0.5, 0.5)], keys=[Keys.ALT])
    removed = check_selected(one, served, folder, 3)[1]
    assert set(first) < set(added) > set(removed) and set(removed) != set(first)
    one.drag([(0.3, 0.3), (0.4, 0.4)])
    check_selected(one, served, folder)


def test_filters_bound_a_lasso(page, served):
    filters = {"gold": {"in": [1]}, "correctness": {"min": 0.5}}
    passing = [row for row in metrics(served.store, "a/b") if row["gold"] == 1 and row["correctness"] >= 0.5]
    one = page(served.view(run="a/b", filters=filters))
    one.wait_for(points=len(passing), examples=N)
    one.drag([(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98)])
    one.wait_for(selected=len(selected_by(one.selection(), passing)))


def test_link_shows_the_same(page, served):
    """The state is in the address: another page, at that address, shows the same; so does the page when it is loaded again."""
    one = page(served.view(run="a/b", x="forgetting_events", y="correctness", tool="box"))
    one.wait_for(run="a/b", examples=N)
    one.drag([(0.1, 0.1), (0.7, 0.7)])
    one.selection()
    one.wait(lambda: one.data()["selected"] != "0", "the selected examples")
    before = one.data()
    fragment = one.settled_fragment()  # which data the selection is of comes into the address after the selection
    other = page(one.run("return location.href"))
    other.wait_for(**{name: before[name] for name in ("run", "epochs", "points", "examples", "selected")})
    assert other.settled_fragment() == fragment
    one.here().refresh()
    one.wait_for(selected=before["selected"], points=before["points"])


def test_two_pages_at_once(page, served, folder):
    one, two = page(served.view(run="a/b")), page(served.view(run="a/b", x="forgetting_events", tool="box"))
    one.wait_for(points=N)
    two.wait_for(points=N)
    one.drag(STAR + STAR[:1])
    two.drag([(0.1, 0.1), (0.8, 0.5)])
    check_selected(one, served, folder)
    check_selected(two, served, folder)
    assert one.fragment()["selection"]["x"] == "variability" and two.fragment()["selection"]["x"] == "forgetting_events"


def test_hover_shows_the_example(page, served):
    """The mouse on an example's place, as the axes have it, shows its id and text."""
    rows = metrics(served.store, "a/b")
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    one.run("document.querySelector('#map').scrollIntoView({block: 'center'})")
    (left, width), (low, height) = one.axis("x"), one.axis("y")
    alone = max(rows, key=lambda row: row["variability"])  # nothing is on its right
    one.point_at((alone["variability"] - left) / width, 1 - (alone["confidence"] - low) / height)
    card = one.wait(lambda: one.run("const card = document.querySelector('#map .card'); return card && !card.hidden && card.textContent"), "a card")
    assert card.startswith(str(alone["id"])) and f"text number {alone['id']}" in card


def test_zoom(page, served):
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    whole = one.axis("x")[1]
    one.zoom_in(0.5, 0.5)
    one.wait(lambda: "box" in one.fragment(), "a box in the address")
    assert one.axis("x")[1] < 0.8 * whole
    one.find("#map .unzoom").click()
    one.wait(lambda: "box" not in one.fragment(), "everything in view")
    assert abs(one.axis("x")[1] / whole - 1) < 0.01


def test_zoom_faster_than_pictures(page, served):
    """Each key counts from where the one before it went, also when no picture was drawn between them."""
    one = page(served.view(run="a/b"))
    one.wait_for(points=N)
    whole = one.axis("x")[1]
    keys = "for (const key of arguments[0]) document.querySelector('#map svg.over').dispatchEvent(new KeyboardEvent('keydown', {key}))"
    one.run(keys, "++")
    assert abs(1.5**2 * one.axis("x")[1] / whole - 1) < 0.01
    one.run(keys, "0+")
    assert abs(1.5 * one.axis("x")[1] / whole - 1) < 0.01
