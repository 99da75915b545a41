"""The chip table: every figure has a source, and figures of different sources agree."""

import tomllib

import pytest

from tools.models.chips import TABLE, chip, chips, detect

FIGURES = {
    "capability",
    "multiprocessors",
    "boost_mhz",
    "bandwidth",
    "bus_bits",
    "memory_mhz",
    "l2",
    "host_link",
    "host_bandwidth",
}
EACH = pytest.mark.parametrize("known", chips().values(), ids=chips())


def test_the_course_knows_the_chips_it_speaks_of():
    capabilities = {name: known.capability for name, known in chips().items()}
    assert capabilities == {
        "t4": 75,
        "v100": 70,
        "a100": 80,
        "a100-40gb": 80,
        "rtx3090": 86,
        "l4": 89,
        "rtx4090": 89,
        "h100": 90,
        "h200": 90,
        "b200": 100,
        "gb10": 121,
        "rtx5090": 120,
    }


@EACH
def test_every_figure_names_its_source(known):
    assert set(known.sources) == FIGURES | {"peaks"} | set(known.peaks)
    assert all(known.sources.values()) and known.limits.source


def test_every_source_of_the_table_is_used_and_says_when():
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    used = {source for facts in table["chip"].values() for source in facts["sources"]}
    used |= {source for facts in table["capability"].values() for source in facts["sources"]}
    assert used == set(table["source"])
    undated = [
        title
        for title in table["source"].values()
        if "data sheet," in title or "white paper" in title
        if not title[-4:].isdigit()
    ]
    assert not undated


@EACH
def test_the_fp32_peak_is_what_lanes_and_clock_make(known):
    assert known.fp32_of_lanes == pytest.approx(known.peaks["fp32"], rel=0.03)


def test_the_fp32_of_lanes_counts_a_multiplication_and_an_addition():
    assert chip("h100").fp32_of_lanes == 132 * 128 * 2 * 1980 * 10**6


# Dense fp16 operations of a multiprocessor in one clock, with sums in fp32: the white papers' tensor cores.
DENSE = {
    "t4": 1024,
    "v100": 1024,
    "a100": 2048,
    "a100-40gb": 2048,
    "rtx3090": 512,
    "l4": 1024,
    "rtx4090": 512,
    "h100": 4096,
    "h200": 4096,
    "b200": 8192,
    "rtx5090": 512,
}


@EACH
def test_the_fp16_peak_is_that_of_dense_matrices(known):
    if "fp16" in known.peaks:
        in_one_clock = known.peaks["fp16"] / known.multiprocessors / (known.boost_mhz * 1e6)
        assert in_one_clock == pytest.approx(DENSE[known.key], rel=0.08)  # a sparse figure is twice as much


@EACH
def test_tensor_cores_are_twice_as_fast_on_half_the_bits(known):
    for wide, narrow in (("tf32", "bf16"), ("bf16", "fp8"), ("fp16", "fp8")):
        if {wide, narrow} <= set(known.peaks):
            assert known.peaks[narrow] == pytest.approx(2 * known.peaks[wide], rel=0.03)


@EACH
def test_half_precision_with_and_without_a_wide_exponent_is_equally_fast(known):
    assert known.peaks.get("bf16", known.peaks.get("fp16")) == known.peaks.get("fp16")


@EACH
def test_the_bandwidth_is_two_bits_on_each_wire_in_a_clock(known):
    assert known.bandwidth == pytest.approx(known.bus_bits / 8 * 2 * known.memory_mhz * 1e6, rel=0.03)


@EACH
def test_the_host_bandwidth_is_that_of_the_link(known):
    of_link = {"PCIe 3.0 x16": 16e9, "PCIe 4.0 x16": 32e9, "PCIe 5.0 x16": 64e9}
    assert known.host_bandwidth == of_link.get(known.host_link, known.bandwidth)


@pytest.mark.parametrize(
    "card, capability, key",
    [
        ("NVIDIA H200", 90, "h200"),
        ("NVIDIA GeForce RTX 4090", 89, "rtx4090"),
        ("NVIDIA A100-SXM4-80GB", 80, "a100"),
        ("NVIDIA A100-SXM4-40GB", 80, "a100-40gb"),
        ("Tesla T4", 75, "t4"),
        ("NVIDIA GB10", 121, "gb10"),
        ("Tesla V100-SXM2-32GB", 70, "v100"),
        ("NVIDIA H100 80GB HBM3", 90, "h100"),
        ("NVIDIA B200", 100, "b200"),
    ],
)
def test_a_card_is_known_by_the_name_that_the_driver_gives_it(card, capability, key):
    assert detect(card, capability) is chip(key)


@pytest.mark.parametrize(
    "card, capability",
    [
        ("NVIDIA H100 PCIe", 90),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 89),
        ("NVIDIA L40S", 89),
        ("NVIDIA GB200", 100),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 90),
        ("NVIDIA GeForce RTX 5090 D", 120),
        ("NVIDIA A100-PCIE-40GB", 80),
        ("NVIDIA H200", 80),
        ("", 90),
    ],
)
def test_another_card_is_no_chip_of_the_table(card, capability):
    assert detect(card, capability) is None


def test_no_two_chips_claim_one_card():
    cards = [card for known in chips().values() for card in known.cards]
    assert len(cards) == len(set(cards))


def test_an_unknown_chip_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no chip is called 'p100'; the table has t4, v100, a100"):
        chip("p100")


def test_a_chip_can_be_a_key():
    assert len(set(chips().values())) == len(chips())
