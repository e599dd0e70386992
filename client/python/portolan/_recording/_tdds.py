"""How far an example's distribution over the classes moves from one epoch to the next: what TDDS is made of, for any number of classes."""

from __future__ import annotations

from typing import Any

_LEAST = 1e-8


class TddsMoves:
    """Makes the column ``tdds_move``, from which ``portolan select --by tdds:desc`` computes TDDS (Zhang et al. 2024) for any number of classes.

    It keeps the last distribution of each example, in float32: 4 bytes an example and class. The move to the next one is
    the sum over the classes of ``abs(q * (ln(q + 1e-8) - ln(p + 1e-8)))``, p before and q after; that to the first is 0, and does not count.
    Log the epochs in their order, each example once an epoch. A checkpoint that is to be resumed has to hold it: pickle it. It needs NumPy.

    Example::

        moves = portolan.TddsMoves()
        for epoch in range(30):
            ...
            run.log_logits(epoch, ids, logits, gold, columns=moves.of_logits(ids, logits))
    """

    def __init__(self) -> None:
        self._rows: dict[Any, int] = {}
        self._last: Any = None

    def of_logits(self, ids: Any, logits: Any) -> dict[str, Any]:
        """The column for a batch, of logits of shape (n, classes)."""
        import numpy

        logits = _matrix(logits)
        powers = numpy.exp(logits - logits.max(1, keepdims=True))
        return self.of_probs(ids, powers / powers.sum(1, keepdims=True))

    def of_probs(self, ids: Any, probs: Any) -> dict[str, Any]:
        """The column for a batch, of probabilities of shape (n, classes)."""
        import numpy

        now = _matrix(probs).astype("f4")
        names = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        if len(names) != len(now):
            raise ValueError(f"there are {len(names)} ids for {len(now)} examples")
        if self._last is None:
            self._last = numpy.empty((0, now.shape[1]), "f4")
        if self._last.shape[1] != now.shape[1]:
            raise ValueError(f"{now.shape[1]} classes, and {self._last.shape[1]} before")
        finite = numpy.isfinite(now).all(1)  # another row is refused; the distribution before it stays the last one
        now = numpy.where(finite[:, None], now, numpy.nan)
        known = len(self._rows)
        rows = numpy.array([self._rows.setdefault(name, len(self._rows)) for name in names], int)
        if len(self._rows) > len(self._last):
            more = numpy.empty((max(len(self._rows), 2 * len(self._last)), now.shape[1]), "f4")
            more[:known] = self._last[:known]
            self._last = more
        new = rows >= known
        self._last[rows[new]] = now[new]
        q, p = now.astype("f8"), self._last[rows].astype("f8")
        move = numpy.abs(q * (numpy.log(q + _LEAST) - numpy.log(p + _LEAST))).sum(1)
        self._last[rows[finite]] = now[finite]
        return {"tdds_move": numpy.nan_to_num(move, nan=0.0).astype("f4")}


def _matrix(values: Any) -> Any:
    import numpy

    if hasattr(values, "detach"):  # a tensor, perhaps on a device, or of bfloat16
        values = values.detach().cpu().double().numpy()
    values = numpy.asarray(values, "f8")
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"an array of shape (n, classes) is needed, not {values.shape}")
    return values
