"""Pictures and sounds of examples: in the table, on the cards; what cannot be shown says why, and nothing in a file is executed."""

import json
import subprocess
import urllib.parse

import pytest

import media_files
import stores
from served import LABELS, MAKE_STORE, PORTOLAN, batches, serving

ATTACK = b"<!DOCTYPE html><script>parent.attacked = window.attacked = 1</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>window.attacked = 2</script></svg>'
NOT_SHOWN = {6: "by its content", 7: "by its content", 8: "no file", 9: "cannot show the file", 10: "leads out of"}


@pytest.fixture(scope="module")
def media(folder):
    """A server of 40 examples; examples 0 to 12 name files of all sorts."""
    store, root, data = folder / "media-store", folder / "media-root", folder / "media.jsonl"
    root.mkdir()
    stores.make_store(MAKE_STORE, str(store), [stores.run("a/b", batches(40, 2), declared=40, labels=LABELS)])
    files = [("red.png", media_files.png()), ("one.gif", media_files.gif()), ("beep.wav", media_files.wav()), ("picture without an ending", media_files.png((0, 0, 200))),
             ("sound without an ending", media_files.wav()), ("called.wav", media_files.png((0, 200, 0))), ("page.png", ATTACK), ("drawing.png", SVG), ("nothing.png", None),
             ("half.png", media_files.png()[:40]), ("../media.jsonl", None), ("<img src=x onerror='window.attacked = 3'>.png", None), ("polyglot.gif", media_files.POLYGLOTS["image/gif"][1])]
    for name, content in files:
        if content is not None:
            (root / name).write_bytes(content)
    with open(data, "w") as file:
        for i in range(40):
            file.write(json.dumps({"id": i, "text": f"text {i}", "file": files[i][0] if i < len(files) else None}) + "\n")
    with serving(store, "--data", data, "--id-field", "id", "--text", "text", "--media", "file", "--media-root", root, "a/b") as server:
        yield server


def open_table(page, server, **state):
    one = page(server.view(run="a/b", panel="table", **state))
    one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length > 0"), "the rows")
    return one


def shown(page, i, within="#table tr[data-id='{}']"):
    """("IMG", its width as it is, "") or ("AUDIO", 0, "") of an example; or (None, 0, why it is not shown)."""
    return tuple(page.run("""
        const holder = document.querySelector(arguments[0] + ' .media');
        const made = holder?.querySelector('img, audio');
        made?.scrollIntoView({block: 'center'});
        return [made?.tagName ?? null, made?.naturalWidth ?? 0, made ? '' : holder?.textContent ?? 'nothing']""", within.format(i)))


def go_to(page, i):
    """By the keyboard."""
    page.run("document.querySelector(`#table tr[data-id='${arguments[0]}']`).focus()", i - 1)
    page.press("j")


def forget_refusals(page):
    """The browser tells of each file that the server refuses: these are meant."""
    assert all("/api/media?" in said for said in page.errors())


def test_table(page, media):
    one = open_table(page, media)
    heads = one.run("return [...document.querySelectorAll('#table thead th')].map((head) => head.textContent)")
    assert "file" in heads
    for i, expected in ((0, ("IMG", 24, "")), (1, ("IMG", 1, "")), (2, ("AUDIO", 0, "")), (3, ("IMG", 24, "")), (4, ("AUDIO", 0, "")), (12, ("IMG", 1, ""))):
        one.wait(lambda: shown(one, i) == expected or (i == 12 and shown(one, i)[0] != "IMG"), f"{expected} for {i}, which is {shown(one, i)}")
    for i, reason in NOT_SHOWN.items():
        one.wait(lambda: shown(one, i)[0] is None and reason in shown(one, i)[2], f"'{reason}' for {i}: {shown(one, i)}")
    assert shown(one, 20) == (None, 0, "nothing"), "an example without a file"
    assert one.run("return window.attacked ?? null") is None
    one.wait(lambda: "<img src=x" in shown(one, 11)[2], "a name as it is")
    assert one.run("return document.querySelector(\"#table tr[data-id='0'] img\").loading") == "lazy"
    assert one.run("return document.querySelector(\"#table tr[data-id='2'] audio\").preload") == "none"
    assert one.run("return document.querySelector(\"#table tr[data-id='0'] img\").alt") == "picture of 0"
    forget_refusals(one)


def test_sound_plays(page, media):
    """Also a picture that is called as a sound is: it turns into one when it is played."""
    one = open_table(page, media)
    one.find("#table tr[data-id='0'] th").click()  # browsers play nothing before the user does something
    played = one.here().execute_async_script("""
        const done = arguments[arguments.length - 1];
        const sound = document.querySelector("#table tr[data-id='2'] audio");
        sound.muted = true;
        sound.addEventListener('ended', () => done([sound.duration, sound.currentTime]));
        sound.play().catch((error) => done(String(error)));""")
    assert isinstance(played, list) and abs(played[0] - 0.5) < 0.05 and played[1] > 0.4, played
    one.run("document.querySelector(\"#table tr[data-id='5'] audio\").play().catch(() => {})")
    one.wait(lambda: shown(one, 5) == ("IMG", 24, ""), "the picture that it is")
    forget_refusals(one)


def test_cards(page, media):
    one = open_table(page, media, pinned=["0", "2"])
    one.wait(lambda: shown(one, 0, "#pinned article:nth-of-type(1)") == ("IMG", 24, "") and shown(one, 2, "#pinned article:nth-of-type(2)") == ("AUDIO", 0, ""), "both on the pinned cards")
    go_to(one, 3)
    one.wait(lambda: shown(one, 3, "#map .card") == ("IMG", 24, ""),  f"a picture on the card, not {shown(one, 3, '#map .card')} {one.find('#map .card').text}")
    go_to(one, 2)
    one.wait(lambda: "pin the example to play it" in one.find("#map .card").text, "no player where no pointer comes")
    go_to(one, 20)
    one.wait(lambda: one.find("#map .card strong").text == "20", "the next card")
    assert not one.run("return document.querySelector('#map .card .media')")
    forget_refusals(one)


def test_alone(page, media):
    """The picture in a tab of its own: nothing in it does anything, whatever else it is."""
    one = open_table(page, media)
    address = one.run("return document.querySelector(\"#table tr[data-id='0'] .media a\").href")
    assert urllib.parse.urlsplit(address).path == "/api/media" and one.find("#table tr[data-id='0'] .media a").get_attribute("rel") == "noopener"
    forget_refusals(one)
    two = page(address)
    two.wait(lambda: two.run("return document.images[0]?.naturalWidth") == 24, "the picture alone")
    three = page(address.replace("id=0", "id=12"))
    three.wait(lambda: three.run("return document.contentType") == "image/gif", "a picture that is a page, too")
    assert three.run("return window.attacked ?? null") is None and not three.run("return document.querySelector('script')")
    for tag in ("script", "iframe", "object", "embed"):
        one.here().execute_async_script("""
            const [tag, address, done] = arguments;
            const made = document.createElement(tag);
            made[tag === 'object' ? 'data' : 'src'] = address;
            made.onload = made.onerror = () => done();
            document.body.append(made);
            setTimeout(done, 1000);""", tag, address.replace("id=0", "id=12"))
        assert one.run("return window.attacked ?? null") is None, tag
    one.errors()  # the browser tells of what its policies forbid


def test_file_and_without(page, media, folder):
    """A page that is one file has no pictures, and a server without --media none either."""
    html = folder / "media.html"
    data = folder / "media.jsonl"
    subprocess.run([PORTOLAN, "map", "a/b", "--store", media.store, "--data", data, "--id-field", "id", "--text", "text", "-o", html], check=True, capture_output=True)
    with serving(media.store, "--data", data, "--id-field", "id", "--text", "text", "a/b") as server:
        for address in (f"file://{html}#panel=table", server.view(run="a/b", panel="table")):
            one = page(address)
            one.wait(lambda: one.run("return document.querySelectorAll('#table tbody tr').length > 0"), "the rows")
            assert not one.run("return document.querySelector('.media, .media-cell, img, audio')")
