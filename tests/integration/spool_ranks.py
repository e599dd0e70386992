"""The ranks of one job record into one run, each its shard, padded as distributed samplers pad: examples at the end of an epoch
are seen by two ranks. One rank is killed and resumed. Every example is there once per epoch."""

import signal

import pytest

from spool_support import assert_holds, collect, content, import_all, nobody  # noqa: F401

EXAMPLES, RANKS, EPOCHS = 1001, 4, 6

RANK = """
    import sys
    import portolan
    from spool_support import log_epoch
    endpoint, rank, begin, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), eval(sys.argv[4])
    examples, ranks, epochs = 1001, 4, 6
    each = -(-examples // ranks)
    order = [i % examples for i in range(each * ranks)]  # padded with the first ones
    run = portolan.Run("job", endpoint=endpoint, group="job 1", rank=rank, examples=examples, **options)
    print("open", flush=True)
    for epoch in range(begin, epochs):
        sys.stdin.readline()
        log_epoch(run, epoch, order[rank::ranks], batch=37)
        if epoch == 0:
            assert run.flush() or options  # as one does before a checkpoint is written
        print(f"logged {epoch}", flush=True)
    run.close()
    print("closed", flush=True)
"""


def go(ranks, epoch, lines=1):
    for rank in ranks:
        rank.process.stdin.write("\n" * lines)
        rank.process.stdin.flush()
    for rank in ranks:
        rank.wait_for(f"logged {epoch + lines - 1}")


def test_ranks_with_padding_and_a_death(collect, store, script):  # noqa: F811
    collector = collect(store)
    ranks = [script(RANK, collector.endpoint, rank, 0, {}) for rank in range(RANKS)]
    for rank in ranks:
        rank.wait_for("open")
    for epoch in range(3):
        go(ranks, epoch)
    ranks[2].process.send_signal(signal.SIGKILL)
    ranks[2].end()
    others = ranks[:2] + ranks[3:]
    go(others, 3)
    # It goes on from its checkpoint, after epoch 0: what was seen since is seen again.
    ranks[2] = script(RANK, collector.endpoint, 2, 1, {"resume": True})
    ranks[2].wait_for("open")
    go([ranks[2]], 1, 3)
    for epoch in range(4, EPOCHS):
        go(ranks, epoch)
    for rank in ranks:
        rank.wait_for("closed")
        assert rank.end() == (0, "")
    assert_holds(store, range(EPOCHS), range(EXAMPLES), name="job")


def test_ranks_where_one_is_offline(collect, store, script, tmp_path, nobody):  # noqa: F811
    """Three reach the collector; the fourth records on its own disk; its spool is imported after the job has ended."""
    collector = collect(store)
    options = {"spool": str(tmp_path / "spool"), "open_timeout": 0.05}
    ranks = [script(RANK, nobody if rank == 1 else collector.endpoint, rank, 0, options if rank == 1 else {})
             for rank in range(RANKS)]
    for rank in ranks:
        rank.wait_for("open")
    for epoch in range(EPOCHS):
        go(ranks, epoch)
    for rank in ranks:
        rank.wait_for("closed")
        assert rank.end()[0] == 0
    assert len(content(store, "job")) < EXAMPLES
    import_all(tmp_path / "spool", store)
    assert_holds(store, range(EPOCHS), range(EXAMPLES), name="job")


@pytest.mark.parametrize("killed", range(2))
def test_the_collector_dies_under_the_ranks(collect, store, script, killed):  # noqa: F811
    collector = collect(store)
    ranks = [script(RANK, collector.endpoint, rank, 0, {}) for rank in range(RANKS)]
    for rank in ranks:
        rank.wait_for("open")
    for epoch in range(EPOCHS):
        if epoch % 2 == killed:
            collector.kill()
            collector = collect.again(collector)
        go(ranks, epoch)
    for rank in ranks:
        rank.wait_for("closed")
        assert rank.end() == (0, "")
    assert_holds(store, range(EPOCHS), range(EXAMPLES), name="job")
