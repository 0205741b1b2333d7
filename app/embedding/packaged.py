"""The border and the means that ship with a bundled model, in a JSON file beside this module.

Owns the form of the file. ``benchmarks.derive_space`` writes it.
"""

from __future__ import annotations

import json
from importlib import resources

import numpy as np

from app.domain.spaces import SpaceMeans
from app.errors import ConfigurationError


def read_scale(file: str, dimension: int) -> tuple[float, SpaceMeans | None]:
    """Read the border and the means of a space of a dimension.

    Raises:
        ConfigurationError: The packaged file is damaged.
    """
    content = resources.files("app.embedding").joinpath(file).read_text(encoding="utf-8")
    try:
        data = json.loads(content)
        border, means = float(data["border"]), data["means"]
        if not 0 < border < 1:
            raise ValueError(border)
        return border, None if means is None else _means(means, dimension)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{file} is damaged: install the package anew") from error


def _means(data: dict[str, list[float]], dimension: int) -> SpaceMeans:
    arrays = {name: np.array(values, dtype=np.float32) for name, values in data.items()}
    if any(array.shape != (dimension,) for array in arrays.values()):
        raise ValueError(f"A mean has not {dimension} numbers")
    return SpaceMeans(**{name: array.tobytes() for name, array in arrays.items()})
