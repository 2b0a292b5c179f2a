"""What people call their cards."""

import pytest

from slipstream.machine.devices import Device


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA H200", "H200"),
        ("AMD Radeon RX 7900 XTX", "RX 7900 XTX"),
        ("AMD Radeon(TM) 780M", "780M"),
        ("Intel(R) Arc(TM) A770 Graphics", "Arc(TM) A770 Graphics"),
        ("AMD Radeon Graphics", "AMD Radeon Graphics"),
        ("Apple M2", "Apple M2"),
        ("", "CUDA0"),
    ],
)
def test_a_card_is_called_without_its_maker_where_a_number_tells_it(name: str, short: str) -> None:
    assert Device("CUDA0", name, "CUDA", 1, 1, unified=False).short_name == short
