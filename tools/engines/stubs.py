"""Lets single files of a package be imported without what the package itself imports."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


class Absent(type):
    """A class in place of anything that is imported and not used: any attribute, any base, any decorator."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __call__(cls, *given: Any, **named: Any) -> Any:
        if cls is not Nothing:
            return super().__call__(*given, **named)
        return given[0] if len(given) == 1 and callable(given[0]) and not named else cls

    def __getitem__(cls, key: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __bool__(cls) -> bool:
        return False

    def __or__(cls, other: Any) -> Any:
        return Any

    __ror__ = __or__

    def __add__(cls, other: Any) -> Any:
        return other

    __radd__ = __add__


class Nothing(metaclass=Absent):
    """The one class that every absent name resolves to; false, so that no feature is taken for present."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules ``keep`` of ``root`` from its folder, and an empty module for all others of it."""

    def __init__(self, root: str, keep: Sequence[str], folder: Path | None) -> None:
        self.root, self.keep, self.folder = root, tuple(keep), folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.root and not name.startswith(f"{self.root}."):
            return None
        if self.folder and any(name == each or name.startswith(f"{each}.") for each in self.keep):
            place = self.folder.joinpath(*name.split(".")[1:])
            inside = place / "__init__.py"
            file = inside if inside.exists() else place.with_suffix(".py")
            folders = [str(place)] if inside.exists() else None
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: getattr(Nothing, name)  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


def stub_package(root: str, keep: Sequence[str] = ()) -> None:
    """Import only the modules ``keep`` of the package ``root``, found on the path; the rest of it is empty."""
    folder = next((Path(p or ".") / root for p in sys.path if (Path(p or ".") / root).is_dir()), None) if keep else None
    sys.meta_path.insert(0, Finder(root, keep, folder))
