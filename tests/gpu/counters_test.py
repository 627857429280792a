"""What counters.py believes about other tools' output and about grids, without a GPU: counters_test.py"""

import unittest

import counters
import grid_sums
import sass

# As cuobjdump -sass prints a phase loop unrolled by two, T = 4, with a remainder after it.
UNROLLED = """
	code for sm_90
		Function : tiled
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                /* 0x00000a00ff017b82 */
                                                                         /* 0x000fe20000000800 */
        /*0010*/              @!P0 BRA 0xf0 ;                            /* 0x0000000000007947 */
        /*0020*/               @P2 LDG.E R4, desc[UR6][R2.64] ;
        /*0030*/                   STS [R7], R4 ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   LDS.128 R8, [R5] ;
        /*0060*/                   LDS R12, [R6] ;
        /*0070*/                   LDS.64 R14, [R6+0x10] ;
        /*0080*/                   LDS R16, [R6+0x30] ;
        /*0090*/                   STS [R7], R4 ;
        /*00a0*/                   LDS.128 R8, [R5] ;
        /*00b0*/                   LDS R12, [R6] ;
        /*00c0*/                   LDS.64 R14, [R6+0x10] ;
        /*00d0*/                   LDS R16, [R6+0x30] ;
        /*00e0*/               @P0 BRA 0x20 ;
        /*00f0*/              @!P1 BRA 0x150 ;
        /*0100*/                   STS [R7], R4 ;
        /*0110*/                   LDS.128 R8, [R5] ;
        /*0120*/                   LDS.128 R12, [R6] ;
        /*0150*/                   EXIT ;
        /*0160*/                   BRA 0x160;
"""

# As nvdisasm prints a loop that keeps the PTX's: one LDS for one ld.shared.
ROLLED = """
.text.tiled:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_3:
        /*0010*/                   STS [R4], R2 ;
        /*0020*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_2:
        /*0030*/                   LDS R5, [R6] ;
        /*0040*/                   LDS R7, [R8] ;
        /*0050*/               @P1 BRA `(.L_x_2) ;
        /*0060*/               @P2 BRA `(.L_x_3) ;
        /*0070*/                   EXIT ;
.L_x_4:
        /*0080*/                   BRA `(.L_x_4);
"""

RAW = """==PROF== Connected to process 71
tiled T=16 1 of 1
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",{metrics}
"","","","","","","","","","",{units}
"0","71","tilescope","host","spoil","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0",{other}
"1","71","tilescope","host","tiled","1","7","(16, 16, 1)","(16, 16, 1)","0","9.0",{values}
"2","71","tilescope","host","tiled","1","7","(16, 16, 1)","(16, 16, 1)","0","9.0",{other}
"""


def raw(values):
    quoted = lambda words: ",".join(f'"{word}"' for word in words)
    return RAW.format(
        metrics=quoted(counters.METRICS),
        units=quoted("" for _ in counters.METRICS),
        other=quoted("7" for _ in counters.METRICS),
        values=quoted(values),
    )


class Ncu(unittest.TestCase):
    def test_a_launch_a_row(self):
        got = counters.parse_ncu(raw(f"{1000 + i:,}" for i in range(len(counters.METRICS))), "tiled")
        self.assertEqual([got[name] for name in counters.METRICS], [1000.0 + i for i in range(len(counters.METRICS))])
        self.assertEqual(got["Grid Size"], "(16, 16, 1)")

    def test_a_metric_a_row(self):
        head = '"ID","Process ID","Kernel Name","Block Size","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"\n'
        rows = "".join(
            f'"{launch}","71","tiled","(16, 16, 1)","(16, 16, 1)","Command line","{name}","","{1000 * launch + i}"\n'
            for launch in (0, 1)
            for i, name in enumerate(counters.METRICS)
        )
        got = counters.parse_ncu("==PROF== text\n" + head + rows, "tiled")
        self.assertEqual([got[name] for name in counters.METRICS], list(range(len(counters.METRICS))))

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(SystemExit, "no table"):
            counters.parse_ncu("==ERROR== permission\n", "tiled")
        with self.assertRaisesRegex(SystemExit, "no launch of untiled"):
            counters.parse_ncu(raw("1" for _ in counters.METRICS), "untiled")
        with self.assertRaisesRegex(SystemExit, counters.METRICS[0]):
            counters.parse_ncu(raw("n/a" for _ in counters.METRICS), "tiled")


class Sass(unittest.TestCase):
    def test_loops_and_widths(self):
        loop, rest = sass.groups(UNROLLED, "LDS")
        self.assertEqual((loop.words, loop.instructions, loop.in_loop), (16, 8, True))
        self.assertEqual((rest.words, rest.instructions, rest.in_loop), (8, 2, False))
        self.assertEqual(loop.opcodes, {"LDS": 4, "LDS.64": 2, "LDS.128": 2})
        self.assertEqual(sass.groups(UNROLLED, "STS")[0].opcodes, {"STS": 2})
        self.assertEqual(sass.groups(UNROLLED, "LDGSTS"), [])
        self.assertIn("2 LDS.128", sass.describe([rest]))

    def test_an_unrolled_loop_is_counted_trip_by_trip(self):
        found = sass.groups(UNROLLED, "LDS")
        self.assertEqual(sass.executed(found, 5 * 8, 5), 2 * 8 + 2)
        self.assertIsNone(sass.executed(found, 5 * 8 + 1, 5))
        self.assertEqual(sass.executed([], 0, 5), 0)
        self.assertIsNone(sass.executed([], 8, 1))

    def test_a_loop_like_the_ptx_has_factor_one(self):
        found = sass.groups(ROLLED, "LDS")
        self.assertEqual([(g.words, g.instructions, g.in_loop) for g in found], [(2, 2, True)])
        self.assertEqual(sass.executed(found, 512, 16), 512)

    def test_equal_shares_need_no_trips(self):
        group = sass.Group(sass.Counter({"LDS.128": 1, "LDS": 4}), 8, True)
        self.assertEqual(sass.executed([group, group], 32, 4), 20)
        self.assertIsNone(sass.executed([group], 33, 4))


class Grid(unittest.TestCase):
    def test_classes_cover_every_block_once(self):
        for x in range(1, 6):
            for y in range(1, 6):
                kinds = grid_sums.classes(x, y)
                self.assertEqual(sum(count for _, _, count in kinds), x * y)
                for first, far, _ in kinds:
                    for block in (first, far):
                        self.assertTrue(0 <= block[0] < x and 0 <= block[1] < y)
                    last = lambda block: (block[0] == x - 1, block[1] == y - 1)
                    self.assertEqual(last(first), last(far))

    def test_launches(self):
        self.assertEqual(counters.Launch("tiled", 250, 300, 270, 16).grid(), (17, 16))
        self.assertEqual(counters.Launch("untiled_swapped", 250, 300, 270, 8).grid(), (32, 34))
        self.assertEqual(counters.square("tiled", 256, 32).warps(), 64 * 32)
        wide = [l for l in counters.LAUNCHES if 250 <= min(l.m, l.k, l.n) and max(l.m, l.k, l.n) <= 2048]
        self.assertGreaterEqual(len(wide), 12)
        self.assertEqual(len({l.name for l in counters.LAUNCHES}), len(counters.LAUNCHES))

    def test_one_difference_is_enough(self):
        sums = {what: 7 for what in counters.GLOBAL}
        equal = {metric: 7.0 for metric in counters.GLOBAL.values()}
        self.assertTrue(counters.judge(sums, equal)[0])
        for metric in equal:
            self.assertFalse(counters.judge(sums, equal | {metric: 8.0})[0])


if __name__ == "__main__":
    unittest.main()
