"""What the Trainer's hooks record of a batch: probabilities of labels, the numbers of a regression, losses, the tokens of a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import transformers

from portolan._recording import _hooks, _tokens
from portolan.torch import logits_of

# (ids, logits, gold) of a batch: ids, inputs, outputs.
Observations = Callable[[Any, Mapping[str, Any], Any], tuple[Any, Any, Any]]
# The loss of each example: of what the model returned, and labels.
Loss = Callable[[Any, Any], Any]


@dataclass
class What:
    """What the caller has said of the observations."""

    how: _tokens.How
    observations: Observations | None
    task: str | None
    loss: Loss | None

    def __post_init__(self) -> None:
        if self.loss is not None and (self.observations is not None or self.task is not None):
            raise ValueError("loss= is for any other task than those of task= and observations=: leave one of them out")


class Seen:
    """Logs the observations that a function of the caller's makes from a batch."""

    def __init__(self, observations: Observations) -> None:
        self.observations = observations

    def taken(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The inputs that the model gets in a pass of its own."""
        return inputs

    def log(self, recorder: _hooks.Recorder, epoch: int, ids: Any, inputs: Mapping[str, Any], outputs: Any) -> None:
        recorder.log_logits(epoch, *self.observations(ids, inputs, outputs))


class Labelled(Seen):
    """Logs an observation for each label, for a model with one kind of labels."""

    def __init__(self, label: str) -> None:
        super().__init__(lambda ids, inputs, outputs: (ids, _logits_in(outputs), labels_of(inputs, label)))


class Numbers(Seen):
    """Logs what a regression predicts, and the targets."""

    def __init__(self, label: str) -> None:
        self.label = label

    def log(self, recorder: _hooks.Recorder, epoch: int, ids: Any, inputs: Mapping[str, Any], outputs: Any) -> None:
        recorder.log_regression(epoch, ids, _logits_in(outputs), labels_of(inputs, self.label))


class Losses(Seen):
    """Logs the losses that a function of the caller's computes from what the model returned."""

    def __init__(self, label: str, loss: Loss) -> None:
        self.label, self.loss = label, loss

    def log(self, recorder: _hooks.Recorder, epoch: int, ids: Any, inputs: Mapping[str, Any], outputs: Any) -> None:
        labels = labels_of(inputs, self.label)
        recorder.log_loss(epoch, ids, self.loss(outputs, labels), labels)


class Language(Seen):
    """Logs an observation for each example, for a model that generates text."""

    def __init__(self, label: str, how: _tokens.How) -> None:
        self.label, self.how = label, how

    def taken(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """A causal model needs labels only for its loss, which would copy all scores."""
        return {name: value for name, value in inputs.items() if name != self.label} if self.how.shift else inputs

    def log(self, recorder: _hooks.Recorder, epoch: int, ids: Any, inputs: Mapping[str, Any], outputs: Any) -> None:
        labels, derived = labels_of(inputs, self.label), [getattr(outputs, name, None) for name in ("log_probs", "is_top1", "entropy")]
        asked = any(values is None for values in derived)
        log, scores = (_tokens.log, _logits_in(outputs)) if asked else (_tokens.log_derived, derived)
        recorder.log_with(log, epoch, ids, scores, labels, inputs.get("position_ids"), inputs.get("seq_idx"), self.how)


def seen_of(args: Any, model: Any, what: What) -> Seen:
    if what.observations is not None:
        return Seen(what.observations)
    label, shift = label_name(args, model, what), shifts(model)
    if what.loss is not None:
        return Losses(label, what.loss)
    if (what.task or _problem(model)) == "regression":
        return Numbers(label)
    return Labelled(label) if shift is None else Language(label, replace(what.how, shift=shift))


def shifts(model: Any) -> bool | None:
    """Do the scores at a token predict the next one? None: the model does not generate text."""
    kind = type(base_model(model)).__name__
    modules = transformers.models.auto.modeling_auto

    def is_one_of(mapping: str) -> bool:
        return kind in getattr(modules, f"MODEL_FOR_{mapping}_MAPPING_NAMES", {}).values()

    if is_one_of("SEQ_TO_SEQ_CAUSAL_LM") and getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        return False
    if kind.endswith(("ForCausalLM", "LMHeadModel")) or is_one_of("CAUSAL_LM") or is_one_of("IMAGE_TEXT_TO_TEXT"):
        return True
    return None


def _logits_in(outputs: Any) -> Any:
    """In a tuple (return_dict=False), the first entry after the loss."""
    if isinstance(outputs, tuple):
        outputs = outputs[1:] if outputs[0].ndim == 0 else outputs
    logits = logits_of(outputs)
    if logits is None:
        raise ValueError("the model returns no logits, as with use_liger_kernel=True: PortolanCallback asks for them in a pass of its own")
    return logits


def labels_of(inputs: Mapping[str, Any], name: str) -> Any:
    gold = inputs.get(name)
    if gold is None:
        raise KeyError(
            f"the batch has no gold labels as {name!r}; it has {', '.join(inputs)}. Labels of another name: TrainingArguments(label_names=[...])"
        )
    return gold


def base_model(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "peft_config") and hasattr(model, "get_base_model") else model


def label_names(args: Any, model: Any) -> list[str]:
    found = getattr(args, "label_names", None) or transformers.utils.find_labels(type(base_model(model)))
    return list(found) or ["labels"]


def _problem(model: Any) -> str | None:
    """The model's problem_type. A sequence classifier sets it itself, at its first batch."""
    config = getattr(model, "config", None)
    problem, classifies = getattr(config, "problem_type", None), type(base_model(model)).__name__.endswith("ForSequenceClassification")
    return "regression" if problem is None and classifies and getattr(config, "num_labels", 0) == 1 else problem


def label_name(args: Any, model: Any, what: What) -> str:
    names, problem = label_names(args, model), _problem(model)
    several = getattr(getattr(model, "config", None), "num_labels", 1)
    if what.loss is None and what.task is None and problem == "regression" and several > 1:
        raise ValueError(
            f"the model predicts {several} numbers for an example: give loss=f(outputs, labels), the loss of each example, such as lambda outputs, labels: "
            "((outputs.logits - labels) ** 2).mean(1)"
        )
    if what.loss is None and what.task is None and problem == "multi_label_classification":
        raise ValueError(
            f"the model's problem_type is {problem}: an example has no one gold label, so no gold probability. Give "
            "observations=f(ids, inputs, outputs) -> portolan.per_label(ids, outputs.logits, inputs['labels']): each label of each example "
            "becomes a binary example of its own"
        )
    if len(names) > 1:
        raise ValueError(
            f"the model has the labels {', '.join(names)}: give observations=f(ids, inputs, outputs) -> (ids, logits, gold), for one of "
            "them"
        )
    return names[0]
