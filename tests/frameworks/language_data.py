"""What the tests of language models share: p of a text by hand, in NumPy; a small model and a tokenizer, made on the spot."""

import numpy as np
import torch
import transformers
from support import softmax
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

import portolan

WORDS = ["<pad>", "<eos>", "<unk>", "user", "assistant", ":"] + [f"w{i}" for i in range(40)]
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }} : {% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }} <eos> {% endgeneration %}"
    "{% else %}{{ m['content'] }} {% endif %}{% endfor %}{% if add_generation_prompt %}assistant : {% endif %}"
)
MEASURES = ("confidence", "correctness", "tokens", "token_accuracy", "token_entropy")

transformers.utils.logging.set_verbosity_error()


def tokenizer():
    inside = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    inside.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=inside, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", chat_template=TEMPLATE)


def gpt():
    transformers.set_seed(3)
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_positions=64, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1, pad_token_id=0))


def prompts(n):
    """Rows with prompts and completions of several lengths."""
    generator = np.random.default_rng(5)
    out = []
    for i in range(n):
        words = [WORDS[k] for k in generator.integers(6, len(WORDS), 4 + i % 7)]
        cut = 1 + i % 3
        out.append({"id": f"ex-{i}", "prompt": " ".join(words[:cut]), "completion": " " + " ".join(words[cut:])})
    return out


def texts(n=20):
    """Rows of tokens, of several lengths."""
    generator = torch.Generator().manual_seed(2)
    return [{"id": f"t{i}", "input_ids": torch.randint(2, 40, (3 + i % 6,), generator=generator).tolist()} for i in range(n)]


def pad(examples):
    """A collator."""
    width = max(len(e["input_ids"]) for e in examples)
    return {name: torch.tensor([e["input_ids"] + [fill] * (width - len(e["input_ids"])) for e in examples])
            for name, fill in (("input_ids", 0), ("labels", -100))}


def by_hand(logits, gold, share=1.0):
    """The measures of one example from the scores (tokens, classes) of its targets."""
    p = softmax(logits)
    gold = np.asarray(gold)
    hits = np.argmax(logits, 1) == gold
    scores = np.asarray(logits, dtype=np.float64)
    top = scores.max(1)
    log_p = scores[np.arange(len(gold)), gold] - top - np.log(np.exp(scores - top[:, None]).sum(1))
    entropy = -(np.where(p > 0, p, 1) * np.log(np.where(p > 0, p, 1)) * (p > 0)).sum(1)
    return np.exp(log_p.mean()), float(hits.mean() >= share - 1e-9), len(gold), hits.mean(), entropy.mean()


def of_model(model, tokens, targets, share=1.0):
    """The same of a causal model: `targets` are the positions of its targets in `tokens`."""
    with torch.no_grad():
        logits = model(torch.tensor([tokens])).logits[0].float().numpy()
    return by_hand(logits[[at - 1 for at in targets]], [tokens[at] for at in targets], share)


def recorded(store, name="run", **options):
    m = portolan.measures(name, store=store, **options)
    return dict(zip(m["id"].tolist(), np.stack([m[name] for name in MEASURES], 1).tolist()))


def assert_recorded(store, expected, name="run", tolerance=1e-6, **options):
    """`expected`: {id: measures as by_hand() has them}."""
    got = recorded(store, name, **options)
    assert set(got) == set(expected)
    for one, values in expected.items():
        np.testing.assert_allclose(got[one], values, rtol=tolerance, atol=tolerance, err_msg=str(one))
