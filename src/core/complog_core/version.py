"""The version of the distribution `complog`."""

from typing import Final

VERSION: Final = "0.1.0"
