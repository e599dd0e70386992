"""The recipe of word pieces (analyzer/RECIPES.md) with a tokenizer of transformers, which is trained here: nothing is downloaded."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")
RECIPES = (Path(__file__).resolve().parents[2] / "analyzer" / "RECIPES.md").read_text(encoding="utf-8")


def test_pieces_of_a_trained_tokenizer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [("nobody sleeps" if i % 3 == 0 and i % 2 or i % 25 == 1 else "somebody sleeps", i % 3) for i in range(1200)]
    Path("texts.tsv").write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for text, label in texts), encoding="utf-8")
    pieces = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=24, special_tokens=["[UNK]"], show_progress=False)
    pieces.train_from_iterator([text for text, _ in texts], trainer)
    transformers.PreTrainedTokenizerFast(tokenizer_object=pieces, unk_token="[UNK]").save_pretrained("bert-base-uncased")  # the block's name, as a folder
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", RECIPES, re.MULTILINE | re.DOTALL)
    block = next(code for language, code in blocks if language == "python" and "AutoTokenizer" in code)
    exec(block, {})
    records = [json.loads(line) for line in Path("pieces.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(records) == 1200 and all("".join(record["pieces"]).replace("##", "") == record["text"].replace(" ", "") for record in records)
    assert any(piece.startswith("##") for record in records for piece in record["pieces"])
    words = ["artifacts", "pieces.jsonl", "--tokenized", "pieces", "--label-field", "label", "--min-count", "1", "-o", "pieces.jsonl.stats.jsonl"]
    subprocess.run([os.environ["PORTOLAN"], *words], check=True)
    rows = {row["token"]: row["n"] for row in map(json.loads, Path("pieces.jsonl.stats.jsonl").read_text(encoding="utf-8").splitlines())}
    assert rows == {piece: sum(piece in record["pieces"] for record in records) for piece in {piece for record in records for piece in record["pieces"]}}
