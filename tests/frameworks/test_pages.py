"""The pages of client/python/docs once more: the suite integration leaves out what needs packages that Debian has not. And those that are
about nothing else, block by block as they stand, commands among them."""

import pytest

from python_docs import *  # noqa: F403
from support import ROOT, blocks, counts, run_page

# Page: {run: (examples, epochs)}.
WHOLE_PAGES = {
    "torch.md": {"toy/seed0": (3000, 6), "toy/forward": (3000, 6), "toy/infobatch": (3000, 8), "toy/numbers": (2000, 5), "toy/code": (2000, 5), "pairs": (160, 1), "tokens": (3, 1)},
    "ddp.md": {"job": (1001, 4)},
    "language.md": {"toy/sft": (120, 3), "toy/loop": (120, 3), "toy/packing": (120, 3), "toy/packed": (120, 1)},
    "lightning.md": {"toy/lightning": (3000, 4), "toy/forward": (3000, 4)},
    "transformers.md": {"toy/bert": (240, 3), "toy/bert-forward": (240, 3), "toy/scored": (240, 3), "toy/spans": (48, 2)},
}


@pytest.mark.parametrize("page", WHOLE_PAGES)
def test_whole_page(tmp_path, stores, page):
    stores.append(tmp_path / "portolan-store")
    text = (ROOT / "client/python/docs" / page).read_text(encoding="utf-8")
    assert len(blocks(page)) == text.count("```") // 2 >= 3, "every block is one that runs"
    run_page(page, tmp_path)
    for name, (examples, epochs) in WHOLE_PAGES[page].items():
        seen = counts(tmp_path / "portolan-store", name)
        assert len(seen) == examples and set(seen.values()) == {epochs}, name
