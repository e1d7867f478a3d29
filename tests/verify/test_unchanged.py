"""A peer that has not changed passes against what is known of it, whatever the seed asks."""

import sys

from symacct.verify import verify
from symacct.verify.asking.questions import Extent
from symacct.verify.reporting.judgement import Judgement, read
from tests.verify import planted
from tests.verify.defects import only

TINY = Extent(1, 2, 2, 2, 1, 0, 1, 900)


def test_an_unchanged_peer_passes_and_one_that_is_worse_does_not(tmp_path):
    # Ten times, of nine faults, in all that the accountant offers: the soak.
    assert_unchanged_passes("one mechanism of two", TINY, (1, 2, 3), tmp_path, (4, 5))


def assert_unchanged_passes(name, extent, seeds, folder, rows=range(7)):
    program, file = folder / "accountant.py", folder / "known.json"
    text = only(planted.text(name), *rows)
    program.write_text(text, encoding="utf-8")
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
        worse = text.replace("return softplus(whole", "return 0.01 * softplus(whole")
        assert worse != text
        program.write_text(worse, encoding="utf-8")
        assert judged(max(seeds) + 1).status == 1
