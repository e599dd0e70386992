"""The public names of the Python package, and what they are called with, are those of python_names.txt. Public is what a module's __all__ names, and the methods
and attributes without an underscore of the classes among it, and of those that its functions return. Attributes are those that a class annotates or sets, or that its
__init__ sets; of a named tuple they have their order. An underscore at the end is one, too: so scikit-learn and skorch mark what is set while it works.

    python_names.py PACKAGE [--write]

PACKAGE is the folder `portolan` of the build; its parent is imported, too, and what can be imported without a framework is compared by inspect.signature().
--write writes the list anew, for a new name or argument.
"""

import ast
import importlib
import inspect
import pathlib
import sys

LIST = pathlib.Path(__file__).resolve().parent / "python_names.txt"
PACKAGE = pathlib.Path(sys.argv[1])
RETURNED = {f"portolan._reading._{module}": [name] for module, name in (
    ("dynamics", "Dynamics"), ("epochs", "EpochTable"), ("map", "Map"), ("measures", "Measures"), ("report", "Report"), ("runs", "Runs"), ("select", "Selection"),
    ("serve", "Page"), ("suspects", "Suspects"), ("table", "Table"))}


def parse(module):
    path = PACKAGE.parent / module.replace(".", "/")
    return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())


def defined(module, name):
    """The function or class `name` of a module, with the module that defines it; None: a value."""
    for node in parse(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("portolan"):
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module != "portolan._portolan":
                    return defined(node.module, alias.name)
    return None


def arguments(node):
    """As it is called: names and defaults, without types."""
    for one in ast.walk(node.args):
        if isinstance(one, ast.arg):
            one.annotation = None
    return ast.unparse(node.args)


def targets(node):
    """The variables, as text, that a statement sets or annotates."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []:
        yield from map(ast.unparse, target.elts if isinstance(target, ast.Tuple) else [target])


def attributes(node):
    """The public attributes of a class, in the order in which they are set."""
    found = [target for one in node.body for target in targets(one)]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            found += [target.removeprefix("self.") for inner in ast.walk(one) for target in targets(inner) if target.startswith("self.")]
    return [name for name in dict.fromkeys(found) if name.isidentifier() and not name.startswith("_") and not name.endswith("_")]


def described(name, found):
    if found is None:
        yield name
        return
    module, node = found
    if isinstance(node, ast.FunctionDef):
        yield f"{name}({arguments(node)})"
        return
    if "NamedTuple" in map(ast.unparse, node.bases):
        yield f"class {name}({', '.join(attributes(node))})"
    else:
        yield f"class {name}"
        yield from (f"{name}.{attribute}" for attribute in attributes(node))
    for one in node.body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and (not one.name.startswith("_") or (one.name.startswith("__") and one.name.endswith("__"))):
            decorators = {ast.unparse(decorator) for decorator in one.decorator_list}
            if "overload" not in decorators and not any(d.endswith((".setter", ".overload")) for d in decorators):
                yield f"{name}.{one.name}" if "property" in decorators else f"{name}.{one.name}({arguments(one)})"
    for base in node.bases:
        inherited = defined(module, ast.unparse(base))
        if inherited and [ast.unparse(base)] not in RETURNED.values():
            yield from (line for line in described(name, inherited) if not line.startswith("class "))


def public():
    """{module: names}: the modules without an underscore."""
    modules = ["portolan", *sorted(f"portolan.{path.stem}" for path in PACKAGE.glob("*.py") if not path.stem.startswith("_"))]
    for module in modules:
        [names] = [ast.literal_eval(node.value) for node in parse(module).body
                   if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"]
        yield module, sorted([*names, "map"] if module == "portolan" else names)  # import * leaves map to Python
    yield from RETURNED.items()


def lines():
    for module, names in public():
        for name in names:
            made = "._" in module  # by the package, and never by its user
            yield from sorted(line for line in set(described(f"{module}.{name}", defined(module, name))) if not (made and ".__init__(" in line))


def differing():
    """Where Python itself sees other arguments than the sources say: functions of the modules that need no framework."""
    sys.path.insert(0, str(PACKAGE.parent))
    for module, names in public():
        try:
            imported = importlib.import_module(module)
        except ImportError:
            continue
        for name in names:
            found, there = defined(module, name), getattr(imported, name, None)
            if there is None:
                yield f"{module}.{name} is in __all__, and not there"
            elif found and isinstance(found[1], ast.FunctionDef):
                told = [one.arg for one in (*found[1].args.posonlyargs, *found[1].args.args, found[1].args.vararg, *found[1].args.kwonlyargs, found[1].args.kwarg) if one]
                if list(inspect.signature(there).parameters) != told:
                    yield f"{module}.{name}{inspect.signature(there)} is not what its source says"


def main():
    now = list(lines())
    if "--write" in sys.argv[2:]:
        LIST.write_text("".join(line + "\n" for line in now))
        return 0
    listed, problems = LIST.read_text().splitlines(), list(differing())
    problems += [f"gone, or called otherwise: {line}" for line in sorted(set(listed) - set(now))]
    problems += [f"new: {line}: python_names.py PACKAGE --write makes it a part of what is promised" for line in sorted(set(now) - set(listed))]
    print("\n".join(problems) or f"{len(now)} names")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
