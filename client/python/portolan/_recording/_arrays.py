"""Converts the arrays of a training loop into the two forms that the extension reads: a buffer, or a list of strings.

Called for objects that the extension does not read in place (readable.c): lists, arrays of Python objects, tensors of an older torch
or of a subclass. Buffers pass through untouched. Tensors and arrays of other libraries are recognised by their methods, so that none
of those libraries is imported. Lists are copied into arrays of the standard library.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from portolan._portolan import is_ready

# Buffers that hold Python objects or text: numpy's object, unicode and bytes arrays.
_TEXT_FORMATS = ("O", "w", "s")


def scores(values: Any, name: str) -> Any:
    """A buffer of float16, float32 or float64, of shape (n, classes) or (n,)."""
    return _buffer(values, name, _floats)


def named(columns: Any) -> Mapping[str, Any]:
    """The user's own columns in a log call, by name; None: there are none."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must be a dict of names and values, not {type(columns).__name__}")
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"columns: the name {name!r} must be a str, not {type(name).__name__}")
    return columns


def column(values: Any, name: str) -> Any:
    """A buffer of float32 or float64, of shape (n,). Arrays of other numbers, as lengths, become float32, as which columns are stored."""
    values = scores(values, name)
    if not str(getattr(values, "dtype", "")).removeprefix("torch.").startswith(("int", "uint", "bool", "float16")):
        return values
    return values.float() if callable(getattr(values, "float", None)) else values.astype("float32")


def squared_errors(predicted: Any, target: Any) -> tuple[Any, Any, Any]:
    """(predicted, target, the squares of their differences), each of shape (n,), in float64. Without NumPy it takes some time."""
    both = []
    for values, name in ((predicted, "predicted"), (target, "target")):
        numbers = memoryview(column(values, name))
        if numbers.ndim > 2 or (numbers.ndim == 2 and numbers.shape is not None and numbers.shape[1] != 1):
            raise ValueError(f"{name} has the shape {numbers.shape}; it must be (n,), or (n, 1): a regression of one number")
        both.append(numbers)
    if both[0].shape is not None and both[1].shape is not None and both[0].shape[0] != both[1].shape[0]:
        raise ValueError(f"predicted has {both[0].shape[0]} rows, and target {both[1].shape[0]}")
    try:
        import numpy as np
    except ModuleNotFoundError:
        first, second = (array("d", listed(numbers)) for numbers in both)
        return first, second, array("d", [(p - t) ** 2 for p, t in zip(first, second, strict=True)])
    left, right = (np.asarray(numbers, dtype=np.float64).reshape(-1) for numbers in both)
    return left, right, (left - right) ** 2


def integers(values: Any, name: str) -> Any:
    """A buffer of integers, of shape (n,)."""
    return _buffer(values, name, _integers)


def _buffer(values: Any, name: str, of_sequence: Callable[[Any, str], Any]) -> Any:
    if not is_ready(values):
        tensor = _near_tensor(values)
        if tensor is not None:
            return tensor
        _refuse_masked(values, name)
        values = _plain(values, name)
        if not is_ready(values) and _is_sequence(values):
            return of_sequence(values, name)
    else:
        _refuse_masked(values, name)
    return values


def identifiers(values: Any) -> Any:
    """A buffer of integers, or a list or tuple of strings."""
    if isinstance(values, (bytes, bytearray)):
        raise TypeError(f"ids must be an array, a tensor or a list, not {type(values).__name__}")
    if not is_ready(values):
        tensor = _near_tensor(values)
        if tensor is not None:
            return tensor
        _refuse_masked(values, "ids")
        values = _plain(values, "ids")
        if not is_ready(values) and _is_sequence(values):
            if len(values) and isinstance(values[0], (str, bytes)):
                return values if isinstance(values, (list, tuple)) else list(values)
            return _integers(values, "ids")
    else:
        _refuse_masked(values, "ids")
    return values


def texts(values: Any, name: str) -> list[Any]:
    """A list of strings; the strings themselves are checked where they are read."""
    if isinstance(values, (str, bytes, bytearray, Mapping, Set)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list of strings, one for each id, not {type(values).__name__}")
    return values if isinstance(values, list) else list(values)


def listed(values: Any) -> list[Any]:
    """The entries of an array that one of these functions returned."""
    if not isinstance(values, (list, tuple)):  # memoryview cannot list an array that is not aligned, as a column of a structured one
        values = values.tolist() if hasattr(values, "tolist") else memoryview(values).tolist()
    return [entry[0] if isinstance(entry, list) else entry for entry in values]


def _near_tensor(values: Any) -> Any:
    """The common case, in few steps: a torch tensor in this machine's memory, of a type that is read in place. Else None."""
    detach = getattr(values, "detach", None)
    if detach is None:
        return None
    try:
        buffer = detach().numpy()
    except (AttributeError, TypeError, RuntimeError, ImportError):  # on a device, bfloat16, without NumPy, ...
        return None
    return buffer if is_ready(buffer) else None


def _refuse_masked(values: Any, name: str) -> None:
    """Refuses masked arrays: their buffers still hold the masked values."""
    mask = getattr(values, "mask", None)
    if mask is not None and not callable(mask) and mask.any():
        raise TypeError(f"{name} is an array with masked entries: leave their rows out")


def _plain(values: Any, name: str) -> Any:
    """A buffer, or a sequence of Python objects."""
    if isinstance(values, (list, tuple, range)):
        return values
    if isinstance(values, (str, dict, set, frozenset)):
        raise TypeError(f"{name} must be an array, a tensor or a list, not {type(values).__name__}")
    if callable(getattr(values, "detach", None)):
        values = _from_tensor(values)
    elif not _exports_buffer(values) and callable(getattr(values, "__array__", None)):
        values = values.__array__()
    if is_ready(values):
        return values
    if _is_short_float(values):
        return values.astype("f4")
    try:
        buffer = memoryview(values)
    except (TypeError, ValueError, BufferError) as error:  # numpy: "cannot include dtype 'M' in a buffer"
        if callable(getattr(values, "tolist", None)):
            return values.tolist()
        if _is_sequence(values):
            return values
        reason = "" if isinstance(error, TypeError) else f": {error}"
        raise TypeError(f"{name} must be an array, a tensor or a list, not {type(values).__name__}{reason}") from None
    if buffer.format.endswith(_TEXT_FORMATS):
        return values.tolist()
    return values


def _exports_buffer(values: Any) -> bool:
    try:
        memoryview(values)
    except TypeError:
        return False
    except (ValueError, BufferError):
        pass
    return True


def _from_tensor(tensor: Any) -> Any:
    """A torch tensor, or a similar object: copied from its device, detached from its graph, in a type that NumPy knows."""
    tensor = tensor.detach()
    dtype = str(getattr(tensor, "dtype", "")).rpartition(".")[2]
    if "float" in dtype and dtype not in ("float32", "float64"):  # bfloat16 has no .numpy()
        tensor = tensor.float()
    tensor = tensor.cpu()
    try:
        return tensor.numpy()
    except (RuntimeError, ImportError):  # built, or running, without NumPy
        return tensor.tolist()


def _is_short_float(values: Any) -> bool:
    return getattr(getattr(values, "dtype", None), "name", None) in ("float16", "bfloat16")


def _is_sequence(values: Any) -> bool:
    if isinstance(values, (list, tuple, range)):
        return True
    return isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray, memoryview, array))


def _is_row(value: Any) -> bool:
    try:
        len(value)
    except TypeError:  # a number, or an array without dimensions
        return False
    return True


def _floats(values: Sequence[Any], name: str) -> Any:
    if not len(values) or not _is_row(values[0]):
        return _float_array(values, name)
    rows = [_float_row(row, f"{name}[{i}]") for i, row in enumerate(values)]
    width = len(rows[0])
    if width == 0:
        raise ValueError(f"{name}[0] is empty: a row needs at least one class")
    flat = array("d")
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"{name}[{i}] has {len(row)} entries, {name}[0] has {width}")
        flat.extend(row)
    return memoryview(flat).cast("B").cast("d", (len(rows), width))


def _float_row(row: Any, name: str) -> array[float]:
    if not _is_row(row):
        raise ValueError(f"{name} is a number where the rows before it are lists")
    return _float_array(row.tolist() if callable(getattr(row, "tolist", None)) else row, name)


def _float_array(values: Sequence[Any], name: str) -> array[float]:
    try:
        return array("d", values)
    except OverflowError:
        raise ValueError(f"{name} holds an integer that no float can hold") from None
    except (TypeError, ValueError):
        for i, value in enumerate(values):
            if isinstance(value, (str, bytes)) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
                raise TypeError(f"{name}[{i}] must be a number, not {type(value).__name__}") from None
        raise


def _integers(values: Sequence[Any], name: str) -> array[int]:
    for code in ("q", "Q"):
        try:
            return array(code, values)
        except OverflowError:
            continue
        except TypeError:
            break
    for i, value in enumerate(values):
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name}[{i}] must be an integer, not {value!r}{_hint(name, values)}")
        if not -(2**63) <= value.__index__() < 2**64:
            raise ValueError(f"{name}[{i}] = {value!r} does not fit 64 bits")
    raise ValueError(f"{name} mixes negative numbers with numbers above 2**63")


def _hint(name: str, values: Sequence[Any]) -> str:
    if name == "gold" and all(isinstance(value, float) and value.is_integer() for value in values):
        return ": if they are whole numbers, pass ints, of an array gold.astype(int), of a tensor gold.long()"
    if name == "gold" and any(isinstance(value, (float, list, tuple)) for value in values):
        return ": soft labels, and several labels per example, have no gold probability; pass the class numbers"
    text = any(isinstance(value, (str, bytes)) for value in values)
    if name == "gold":
        return ": pass the numbers of the classes, and their names in Run(labels=[...])" if text else ""
    return "" if name != "ids" else ": one kind of id per run" if text else ": an id is an integer from 0 on, or a string"
