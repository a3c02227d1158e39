"""What several tests need: the shared data, or a clear reason why it is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent

# No test may depend on how busy the machine is.
settings.register_profile("vecdcs", deadline=None)
settings.load_profile("vecdcs")


def skip_or_fail(reason: str) -> None:
    """Skip with the reason; where everything must run (VECDCS_TEST_ALL=1), a skip is a failure."""
    if os.environ.get("VECDCS_TEST_ALL") == "1":
        pytest.fail(f"VECDCS_TEST_ALL=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data."""
    folder = Path(os.environ.get("VECDCS_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        skip_or_fail(f"the shared data is not at {folder} (set VECDCS_SHARED)")
    return folder
