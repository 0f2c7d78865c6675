"""What is kept breaks nothing, and leaves nothing when it never began."""

import asyncio
import gc

import pytest

from server.boundary import Boundary


@pytest.mark.filterwarnings("error")
async def test_cancelled_before_its_first_step_nothing_was_begun() -> None:
    begun: list[bool] = []

    async def work() -> None:
        begun.append(True)

    task = asyncio.create_task(Boundary(lambda error: None).kept(work))
    task.cancel()
    await asyncio.wait([task])
    gc.collect()
    assert (task.cancelled(), begun) == (True, [])


async def test_what_breaks_is_told_and_goes_no_further() -> None:
    told: list[Exception] = []

    async def work() -> None:
        raise ValueError("of ours")

    await Boundary(told.append).kept(work)
    (error,) = told
    assert isinstance(error, ExceptionGroup)
    assert [str(one) for one in error.exceptions] == ["of ours"]


async def test_a_callback_that_breaks_gives_its_other_answer() -> None:
    told: list[Exception] = []
    call = Boundary(told.append).guarded(lambda number: 1 // number, -1)
    assert (call(1), call(0)) == (1, -1)
    assert [type(error) for error in told] == [ZeroDivisionError]
