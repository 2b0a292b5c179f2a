import sys
from pathlib import Path

import pytest

from slipstream.machine.cpu import read_cpu
from slipstream.machine.features import linux_features, macos_features


@pytest.mark.parametrize(
    ("cpuinfo", "features"),
    [
        pytest.param(
            "processor\t: 0\nflags\t\t: fpu sse4_2 avx f16c fma avx2 bmi2 avx512f avx_vnni "
            "avx512_bf16 avx512_vnni amx_bf16 amx_int8\n",
            "avx avx2 f16c fma bmi2 avx_vnni avx512f avx512_vnni avx512_bf16 amx_int8",
            id="Xeon of the fourth generation",
        ),
        pytest.param(
            "processor: 0\nFeatures\t: fp asimd atomics asimdhp asimddp\nCPU part: 0xd0b\n",
            "neon dotprod",
            id="Raspberry Pi 5",
        ),
        pytest.param(
            "Features : fp asimd asimddp sve i8mm bf16 sve2 sme", "neon dotprod i8mm sve sme"
        ),
        pytest.param("Features : half thumb neon vfpv4\n", "neon", id="ARM of 32 bits"),
        pytest.param("model name : flags of avx\n", "", id="no flags"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_linux_lists_them_in_cpuinfo(cpuinfo: str, features: str) -> None:
    assert linux_features(cpuinfo) == tuple(features.split())


def test_macos_lists_them_in_sysctl() -> None:
    listing = (
        "hw.optional.neon: 1\nhw.optional.AdvSIMD: 1\nhw.optional.arm.FEAT_DotProd: 1\n"
        "hw.optional.arm.FEAT_I8MM: 1\nhw.optional.arm.FEAT_SME: 0\nhw.optional.arm64: 1\n"
    )
    assert macos_features(listing) == ("neon", "dotprod", "i8mm")
    assert macos_features("hw.optional.avx2_0: 1\nhw.optional.fma: 1") == ("avx2", "fma")
    assert macos_features("sysctl: unknown oid") == ()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems are not asked through files")
def test_they_belong_to_the_processor(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("model name : Old\nflags : avx fma\n")
    assert read_cpu(tmp_path).features == ("avx", "fma")
    assert read_cpu(tmp_path / "nowhere").features == ()
