"""Looking into a repository with 60 files: our own time, requests, and bytes per header.

PYTHONPATH=tests python benchmarks/look_into.py
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import httpx2

from gguf_files import write_mtp, write_target
from hub_server import HubFile, HubServer, Repo
from slipstream.cancel import CancelToken
from slipstream.engine.advice import Question, desk_for, look_up
from slipstream.weights.header import header_of
from slipstream.weights.source import RemoteFile

REPO = "somebody/Test-Model-27B-GGUF"
TOKENS = [f"token {number:>10}" for number in range(262_144)]
LABELS = [f"{prefix}{label}" for prefix in ("", "UD-") for label in (
    *("Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_0", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M"),
    *("Q6_K", "Q8_0", "IQ4_XS", "IQ3_M", "IQ2_M"),
)]  # fmt: skip


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    os.environ["HF_HOME"], os.environ["SLIPSTREAM_HOME"] = str(folder), str(folder / "home")
    target = write_target(folder / "t.gguf", "qwen35", tokens=TOKENS, padding=4000, layers=48)
    drafter = write_mtp(folder / "d.gguf", tokens=TOKENS, layers=48)
    files = [HubFile(f"Test-Model-27B-{label}.gguf", target) for label in LABELS]
    files.append(HubFile("mtp-Test-Model-27B-Q8_0.gguf", drafter))
    files += [HubFile(f"notes-{number}.txt", b"text") for number in range(60 - len(files))]
    with HubServer(Repo(REPO, files)) as hub:
        os.environ["HF_ENDPOINT"] = hub.endpoint
        question = Question()
        desk = desk_for(question)
        for turn in ("first", "again"):
            hub.forget()
            began = time.perf_counter()
            found = look_up(REPO, question, desk, CancelToken())
            spent = time.perf_counter() - began
            print(
                f"{turn}: {spent:.2f} s, {len(found.quantizations)} quantizations,"
                f" {len(hub.asked('tree'))} listing, {len(hub.asked('resolve'))} headers"
            )
        url = f"{hub.endpoint}/{REPO}/resolve/main/Test-Model-27B-Q8_0.gguf"
        with httpx2.Client() as client, RemoteFile(client, url, {}) as file:
            header = header_of(Path("t.gguf"), file, file.file_bytes)
            share = file.fetched / header.data_start
            print(f"a header of {header.data_start / 1e6:.1f} MB: {share:.3f} times its bytes read")


if __name__ == "__main__":
    main()
