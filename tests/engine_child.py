"""Serve a model with the embedded engine until stdin closes; prints the address when it is up."""

import json
import sys

import xllamacpp as xl


def main() -> None:
    wanted = json.loads(sys.argv[1])
    params = xl.CommonParams()
    params.model.path = wanted["model"]
    params.n_ctx = wanted["context"]
    params.n_parallel = 1
    params.n_batch = 256  # a prompt can be given up only between batches
    params.cpuparams.n_threads = 1  # spinning threads crawl on a busy machine
    params.endpoint_metrics = True
    params.port = 0
    params.api_keys = [wanted["key"]]
    if "type" in wanted:
        kind = getattr(xl.common_speculative_type, f"COMMON_SPECULATIVE_TYPE_{wanted['type']}")
        params.speculative.types = [kind]
    if "draft_tokens" in wanted:
        params.speculative.draft.n_max = wanted["draft_tokens"]
    if "drafter" in wanted:
        params.speculative.draft.mparams.path = wanted["drafter"]
    server = xl.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    sys.stdin.read()


main()
