"""What a study has found is kept, and found again only where something that it depends on has changed."""

import json


def stored(path, made_with, find):
    """find(), which gives what JSON can hold; or what it found before, if that was made with the same: a dict of what it depends on."""
    made_with = json.loads(json.dumps(made_with))
    known = json.loads(path.read_text()) if path.exists() else None
    if isinstance(known, dict) and known.get("made_with") == made_with:
        return known["found"]
    found = find()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".part").write_text(json.dumps({"made_with": made_with, "found": found}))
    path.with_suffix(".part").rename(path)
    return found
