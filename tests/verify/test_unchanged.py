"""A peer that has not changed passes against what is known of it, whatever the seed asks."""

import sys

from symacct.verify import verify
from symacct.verify.asking.questions import Extent
from symacct.verify.reporting.judgement import Judgement, read
from tests.verify import planted

TINY = Extent(1, 2, 2, 2, 1, 0, 1, 900)


def test_an_unchanged_peer_passes_and_one_that_is_worse_does_not(tmp_path):
    # Ten times, of nine faults: the soak.
    assert_unchanged_passes("one mechanism of two", TINY, (1, 2, 3), tmp_path)


def assert_unchanged_passes(name, extent, seeds, folder):
    program, file = folder / "accountant.py", folder / "known.json"
    program.write_text(planted.text(name), encoding="utf-8")
    command = [sys.executable, str(program)]
    with planted.shared():
        file.write_text(verify(command, extent).to_json(), encoding="utf-8")
        known = read(str(file))
        assert known["float64"].by_id

        def judged(seed):
            report = verify(command, extent, seed, known=lambda peer: known[peer].asks)
            assert report.defects
            return Judgement(report, "loose", known[report.peer])

        for seed in seeds:
            now = judged(seed)
            assert (now.status, now.failing) == (0, []), now.against_the_baseline
        # A hundredth of what Poisson samples lose: no known cause explains it.
        worse = planted.text(name).replace("return softplus(whole", "return 0.01 * softplus(whole")
        assert worse != planted.text(name)
        program.write_text(worse, encoding="utf-8")
        assert judged(max(seeds) + 1).status == 1
