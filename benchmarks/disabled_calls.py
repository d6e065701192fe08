"""Calls that log nothing: off, an artifact that nobody named, a lazy argument."""

from __future__ import annotations

import logging

from measuring import Row, compare, import_stock_torch, main, ratio_row, repeated, stderr_to
from systems import configure_stock, make_peers, make_stdlib, make_system

from complog_core import LazyString

CALL = 'log.debug("hello %s", 1)'
LAZY_CALL = 'log.debug("hello %s", LazyString(str, 1))'
REFERENCE = "stdlib: stdlib logger.debug, off"


def measure() -> list[Row]:
    """Measure all of them beside stock PyTorch."""
    internal = import_stock_torch()
    with stderr_to():
        return [*_measure_off(internal), _measure_unnamed(internal), _measure_lazy(internal)]


def _measure_off(internal: object) -> list[Row]:
    configure_stock(internal)
    system = make_system("bench_off", "bench:WARNING")
    stdlib = make_stdlib("bench_stdlib_off", level=logging.WARNING)
    plain = compare(
        {
            "stdlib": repeated(CALL, log=stdlib),
            "stock": repeated(CALL, log=logging.getLogger("torch._dynamo.bench")),
            "complog": repeated(CALL, log=logging.getLogger("bench_off.module")),
            **{name: repeated(call, log=log) for name, (call, log) in make_peers("WARNING").items()},
        },
        rounds=61,
    )
    artifact = compare(
        {
            "stdlib": repeated(CALL, log=stdlib),
            "stock": repeated(CALL, log=internal.getArtifactLogger("torch._dynamo.bench", "guards")),  # type: ignore[attr-defined]  # private
            "complog": repeated(CALL, log=system.getArtifactLogger("bench_off.module", "guards")),
        },
        rounds=61,
    )
    return [
        ratio_row("disabled call on a plain logger", REFERENCE, plain, stock="stock", complog="complog", reach=1.02),
        ratio_row(
            "disabled call on an artifact logger", REFERENCE, artifact, stock="stock", complog="complog", reach=1.02
        ),
    ]


def _measure_unnamed(internal: object) -> Row:
    configure_stock(internal, dynamo=logging.DEBUG)
    system = make_system("bench_unnamed", "+bench")
    times = compare(
        {
            "stdlib": repeated(CALL, log=logging.getLogger("bench_stdlib_off")),
            "stock": repeated(CALL, log=internal.getArtifactLogger("torch._dynamo.bench", "bytecode")),  # type: ignore[attr-defined]  # private
            "complog": repeated(CALL, log=system.getArtifactLogger("bench_unnamed.module", "code")),
        },
        rounds=41,
    )
    name = "off_by_default artifact nobody named, under its DEBUG component"
    return ratio_row(name, REFERENCE, times, stock="stock", complog="complog", reach=1.05)


def _measure_lazy(internal: object) -> Row:
    configure_stock(internal)
    stock_lazy = internal.LazyString  # type: ignore[attr-defined]  # private
    times = compare(
        {
            "stdlib": repeated(CALL, log=logging.getLogger("bench_stdlib_off")),
            "stock": repeated(LAZY_CALL, log=logging.getLogger("torch._dynamo.bench"), LazyString=stock_lazy),
            "complog": repeated(LAZY_CALL, log=logging.getLogger("bench_off.module"), LazyString=LazyString),
        },
        rounds=41,
    )
    return ratio_row("LazyString argument, disabled", REFERENCE, times, stock="stock", complog="complog", reach=2.1)


if __name__ == "__main__":
    main(measure)
