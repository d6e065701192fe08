"""Names that meet at the bridge: those that PyTorch registers and those that packages bring, early or late."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugins.torch.tests.bridged import Runner, backend, run

__all__ = ["backend", "run"]

pytestmark = pytest.mark.torch


def test_names_of_torch_are_owned_by_the_family_that_describes_them(run: Runner, backend: Path) -> None:
    code = """
        import torch, complog
        registry = complog.default_system.registry
        registered = torch._logging._internal.log_registry
        for name in list(registered.log_alias_to_log_qnames) + list(registered.artifact_names):
            (entry,) = registry.lookup(name)
            print(name, entry.owners[0].distribution, entry.description != "")
    """
    result = run(code, paths=(backend,))
    assert result.returncode == 0, result.stderr
    owners = dict(line.split()[:2] for line in result.stdout.splitlines())
    assert owners["inductor"] == owners["output_code"] == "complog-inductor"
    assert owners["guards"] == "complog-dynamo"
    assert owners["tiles"] == "backend"
    assert owners["torch"] == "complog"


def test_names_that_only_torch_registers_are_known(run: Runner) -> None:
    code = """
        import torch, complog
        torch._logging._internal.register_log("extra", "extra.logger")
        torch._logging._internal.register_artifact("extra_art", "an extra", off_by_default=True)
        log = torch._logging.getArtifactLogger("extra.logger", "extra_art")
        assert not log.isEnabledFor(20)
        torch._logging.set_logs(modules={"extra_art": True, "extra": 10})
        log.debug("extra line")
        print(complog.default_system.registry.lookup("extra_art")[0].owners[0].distribution)
    """
    result = run(code)
    assert (result.returncode, result.stdout) == (0, "torch\n"), result.stderr
    assert result.stderr.partition("] ")[2] == "[__extra_art] extra line\n"


def test_registration_that_cannot_be_read_spoils_no_other(run: Runner) -> None:
    code = """
        import torch, complog
        internal = torch._logging._internal
        internal.register_log("odd", 5)
        internal.register_log("sound", "sound.logger")
        torch._logging.set_logs(modules={"sound": 10})
        assert complog.current_state().level("sound.logger") == 10
    """
    result = run(code)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("left out") == 1


def test_pytorchs_registration_wins_over_a_package_that_came_first(run: Runner, backend: Path) -> None:
    code = """
        import torch, complog
        def flags():
            entries = complog.default_system.registry.artifacts("tiles")
            return sorted((entry.owners[0].distribution, entry.item.off_by_default) for entry in entries)
        print(flags())
        torch._logging._internal.register_artifact("tiles", "tiles of PyTorch", visible=True)
        print(flags())
        torch._logging._internal.register_artifact("tiles", "tiles of PyTorch", visible=True)
        print(flags())
    """
    result = run(code, paths=(backend,))
    alone, *both = result.stdout.splitlines()
    assert alone == "[('backend', True)]", result.stderr
    assert both == ["[('backend', True), ('torch', True)]"] * 2


def test_identical_registration_at_pytorch_is_the_packages_own(run: Runner, backend: Path) -> None:
    code = """
        import torch, complog
        torch._logging._internal.register_artifact("tiles", "the tiles", False, True)
        print([entry.owners[0].distribution for entry in complog.default_system.registry.artifacts("tiles")])
    """
    assert run(code, paths=(backend,)).stdout == "['backend']\n"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            "register_artifact('a')",
            "register_artifact() missing 1 required positional argument: 'description'",
        ),
        ("register_log()", "register_log() missing 2 required positional arguments: 'setting_name' and 'log_name'"),
        ("get_loggers(what=1)", "get_loggers() got an unexpected keyword argument 'what'"),
    ],
)
def test_wrong_arguments_are_told_by_the_name_that_was_called(run: Runner, call: str, error: str) -> None:
    result = run(f"import torch; torch._logging._internal.{call}")
    assert result.stderr.splitlines()[-1] == f"TypeError: {error}"


def test_help_names_the_variable_that_is_read(run: Runner) -> None:
    code = """
        import torch
        torch._logging._internal.LOG_ENV_VAR = "BACKEND_LOGS"
        torch._logging._init_logs()
        print(torch._logging._internal.help_message())
    """
    page = run(code).stdout
    assert page.startswith("BACKEND_LOGS chooses what is logged")
    assert "TORCH_LOGS " not in page
